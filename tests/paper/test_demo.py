"""The demo: a tiny one from end to end, and its sentences on histories made up for the purpose."""

import io
from pathlib import Path

import pytest
import small_studies
from typer.testing import CliRunner

import hardwire as hw
from hardwire import cli, study
from hardwire.models import trained_on
from hardwire.selection import METHOD_VARIANTS
from hardwire_paper.demo import display, figure, findings
from hardwire_paper.runs import NetworkRun

PNG = b"\x89PNG\r\n"

# (method, tau) -> [(A^M, A^soft) at iterations 50 and 100]: the paper's story
STORY = {
    ("soft-mix", 2.0): [(0.70, 0.50), (0.95, 0.94)],
    ("soft-mix", 0.05): [(0.80, 0.80), (0.90, 0.90)],
    ("soft-gumbel", 2.0): [(0.70, 0.40), (0.94, 0.92)],
    ("soft-gumbel", 0.05): [(0.30, 0.40), (0.80, 0.79)],
    ("hard-st", 2.0): [(0.80, 0.80), (0.96, 0.96)],
    ("hard-st", 0.05): [(0.80, 0.80), (0.90, 0.90)],
    ("gumbel-st", 2.0): [(0.30, 0.60), (0.950, 0.951)],
    ("gumbel-st", 0.05): [(0.10, 0.20), (0.20, 0.50)],
    ("hard-st+cage", 2.0): [(0.80, 0.80), (0.97, 0.97)],
    ("hard-st+cage", 0.05): [(0.80, 0.80), (0.96, 0.96)],
    ("gumbel-st+cage", 2.0): [(0.40, 0.60), (0.950, 0.952)],
    ("gumbel-st+cage", 0.05): [(0.40, 0.60), (0.940, 0.941)],
}


def trials(changes=(), validation=None):
    """The story with some runs replaced; the validation accuracy is that of the circuit unless told otherwise."""
    made = []
    for (method, tau), pairs in {**STORY, **dict(changes)}.items():
        seen = (validation or {}).get((method, tau), pairs[-1][1])
        result = small_studies.made_result(
            method, tau, selection=[a - b for a, b in pairs], deploy=[b for _, b in pairs], validation=[seen] * 2,
            dataset="digits", width=1000, depth=2, evaluate_every=50, iterations=100,
        )  # fmt: skip
        made.append(findings.Trial(NetworkRun.of(result), Path(f"{method}-{tau:g}")))
    return made


def verdicts(made_up):
    return [finding.as_in_paper for finding in findings.all_findings(made_up)]


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)


def test_the_demo_trains_twelve_runs_and_leaves_a_figure_a_model_and_the_numbers(tiny, tmp_path):
    result = CliRunner().invoke(cli.app, ["demo", "--iterations", "6", "--seed", "1", "--workers", "2"])
    assert result.exit_code == 0, (result.output, result.exception)
    folder = tmp_path / "hardwire-demo"
    files = {"demo.png", "winner.safetensors", "demo.sqlite", "winner.circuit", "winner.c", "winner.h"}
    assert files <= {path.name for path in folder.iterdir()}
    assert (folder / "demo.png").read_bytes().startswith(PNG)

    description = display.describe(1, 6)
    runs = findings.read(folder / "demo.sqlite", description)
    histories = {(trial.run.method, trial.run.tau): trial.history for trial in runs}
    assert set(histories) == set(STORY) and len(description) == 12
    assert all(history.final.iteration == 6 for history in histories.values())
    assert not any(histories["hard-st", 0.05].column("selection"))

    net = hw.load(folder / "winner.safetensors")
    assert hw.Circuit.from_network(net).equivalent(hw.Circuit.load(folder / "winner.circuit"))
    best = findings.winner(runs)
    assert best.validation == max(trial.validation for trial in runs)
    test = hw.data.load(trained_on(folder / "winner.safetensors")).test
    assert hw.measure_gap(net, test).deploy == best.history.final.deploy
    assert "exactly 0 in all 24 evaluations" in result.output
    assert f"It reads {100 * best.history.final.deploy:.1f} % of the test digits" in result.output
    assert "hardwire gap hardwire-demo/winner.safetensors" in result.output
    assert "12 of 12: digits" in result.output

    with study.Store(folder / "demo.sqlite") as store:
        attempts = {state.attempts for state in store.states().values()}
    again = CliRunner().invoke(cli.app, ["demo", "--iterations", "6", "--seed", "1"])
    assert again.exit_code == 0 and "12 of 12 runs are in hardwire-demo/demo.sqlite already" in again.output
    with study.Store(folder / "demo.sqlite") as store:
        assert attempts == {state.attempts for state in store.states().values()} == {1}


