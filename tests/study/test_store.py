"""Tests of the store: whole results, and files that are new, damaged, foreign, full or in use."""

import sqlite3

import pytest
import small_studies

import hardwire as hw
from hardwire import study
from hardwire.study import Outcome
from hardwire.study.export import export_tables
from hardwire.study.store import TABLES, VERSION
from hardwire.study.version import code_version


@pytest.fixture
def store(tmp_path):
    with study.Store(tmp_path / "study.sqlite", create=True) as opened:
        yield opened


def test_a_finished_run_comes_back_as_it_was(store):
    runs = [small_studies.made_result(seed=seed, selection=(0.1, 0.05), deploy=(0.4, 0.8)) for seed in (0, 1)]
    for run in runs:
        small_studies.put(store, run)
    assert store.finished() == runs


def test_a_run_is_done_once_whatever_happens(store):
    run = small_studies.made_result()
    for _ in range(2):
        small_studies.put(store, run)
    assert len(store.finished()) == 1 and store.states()[run.key].attempts == 1


def test_of_two_code_versions_the_later_result_counts(store):
    run = small_studies.made_result(deploy=(0.1, 0.2))
    newer = small_studies.made_result(deploy=(0.1, 0.3))
    small_studies.put(store, run)
    store.begin("other", newer.config, "later")
    store.finish("other", Outcome(newer.records, {}, 1.0))
    (result,) = store.finished()
    assert result.code == "later" and result.records == newer.records


def test_any_sqlite_client_can_read_it(store):
    small_studies.put(store, small_studies.made_result(selection=(0.0, 0.0)))
    with sqlite3.connect(store.path) as client:
        query = (
            "SELECT config ->> 'method', max(measured ->> 'deploy') FROM runs JOIN records ON run = key GROUP BY key"
        )
        assert client.execute(query).fetchall() == [("hard-st", 0.9)]
        assert client.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_store_of_another_version_is_left_alone(store):
    small_studies.put(store, small_studies.made_result())
    with sqlite3.connect(store.path) as client:
        client.execute("PRAGMA user_version = 99")
    with pytest.raises(hw.HardwireError, match=f"version 99 of the store, and this hardwire reads version {VERSION}"):
        study.Store(store.path)


def test_a_damaged_store_is_reported_and_left_as_it_is(store, tmp_path):
    for seed in range(40):
        small_studies.put(store, small_studies.made_result(seed=seed, selection=(0.0,) * 20, deploy=(0.5,) * 20))
    store.__exit__()
    damaged = bytearray(store.path.read_bytes())
    for page in range(4096 * 3, len(damaged), 4096):
        damaged[page : page + 200] = b"\xa5" * 200
    store.path.write_bytes(damaged)
    with pytest.raises(hw.HardwireError, match="is damaged"):
        study.Store(store.path)
    assert store.path.read_bytes() == damaged
    (tmp_path / "text.sqlite").write_text("not a database, but long enough to look like a file " * 5)
    with pytest.raises(hw.HardwireError, match="is damaged"):
        study.Store(tmp_path / "text.sqlite", create=True)


def test_another_programs_database_is_refused(tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as client:
        client.execute("CREATE TABLE theirs (x)")
    with pytest.raises(hw.HardwireError, match="is not a store of hardwire studies"):
        study.Store(path, create=True)


def test_a_missing_store_or_folder_is_named(tmp_path):
    with pytest.raises(hw.HardwireError, match="there is no store"):
        study.Store(tmp_path / "none.sqlite")
    with pytest.raises(hw.HardwireError, match="there is no folder"):
        study.Store(tmp_path / "none" / "study.sqlite", create=True)


def test_a_full_disk_stops_the_study_and_loses_nothing(store):
    small_studies.put(store, small_studies.made_result(seed=0))
    (pages,) = store._db.execute("PRAGMA page_count").fetchone()
    store._db.execute(f"PRAGMA max_page_count = {pages}")  # SQLite then behaves as on a full disk
    big = small_studies.made_result(seed=1, selection=(0.0,) * 500, deploy=(0.5,) * 500)
    store.begin(big.key, big.config, big.code)
    with pytest.raises(hw.HardwireError, match="full; its content is safe"):
        store.finish(big.key, Outcome(big.records, {}, 1.0))
    assert store.states()[big.key].status == "running" and len(store.finished()) == 1
    store._db.execute("PRAGMA max_page_count = 1000000")
    store.finish(big.key, Outcome(big.records, {}, 1.0))
    assert len(store.finished()) == 2


def test_tables_are_exported_as_csv_and_parquet(store, tmp_path):
    small_studies.put(store, small_studies.made_result(selection=(0.0, 0.25)))
    paths = export_tables(store, tmp_path / "csv")
    assert [path.name for path in paths] == [f"{name}.csv" for name in TABLES]
    assert ",0.25," in (tmp_path / "csv" / "records.csv").read_text()
    assert ",mnist-binary," in (tmp_path / "csv" / "runs.csv").read_text()
    with pytest.raises(hw.HardwireError, match="unknown format 'xml'; choose one of: csv, parquet"):
        export_tables(store, tmp_path, "xml")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: pip install 'hardwire[parquet]'")
    export_tables(store, tmp_path / "parquet", "parquet")
    table = parquet.read_table(tmp_path / "parquet" / "records.parquet")
    assert table["selection"].to_pylist() == [0.0, 0.25]


def test_two_studies_on_one_store_at_once_are_refused(store):
    with store.exclusive(), pytest.raises(hw.HardwireError, match="another study is running on"):
        study.run(small_studies.small(), store.path)
    with store.exclusive():
        pass  # free again


def test_the_key_of_a_run_is_in_the_store(tmp_path):
    description = small_studies.small(methods=["hard-st"], taus=[1.0], iterations=[2])
    small_studies.run_here(description, tmp_path / "one.sqlite")
    with study.Store(tmp_path / "one.sqlite") as store:
        assert list(store.states()) == [description.configs[0].key(code_version(description.kind))]
