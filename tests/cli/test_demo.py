"""The demo: a tiny one from end to end, and its sentences on histories made up for the purpose."""

import io
import json
import queue

import pytest
from typer.testing import CliRunner

import hardwire as hw
from hardwire import cli
from hardwire.cli.demo import display, figure, findings, trials
from hardwire.errors import HardwireError
from hardwire.models import trained_on
from hardwire.training import Record

PNG = b"\x89PNG\r\n"


def record(iteration, method, argmax):
    return Record(
        iteration=iteration, loss=1.0, method=method, argmax=argmax, deploy=argmax, selection=method - argmax,
        computation=0.0, total=method - argmax, tau=1.0, confidence=0.5, commitment=[0.5, 0.5],
        gate_usage=[[1 / 16] * 16] * 2, node_actual=[0.0] * 2, node_bound=[0.0] * 2, seconds=1.0,
    )  # fmt: skip


# (label, tau) -> [(A^M, A^soft) at iterations 50 and 100]: the paper's story
STORY = {
    ("Soft-Mix", 2.0): [(0.70, 0.50), (0.95, 0.94)],
    ("Soft-Mix", 0.05): [(0.80, 0.80), (0.90, 0.90)],
    ("Soft-Gumbel", 2.0): [(0.70, 0.40), (0.94, 0.92)],
    ("Soft-Gumbel", 0.05): [(0.30, 0.40), (0.80, 0.79)],
    ("Hard-ST", 2.0): [(0.80, 0.80), (0.96, 0.96)],
    ("Hard-ST", 0.05): [(0.80, 0.80), (0.90, 0.90)],
    ("Gumbel-ST", 2.0): [(0.30, 0.60), (0.950, 0.951)],
    ("Gumbel-ST", 0.05): [(0.10, 0.20), (0.20, 0.50)],
    ("Hard-ST+CAGE", 2.0): [(0.80, 0.80), (0.97, 0.97)],
    ("Hard-ST+CAGE", 0.05): [(0.80, 0.80), (0.96, 0.96)],
    ("Gumbel-ST+CAGE", 2.0): [(0.40, 0.60), (0.950, 0.952)],
    ("Gumbel-ST+CAGE", 0.05): [(0.40, 0.60), (0.940, 0.941)],
}


def results(**changes):
    """The story with some runs replaced: label with - and + as _, then the tau as high or low."""
    story = dict(STORY)
    for name, values in changes.items():
        label, _, tau = name.rpartition("_")
        found = next(
            key for key in STORY if key == (key[0], {"high": 2.0, "low": 0.05}[tau]) and _plain(key[0]) == label
        )
        story[found] = values
    return [
        trials.Result(
            trial,
            hw.History(record(50 * (i + 1), *pair) for i, pair in enumerate(story[trial.label, trial.tau])),
            trial.label.encode(),
        )
        for trial in trials.TRIALS
    ]


def _plain(label):
    return label.replace("-", "_").replace("+", "_").lower()


def verdicts(made_up):
    return [finding.as_in_paper for finding in findings.all_findings(made_up)]


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)


def test_the_demo_trains_twelve_runs_and_leaves_a_figure_a_model_and_the_numbers(tiny, tmp_path):
    result = CliRunner().invoke(cli.app, ["demo", "--iterations", "6", "--seed", "1", "--processes", "2"])
    assert result.exit_code == 0, (result.output, result.exception)
    folder = tmp_path / "hardwire-demo"
    assert {path.name for path in folder.iterdir()} == {
        "demo.png",
        "winner.safetensors",
        "histories.json",
        "winner.circuit",
        "winner.c",
        "winner.h",
    }
    assert (folder / "demo.png").read_bytes().startswith(PNG)

    rows = json.loads((folder / "histories.json").read_text())
    histories = {(row["method"], row["tau"]): hw.History.from_json(json.dumps(row["history"])) for row in rows}
    assert set(histories) == set(STORY)
    assert all(history.final.iteration == 6 for history in histories.values())
    assert not any(histories["Hard-ST", 0.05].column("selection"))

    net = hw.load(folder / "winner.safetensors")
    assert hw.Circuit.from_network(net).equivalent(hw.Circuit.load(folder / "winner.circuit"))
    best = max(history.final.deploy for history in histories.values())
    assert hw.measure_gap(net, hw.data.load(trained_on(folder / "winner.safetensors")).test).deploy == best
    assert "exactly 0 in all 24 evaluations" in result.output
    assert f"{100 * best:.1f} % of the test digits" in result.output
    assert "hardwire gap hardwire-demo/winner.safetensors" in result.output


