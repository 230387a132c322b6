"""The statistics of a run, against numbers worked out by hand."""

import json

import pytest

import hardwire as hw
from hardwire.training import Record

GAPS = [0.30, 0.10, 0.40, 0.05, -0.02, 0.01, 0.07, 0.03, 0.02, 0.04]


def record(iteration, selection, **changes):
    values = {
        "loss": 1.5,
        "method": 0.5 + selection,
        "argmax": 0.5,
        "deploy": 0.5,
        "selection": selection,
        "computation": 0.0,
        "total": selection,
        "tau": 1.0,
        "confidence": 0.25,
        "commitment": [0.2, 0.3],
        "gate_usage": [[1 / 16] * 16] * 2,
        "node_actual": [0.1, 0.2],
        "node_bound": [0.2, 0.3],
        "seconds": 1.0,
    }
    return Record(iteration=iteration, **{**values, **changes})


def history(spacing=500):
    return hw.History(record(spacing * (i + 1), gap) for i, gap in enumerate(GAPS))


def test_final_and_peak_are_the_last_and_the_largest():
    assert history().final.selection == 0.04
    assert history().peak("selection") == 0.40
    assert history().peak("confidence") == 0.25


@pytest.mark.parametrize("spacing", [1, 7, 500])
def test_the_range_is_over_the_last_80_percent_of_training(spacing):
    assert history(spacing).range("selection") == (-0.02, 0.40)  # 8 of 10: without 0.30 and 0.10
    assert history(spacing).range("selection", last=0.5) == (0.01, 0.07)
    assert history(spacing).range("selection", last=1.0) == (-0.02, 0.40)
    assert history(spacing).range("selection", last=0.1) == (0.04, 0.04)


def test_the_range_counts_iterations_not_evaluations():
    uneven = hw.History([record(100, 9.0), record(200, 8.0), record(201, 1.0), record(1000, 2.0)])
    assert uneven.range("selection") == (1.0, 2.0)


def test_best_is_the_highest_deployed_accuracy_and_the_earliest_of_equals():
    records = [record(i, 0.0, deploy=deploy) for i, deploy in enumerate([0.5, 0.9, float("nan"), 0.9, 0.7])]
    assert hw.History(records, split="validation").best.iteration == 1
    assert hw.History(records, split="validation", best_by="-deploy").best.iteration == 0


@pytest.mark.parametrize("split", ["test", "train"])
def test_the_best_is_not_selected_on_test_or_training_rows(split):
    with pytest.raises(hw.HardwireError, match=f"made on the {split} rows, where the best one is not selected.*=True"):
        _ = hw.History([record(1, 0.0)], split=split).best


def test_columns_are_read_by_name():
    assert history().column("selection") == GAPS
    assert history().column("commitment") == [[0.2, 0.3]] * 10
    with pytest.raises(hw.HardwireError, match="unknown column 'slection'"):
        history().column("slection")
    with pytest.raises(hw.HardwireError, match="unknown numeric column 'commitment'"):
        history().peak("commitment")


def test_json_and_back_is_the_same_history():
    again = hw.History.from_json(history().to_json())
    assert again == history() and again.column("seconds") == history().column("seconds")
    assert len(again) == 10 and next(iter(again)) == history().records[0]
    chosen = hw.History([Record(3, 0.5, mse=0.1)], split="validation", best_by="-mse")
    again = hw.History.from_json(chosen.to_json())
    assert again == chosen and again != hw.History(chosen.records) and again.best_by == "-mse"


@pytest.mark.parametrize("text", ["", "[1]", "{", json.dumps([{"iteration": 1}]), "3", "9" * 5000, "[" * 9999, b"\xff"])
def test_other_json_is_refused(text):
    with pytest.raises(hw.HardwireError, match="history"):
        hw.History.from_json(text)


@pytest.mark.parametrize("wrong", [{"iteration": "1"}, {"iteration": -1}, {"loss": [1]}, {"seconds": None}])
def test_a_record_of_wrong_types_is_refused(wrong):
    content = json.loads(history().to_json())
    content["records"][0] |= wrong
    with pytest.raises(hw.HardwireError, match="not a history"):
        hw.History.from_json(json.dumps(content))


def test_wall_clock_time_does_not_make_two_histories_differ_but_numbers_do():
    assert hw.History([record(1, 0.5)]) == hw.History([record(1, 0.5, seconds=9.0)])
    assert hw.History([record(1, 0.5)]) != hw.History([record(1, 0.6)])


def test_an_empty_history_says_so():
    empty = hw.History(split="validation")
    for ask in (lambda: empty.final, lambda: empty.best, lambda: empty.peak(), lambda: empty.range()):
        with pytest.raises(hw.HardwireError, match="history is empty"):
            ask()
    assert repr(empty) == "History(empty)" and empty.column("loss") == []
    with pytest.raises(hw.HardwireError, match="last=0 "):
        history().range("selection", last=0)


def test_a_history_is_a_table_of_its_evaluations():
    table = history().to_pandas()
    assert table["iteration"].tolist() == [record.iteration for record in history()]
    assert table["deploy"].tolist() == history().column("deploy")


def test_a_history_draws_the_three_passes_or_the_columns_that_were_named():
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="needs matplotlib: pip install 'hardwire[train]'")
    ax = history().plot()
    assert [line.get_label() for line in ax.lines] == ["method", "argmax", "deploy"]
    assert ax.lines[2].get_ydata().tolist() == history().column("deploy")
    assert history().plot("loss", ax=ax) is ax and len(ax.lines) == 4
    pyplot.close(ax.figure)
    with pytest.raises(hw.HardwireError, match="unknown numeric column 'los'; did you mean loss"):
        history().plot("los")
