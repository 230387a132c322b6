"""Stores that were damaged, and stores that somebody wrote on purpose: one line that names the run, and never another
number, a traceback or somebody else's code."""

import json
import random
import sqlite3

import pytest
import small_studies
from mutations import MUTATIONS, mutations

import hardwire as hw
from hardwire import study
from hardwire.study.integrity import digest, stored_run_digest
from hardwire.study.published import publish
from hardwire.study.reporting import build, write_report

FLIPS = MUTATIONS if MUTATIONS > 1000 else MUTATIONS // 2


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A small store with two runs, a description and a fact, as one file."""
    path = tmp_path_factory.mktemp("original") / "study.sqlite"
    with study.Store(path, create=True) as store:
        store.add_description(small_studies.small(), "test")
        store.add_facts({"pixels mnist-binary": [[0.0, 8], [1.0, 2]]})
        for method in ("hard-st", "soft-mix"):
            small_studies.put(
                store, small_studies.made_result(method, selection=(0.1, 0.05), deploy=(0.4, 0.8), depth=2)
            )
        store._db.execute("PRAGMA journal_mode = DELETE")
    return path


@pytest.fixture
def copy(original, tmp_path):
    path = tmp_path / "study.sqlite"
    path.write_bytes(original.read_bytes())
    return path


def contents(path):
    """All that a report is made of."""
    with study.Store(path) as store:
        return store.finished(), store.facts(), store.descriptions(), store.failures()


def refused(path) -> str:
    with pytest.raises(hw.HardwireError) as error, study.Store(path) as store:
        build(store)
    message = str(error.value)
    assert "\n" not in message and len(message) < 1000 and str(path) in message
    return message


def rewritten(path, change, sealed=True) -> None:
    """Changes the database as its author could: with digests that fit."""
    with sqlite3.connect(path) as db:
        change(db)
        if sealed:
            for (key,) in db.execute("SELECT key FROM runs").fetchall():
                db.execute("UPDATE runs SET digest = ? WHERE key = ?", (stored_run_digest(db, key), key))
            for name, value in db.execute("SELECT name, value FROM facts").fetchall():
                db.execute("UPDATE facts SET digest = ? WHERE name = ?", (digest(name, value), name))
    db.close()


def test_a_flipped_bit_is_an_error_or_changes_nothing(original, tmp_path):
    expected, content, path = contents(original), original.read_bytes(), tmp_path / "flipped.sqlite"
    chance, errors = random.Random(0), 0
    for _ in range(FLIPS):
        flipped = bytearray(content)
        flipped[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        try:
            assert contents(path) == expected
        except hw.HardwireError as error:
            errors += 1
            assert "\n" not in str(error)
    assert errors > FLIPS / 10  # most of the file is empty, or layout of the tables


def test_damaged_stores_are_refused_or_say_what_they_said(original, tmp_path):
    expected, path = contents(original), tmp_path / "damaged.sqlite"
    for content in mutations(original.read_bytes(), FLIPS, seed=1):
        path.write_bytes(content)
        try:
            assert contents(path) == expected
        except hw.HardwireError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET measured = replace(measured, '0.8', '0.9')",
        "UPDATE measurements SET value = 11",
        "UPDATE runs SET seconds = 2.0",
        "UPDATE runs SET config = replace(config, '64000', '64001')",
        "DELETE FROM records WHERE iteration = 25000",
        "DELETE FROM measurements",
    ],
)
def test_another_number_is_an_error_that_names_the_run(copy, statement):
    rewritten(copy, lambda db: db.execute(statement), sealed=False)
    assert "the run " in refused(copy) and "mnist-binary" in refused(copy)


@pytest.mark.parametrize("statement", ["UPDATE facts SET value = '[]'", "UPDATE descriptions SET name = 'other'"])
def test_a_changed_fact_or_description_is_noticed(copy, statement):
    rewritten(copy, lambda db: db.execute(statement), sealed=False)
    assert "is damaged" in refused(copy)


def test_a_damaged_store_cannot_be_published_and_the_folder_stays(original, copy, tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "test.toml").write_text(small_studies.SMALL)
    rewritten(copy, lambda db: db.execute("UPDATE measurements SET value = 11"), sealed=False)
    with pytest.raises(hw.HardwireError, match="does not fit its digest"), study.Store(copy) as store:
        publish(store, folder)
    assert [path.name for path in folder.iterdir()] == ["test.toml"]


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x, x, x FROM n"


@pytest.mark.parametrize(
    "script",
    [
        f"DROP TABLE records; CREATE VIEW records (run, iteration, measured) AS {ENDLESS}",
        f"CREATE VIEW more AS {ENDLESS}",
        "CREATE TABLE more (x)",
        "CREATE TRIGGER t AFTER UPDATE ON runs BEGIN DELETE FROM records; END",
        "CREATE INDEX i ON records (measured)",
        "DROP TABLE facts",
        "ALTER TABLE runs ADD COLUMN more",
    ],
)
def test_anything_but_the_tables_of_a_store_is_refused_before_it_is_read(copy, script):
    rewritten(copy, lambda db: db.executescript(script), sealed=False)
    assert "is damaged" in refused(copy)


def in_config(**values):
    """Changes values in the configuration of every run."""

    def change(db):
        for key, config in db.execute("SELECT key, config FROM runs").fetchall():
            db.execute("UPDATE runs SET config = ? WHERE key = ?", (json.dumps(json.loads(config) | values), key))

    return change


def in_records(**values):
    def change(db):
        for run, iteration, measured in db.execute("SELECT run, iteration, measured FROM records").fetchall():
            new = json.dumps(json.loads(measured) | values)
            db.execute("UPDATE records SET measured = ? WHERE run = ? AND iteration = ?", (new, run, iteration))

    return change


def sql(statement):
    return lambda db: db.execute(statement)


@pytest.mark.parametrize(
    "change",
    [
        in_config(method="soft-mixx"),
        in_config(method=None),
        in_config(method=["hard-st"]),
        in_config(method={"name": "hard-st"}),
        in_config(dataset="\x1b[31m"),
        in_config(dataset="d" * 10_000),
        in_config(dataset=3),
        in_config(tau="1"),
        in_config(tau=0.0),
        in_config(tau=1e400),
        in_config(depth=2**40),
        in_config(depth=3),
        in_config(depth=True),
        in_config(iterations=None),
        in_config(straight_through="thread"),
        in_config(**{f"axis {n}": n for n in range(1000)}),
        in_records(iteration=7),
        in_records(iteration="many"),
        in_records(deploy="high"),
        in_records(deploy=1e300),
        in_records(deploy=None),
        in_records(selection=[0.1]),
        in_records(commitment=[0.5]),
        in_records(commitment=0.5),
        in_records(commitment=[[[[0.5]]]]),
        in_records(gate_usage=[[1.0]]),
        in_records(gate_usage=[["a"] * 16] * 2),
        in_records(self=1),
        in_records(**{"a b": 1}),
        in_records(more={"deep": {"deeper": 1}}),
        sql("UPDATE records SET measured = '{'"),
        sql("UPDATE records SET measured = '[1]'"),
        sql(f"UPDATE records SET measured = '{'[' * 100_000}'"),
        sql(f"""UPDATE records SET measured = '{{"iteration": {"9" * 5000}}}'"""),
        sql("UPDATE records SET measured = x'ff'"),
        sql("UPDATE records SET iteration = -iteration"),
        sql("UPDATE runs SET config = '[]'"),
        sql("UPDATE runs SET kind = 'knitting'"),
        sql("UPDATE runs SET kind = 'systems'"),
        sql("UPDATE runs SET seconds = NULL"),
        sql("UPDATE runs SET seconds = 'long'"),
        sql("UPDATE runs SET started = NULL"),
        sql("UPDATE runs SET attempts = 'many'"),
        sql("DELETE FROM records"),
        sql("UPDATE measurements SET value = 'x'"),
        sql("UPDATE facts SET value = '{'"),
        sql("UPDATE facts SET value = '[[2.0, 1]]'"),
        sql("UPDATE facts SET value = '[[0.5, 1e400]]'"),
        sql("UPDATE facts SET value = '[[0.5]]'"),
    ],
    ids=range(49),
)
def test_a_store_with_values_that_no_run_has_is_refused_before_anything_is_computed(copy, change):
    rewritten(copy, change)
    refused(copy)


def test_whatever_an_author_writes_into_a_run_is_reported_or_refused(original, tmp_path):
    """Values of one record or configuration replaced at random by others, sealed, and reported to the last figure."""
    others = (0, -1, 1, 0.5, 1e-300, 1e300, -0.0, float("nan"), float("inf"), 2**70, "x", "", None, [], [0.5, 0.5], {})
    chance, path = random.Random(0), tmp_path / "study.sqlite"
    for _ in range(max(10, MUTATIONS // 40)):
        path.write_bytes(original.read_bytes())

        def change(db):
            table, column, key = chance.choice((("runs", "config", "key"), ("records", "measured", "run")))
            rows = db.execute(f"SELECT {key}, {column} FROM {table}").fetchall()
            name, text = chance.choice(rows)
            values = json.loads(text)
            values[chance.choice(list(values))] = chance.choice(others)
            db.execute(
                f"UPDATE {table} SET {column} = ? WHERE {key} = ? AND {column} = ?", (json.dumps(values), name, text)
            )

        rewritten(path, change)
        try:
            with study.Store(path) as store:
                write_report(build(store), tmp_path / "report")
        except hw.HardwireError as error:
            assert "\n" not in str(error)
