"""Tests of the table of readings of the straight-through estimator beside the paper's numbers, on made-up runs."""

from small_studies import made_run

from hardwire_paper.claims import Evidence, cell_counts
from hardwire_paper.groups import group_runs
from hardwire_paper.readings import readings, readings_figure


def run(method, tau, gap, reading, accuracy=0.9, depth=6, **rest):
    """To 10,000 iterations, with this gap and accuracy there."""
    settings = {"iterations": 10_000, "evaluate_every": 5_000, "straight_through": reading} | rest
    return made_run(method, tau, 0, (0.0, gap), (0.1, accuracy), depth=depth, **settings)


def layers(*runs):
    return [group.at(depth) for group in group_runs(runs) for depth in group.depths]


def rows(*runs):
    table = readings(layers(*runs))
    return table and {row[0].text: [(cell.text, cell.verdict) for cell in row[1:]] for row in table.rows}


BOTH = (run("gumbel-st", 1.0, 0.001, "output"), run("gumbel-st", 1.0, -0.08, "weights", 0.3))


def test_each_reading_is_judged_by_the_papers_range():
    shown = rows(*BOTH)
    assert shown["Gumbel-ST τ=1, 6 layers: gap at iteration 10,000"] == [
        ("-0.3 to +0.3", ""),
        ("+0.1 (90.0%)", "agree"),
        ("-8.0 (30.0%)", "differ"),
    ]
    assert shown["agree, of those judged"] == [("", ""), ("1 of 1", ""), ("0 of 1", "")]


def test_a_reading_at_chance_is_shown_and_not_judged():
    shown = rows(BOTH[0], run("gumbel-st", 1.0, 0.0, "weights", 0.1))
    assert shown["Gumbel-ST τ=1, 6 layers: gap at iteration 10,000"][2] == ("‡ (10.0%)", "")


def test_cages_temperature_at_5000_and_commitment_before_the_papers_end():
    cage = [run("hard-st+cage", 1.0, 0.0, name) for name in ("output", "weights")]
    for made, tau in zip(cage, (1.05, 1.7), strict=True):
        made.history.records[0].tau = tau
    shown = rows(*cage, run("hard-st", 1.0, 0.0, "output"))
    assert shown["Hard-ST+CAGE, 6 layers: τ_b at iteration 5,000"][1:] == [("1.05", "agree"), ("1.70", "differ")]
    commitment = shown["Hard-ST τ=1, 6 layers: commitment by layer at the end, percent"]
    assert commitment[:2] == [("84 to 93", ""), ("50, 50, 50, 50, 50, 50 after 10,000", "")]


def test_one_reading_alone_has_no_table_and_narrow_networks_no_row():
    assert rows(BOTH[0]) is None and readings_figure(layers(BOTH[0])) is None
    assert rows(BOTH[0], run("gumbel-st", 1.0, 0.0, "weights", width=8_000)) is None
    figure = readings_figure(layers(*BOTH))
    assert {row[1].text for row in figure.data.rows} == {"output", "weights"}


def test_cells_of_the_papers_tables_are_counted():
    whole = made_run("hard-st", 1.0, 0, (0.0,) * 10, (0.97,) * 10)
    wrong = made_run("soft-mix", 1.0, 0, (0.2,) * 10, (0.8,) * 10)
    table = cell_counts(Evidence([whole, wrong], [], {}))
    counts = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
    assert counts["Table 1, selection gap on MNIST-Binary"] == ["30", "2", "1", "1"]
    assert counts["all"] == ["354", "4", "2", "2"]