def test_the_papers_story_is_recognised():
    assert verdicts(results()) == [True] * 7


@pytest.mark.parametrize(
    ("change", "finding", "says"),
    [
        ({"hard_st_low": [(0.8, 0.7), (0.9, 0.9)]}, 0, "should be exactly 0"),
        ({"soft_mix_high": [(0.8, 0.8), (0.9, 0.9)]}, 1, "at most 0 points"),
        ({"soft_gumbel_high": [(0.5, 0.4), (0.9, 0.9)]}, 2, "not above Soft-Mix's"),
        ({"gumbel_st_low": [(0.8, 0.8), (0.94, 0.94)]}, 3, "did not fail"),
        ({"gumbel_st_cage_low": [(0.1, 0.2), (0.2, 0.5)]}, 4, "did not rescue"),
        ({"gumbel_st_high": [(0.3, 0.6), (0.8, 0.9)]}, 5, "not near 0"),
        ({"hard_st_cage_low": [(0.5, 0.5), (0.6, 0.6)]}, 6, "97.0 and 60.0 %"),
    ],
)
def test_what_did_not_come_out_as_in_the_paper_is_said(change, finding, says):
    seen = findings.all_findings(results(**change))[finding]
    assert not seen.as_in_paper
    assert says in seen.text


def test_the_sentences_state_the_numbers_of_the_run():
    texts = [finding.text for finding in findings.all_findings(results())]
    assert "+20.0 points" in texts[1] and "iteration 50" in texts[1] and "+1.0 at the end" in texts[1]
    assert "20.0 % in training and 50.0 % deployed" in texts[3]


def test_the_winner_is_the_best_circuit_not_the_best_training_pass():
    best = findings.winner(results(soft_mix_high=[(0.7, 0.5), (0.99, 0.94)]))
    assert (best.trial.label, best.trial.tau) == ("Hard-ST+CAGE", 2.0)


def test_the_table_shows_final_and_peak_gap_and_progress_while_it_runs():
    from rich.console import Console

    records = {result.trial: result.history.records for result in results()}
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(display.results_table(records))
    rows = [line.split() for line in console.export_text().splitlines() if "Soft-Mix" in line]
    assert [cell for cell in rows[0] if cell != "│"] == ["Soft-Mix", "2", "95.0", "94.0", "94.0", "+1.0", "+20.0"]
    records[trials.TRIALS[0]] = []
    console.print(display.results_table(records, iterations=200))
    assert "progress" in console.export_text()


def test_the_figure_is_a_png_and_leaves_the_callers_matplotlib_alone(tmp_path):
    import matplotlib

    before = [matplotlib.rcParams[name] for name in figure._STYLE]
    figure.draw(results(), tmp_path / "demo.png")
    assert (tmp_path / "demo.png").read_bytes().startswith(PNG)
    assert [matplotlib.rcParams[name] for name in figure._STYLE] == before


class Dead:
    def is_alive(self):
        return False


def test_a_run_that_fails_ends_the_demo_with_its_error():
    events = queue.Queue()
    events.put((trials.TRIALS[0], HardwireError("diverged")))
    with pytest.raises(HardwireError, match="diverged"):
        trials._collect([Dead()], events, watch=print)


def test_killed_processes_are_noticed():
    with pytest.raises(HardwireError, match="was killed"):
        trials._collect([Dead()], queue.Queue(), watch=print)