def test_the_papers_story_is_recognised():
    assert verdicts(trials()) == [True] * 7


@pytest.mark.parametrize(
    ("change", "pairs", "finding", "says"),
    [
        (("hard-st", 0.05), [(0.8, 0.7), (0.9, 0.9)], 0, "should be exactly 0"),
        (("soft-mix", 2.0), [(0.8, 0.8), (0.9, 0.9)], 1, "at most 0 points"),
        (("soft-gumbel", 2.0), [(0.5, 0.4), (0.9, 0.9)], 2, "not above Soft-Mix's"),
        (("soft-gumbel", 2.0), [(0.5, 0.5), (0.9, 0.9)], 2, "with noise there was hardly a gap"),
        (("gumbel-st", 0.05), [(0.8, 0.8), (0.94, 0.94)], 3, "did not fail"),
        (("gumbel-st", 0.05), [(0.8, 0.8), (0.94, 0.94)], 4, "had nothing to rescue"),
        (("gumbel-st+cage", 0.05), [(0.1, 0.2), (0.2, 0.5)], 4, "did not rescue"),
        (("gumbel-st", 2.0), [(0.3, 0.6), (0.8, 0.9)], 5, "not near 0"),
        (("hard-st+cage", 0.05), [(0.5, 0.5), (0.6, 0.6)], 6, "97.0 and 60.0 %: further apart than without"),
    ],
)
def test_what_did_not_come_out_as_in_the_paper_is_said(change, pairs, finding, says):
    seen = findings.all_findings(trials({change: pairs}))[finding]
    assert not seen.as_in_paper
    assert says in seen.text


def test_no_sentence_says_more_than_the_numbers_beside_it():
    """Without a gap nothing may be said to stay open: "noise alone does not close the gap" stood beside a gap of 0."""
    flat = {key: [(0.9, 0.9), (0.9, 0.9)] for key in STORY}
    texts = " ".join(finding.text for finding in findings.all_findings(trials(flat)))
    assert "did not close" not in texts and "failed" not in texts.replace("did not fail", "") and "rescued" not in texts


def test_the_sentences_state_the_numbers_of_the_run():
    texts = [finding.text for finding in findings.all_findings(trials())]
    assert "+20.0 points" in texts[1] and "iteration 50" in texts[1] and "+1.0 at the end" in texts[1]
    assert "20.0 % in training and 50.0 % deployed" in texts[3]


def test_the_winner_is_the_best_circuit_on_the_validation_rows_not_on_the_test_set():
    assert findings.winner(trials({("soft-mix", 2.0): [(0.7, 0.5), (0.99, 0.94)]})).model.name == "hard-st+cage-2"
    best = findings.winner(trials(validation={("hard-st", 0.05): 0.99}))
    assert best.model.name == "hard-st-0.05" and best.history.final.deploy == 0.90


def test_the_table_shows_final_and_peak_gap_and_progress_while_it_runs():
    from rich.console import Console

    records = {trial.run.config: [vars(record) for record in trial.history] for trial in trials()}
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(display.results_table(records))
    rows = [line.split() for line in console.export_text().splitlines() if "Soft-Mix" in line]
    accuracies, gaps = ["95.0", "94.0", "94.0"], ["+1.0", "+20.0", "+20.0"]
    assert [cell for cell in rows[0] if cell != "│"] == ["Soft-Mix", "2", *accuracies, *gaps]
    records[next(iter(records))] = []
    console.print(display.results_table(records, iterations=200))
    assert "progress" in console.export_text()


def test_the_figure_is_a_png_and_leaves_the_callers_matplotlib_alone():
    import matplotlib

    before = [matplotlib.rcParams[name] for name in figure._STYLE]
    assert figure.draw(trials()).startswith(PNG)
    assert [matplotlib.rcParams[name] for name in figure._STYLE] == before


def test_demo_and_reports_draw_a_method_in_the_same_colour():
    from hardwire_paper.names import COLOURS, line_style

    assert list(COLOURS) == list(METHOD_VARIANTS) and len(set(COLOURS.values())) == 6
    assert figure.COLOURS is COLOURS and all(
        line_style(method)["color"] == COLOURS[method] for method in METHOD_VARIANTS
    )


def test_a_run_that_fails_ends_the_demo_with_its_error(tmp_path):
    description = display.describe(0, 6)
    with study.Store(tmp_path / "demo.sqlite", create=True) as store:
        store.begin("key", description.configs[0], "test")
        store.fail("key", "it diverged")
    with pytest.raises(hw.HardwireError, match="a run of the demo failed: it diverged"):
        findings.read(tmp_path / "demo.sqlite", description)
