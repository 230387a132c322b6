"""`predict` and `circuit run` on tables that are read and written part by part."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from shell import fail, run

import hardwire as hw
from hardwire.data import streams

RANDOM = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "id": [f"{number:04}" for number in range(103)],
        "size": RANDOM.normal(size=103).round(3),
        "code": RANDOM.choice(["7", "11", "a"], 103),
        "count": RANDOM.integers(0, 9, 103),
        "kind": RANDOM.choice(["x", "y"], 103),
        "price": RANDOM.gamma(2, 100, 103),
    }
)


@pytest.fixture(params=["kind", "price"])
def circuit(request, monkeypatch, tmp_path):
    """A circuit of a table, of classes or of a number, saved as `circuit`; parts are 10 rows long."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(streams, "ROWS", 10)
    FRAME.drop(columns="id").to_csv("table.csv", index=False)
    data = hw.data.load(f"table.csv@4#{request.param}")
    number = {"number": data.number} if data.number else {"classes": data.classes}
    net = hw.LogicNetwork(data.inputs, width=40, depth=1, seed=0, encoder=data.encoder, **number)
    net.columns = data.columns
    made = hw.Circuit.from_network(net)
    made.save("circuit")
    return made


def expected(circuit, frame):
    """What the circuit predicts of a whole frame at once."""
    answers = circuit.predict(circuit.columns.numbers(frame), raw=True)
    return answers if circuit.number else np.array(circuit.columns.labels)[answers]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("out", [".csv", ".parquet"])
def test_parts_give_the_same_predictions_as_the_whole(circuit, suffix, out):
    frame = FRAME.sample(frac=1, random_state=1)[["price", "kind", "id", "count", "code", "size"]]
    frame.to_csv("rows.csv", index=False) if suffix == ".csv" else frame.to_parquet("rows.parquet", index=False)
    assert "103 rows" in run("predict", "circuit", f"rows{suffix}", "-o", f"out{out}")
    written = pd.read_csv("out.csv") if out == ".csv" else pd.read_parquet("out.parquet")
    assert written.columns.tolist() == [*frame.columns, "prediction"]
    assert np.array_equal(written["prediction"], expected(circuit, frame))
    assert np.allclose(written["price"], frame["price"]) and written["count"].tolist() == frame["count"].tolist()
    assert len(pd.read_csv("rows.csv" if suffix == ".csv" else "table.csv")) == 103


def test_parts_that_look_like_numbers_are_still_text(circuit):
    """Some parts of the column `code` hold only 7 and 11, which is text that the model knows."""
    frame = FRAME.sort_values("code")
    frame.to_csv("rows.csv", index=False)
    run("predict", "circuit", "rows.csv", "-o", "out.csv")
    assert np.array_equal(pd.read_csv("out.csv")["prediction"], expected(circuit, frame))


def test_cells_are_copied_as_they_are_written(circuit):
    lines = ["id,size,code,count,kind,price,note"]
    lines += ["007,1.50,a,3,x,1e2,", '008,2,7,4,y,3,"one, two"', "009,+2.5,11,5,x,4,NA"]
    with open("rows.csv", "w") as file:
        file.write("\n".join(lines) + "\n")
    shown = run("predict", "circuit", "rows.csv").splitlines()
    assert [line.rsplit(",", 1)[0] for line in shown] == lines


def test_a_column_of_a_parquet_has_one_type_whatever_its_first_parts_hold(circuit):
    frame = FRAME.assign(
        mixed=[*map(str, range(50)), *["word"] * 53],
        half=[*range(102), 0.5],
        late=[*[np.nan] * 90, *range(13)],
        flag=[True, False] * 51 + [True],
    )
    frame.to_csv("rows.csv", index=False)
    run("predict", "circuit", "rows.csv", "-o", "out.parquet")
    written = pd.read_parquet("out.parquet")
    assert written["mixed"].tolist() == frame["mixed"].tolist()
    assert written["half"].dtype == float and written["late"].dtype == float and written["flag"].dtype == bool
    assert written["count"].dtype == np.int64


def test_missing_whole_numbers_of_a_parquet_stay_whole(circuit):
    frame = FRAME.assign(visits=pd.array([None, *range(102)], dtype="Int64"))
    frame.to_parquet("rows.parquet", index=False)
    run("predict", "circuit", "rows.parquet", "-o", "out.csv")
    assert pd.read_csv("out.csv", dtype=str)["visits"].tolist()[1:3] == ["0", "1"]
    run("predict", "circuit", "rows.parquet", "-o", "out.parquet")
    assert pd.read_parquet("out.parquet", dtype_backend="numpy_nullable")["visits"].equals(frame["visits"])


@pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
def test_a_bad_row_at_the_end_is_named_and_leaves_the_old_file(circuit, capsys, tmp_path, out):
    frame = FRAME.copy()
    frame.loc[101, "size"] = np.nan
    frame.to_csv("rows.csv", index=False)
    (tmp_path / out).write_text("old")
    names = sorted(path.name for path in tmp_path.iterdir())
    said = fail(capsys, "predict", "circuit", "rows.csv", "-o", out, "--missing", "error")
    assert "column 'size' is empty in line 103" in said
    assert (tmp_path / out).read_text() == "old" and sorted(path.name for path in tmp_path.iterdir()) == names


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_circuit_run_measures_a_table_part_by_part(circuit, suffix):
    frame = FRAME.sort_values("code")
    frame.to_csv("rows.csv", index=False) if suffix == ".csv" else frame.to_parquet("rows.parquet", index=False)
    said = run("circuit", "run", "circuit", "--data", f"rows{suffix}", "-o", "answers.txt")
    answers = circuit.predict(circuit.columns.numbers(frame), raw=True)
    truth = frame[circuit.columns.target]
    if circuit.number:
        score = f"R^2 {1 - np.square(answers - truth).mean() / truth.var(ddof=0):.4f}"
    else:
        score = f"accuracy {np.mean(np.array(circuit.columns.labels)[answers] == truth):.4f}"
    assert f"{score} on 103 images" in said
    with open("answers.txt") as file:
        assert np.allclose([float(line) for line in file], answers)


def test_circuit_run_reads_a_table_as_the_options_behind_its_name_say(circuit):
    FRAME.to_csv("points.csv", index=False)
    FRAME.to_csv("commas.csv", index=False, sep=";", decimal=",")
    points, commas = (
        run("circuit", "run", "circuit", "--data", name) for name in ("points.csv", "commas.csv?decimal=,")
    )
    assert commas.split(" on ")[0] == points.split(" on ")[0]


def test_circuit_run_says_which_column_or_label_is_wrong(circuit, capsys):
    target = circuit.columns.target
    FRAME.drop(columns=target).to_csv("rows.csv", index=False)
    assert f"no column '{target}'" in fail(capsys, "circuit", "run", "circuit", "--data", "rows.csv")
    FRAME.assign(**{target: "rose"}).to_csv("rows.csv", index=False)
    assert "holds 'rose'" in fail(capsys, "circuit", "run", "circuit", "--data", "rows.csv")


PEAK = (
    "import resource, sys; from hardwire.cli import main\n"
    "try: main(sys.argv[1:])\n"
    "except SystemExit as stop: assert not stop.code\n"
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
)


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux only")
@pytest.mark.parametrize("command", ["predict", "run"])
def test_memory_does_not_grow_with_the_length_of_a_table(tmp_path, command):
    """400,000 rows of 24 numbers are 77 MB as floats alone."""
    columns = [f"c{number}" for number in range(24)]
    x = RANDOM.normal(size=(400, 24)).round(2)
    table = pd.DataFrame(x, columns=columns).assign(y=np.arange(400) % 2)
    table.to_csv(tmp_path / "table.csv", index=False)
    data = hw.data.load(f"{tmp_path / 'table.csv'}@2#y")
    net = hw.LogicNetwork(data.inputs, 2, width=20, depth=1, seed=0, encoder=data.encoder)
    net.columns = data.columns
    hw.Circuit.from_network(net).save(tmp_path / "circuit")
    header, *lines = (tmp_path / "table.csv").read_text().splitlines(keepends=True)
    peaks = []
    for rows in (100_000, 400_000):
        with (tmp_path / "rows.csv").open("w") as file:
            file.write(header)
            for _ in range(rows // 400):
                file.writelines(lines)
        arguments = {
            "predict": ["predict", tmp_path / "circuit", tmp_path / "rows.csv", "-o", tmp_path / "out.csv"],
            "run": ["circuit", "run", tmp_path / "circuit", "--data", tmp_path / "rows.csv"],
        }[command]
        done = subprocess.run(
            [sys.executable, "-c", PEAK, *map(str, arguments)], capture_output=True, text=True, check=True
        )
        peaks.append(int(done.stdout.splitlines()[-1]) / 1000)
    assert f"{rows:,}" in done.stdout
    assert peaks[1] < peaks[0] + 30, peaks
