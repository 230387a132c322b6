"""Tests of when noisy training starts, on made-up runs."""

from small_studies import made_run

from hardwire_paper.groups import group_runs
from hardwire_paper.learning_onset import learning_onset, leaves_chance


def run(accuracies, seed=0, method="gumbel-st", **rest):
    zeros = (0.0,) * len(accuracies)
    return made_run(method, 1.0, seed, zeros, accuracies, iterations=500 * len(accuracies), evaluate_every=500, **rest)


def rows(*runs):
    table = learning_onset(group_runs(list(runs)))
    return table and [[cell.text for cell in row] for row in table.rows]


def cell(*runs):
    (group,) = group_runs(list(runs))
    (own,) = group.cells.values()
    return own


def test_a_network_leaves_chance_where_it_stays_five_points_above():
    assert leaves_chance(cell(run((0.1, 0.2, 0.12, 0.16, 0.9))), "deploy") == "2,000"
    assert leaves_chance(cell(run((0.9, 0.15))), "deploy") == "no"
    assert leaves_chance(cell(run((0.5, 0.9))), "deploy") == "500"


def test_seeds_that_are_stuck_are_counted():
    stuck, slow, quick = run((0.1, 0.1, 0.1)), run((0.1, 0.1, 0.3), seed=1), run((0.3, 0.3, 0.3), seed=2)
    assert leaves_chance(cell(stuck, slow, quick), "deploy") == "1,000 (2 of 3)"


def test_only_methods_that_pick_under_noise_have_rows_and_kinds_of_runs_are_told_apart():
    noisy, other = run((0.1, 0.2, 0.3)), run((0.1, 0.5, 0.6), start="residual", noise="sample")
    table = rows(noisy, other, run((0.9, 0.9, 0.9), method="hard-st"), run((0.2,) * 3, method="gumbel-st+cage"))
    assert [row[1:3] for row in table] == [["Gumbel-ST", "1"], ["Gumbel-ST+CAGE", ""], ["Gumbel-ST", "1"]]
    assert table[0][0] == "MNIST-Binary, 6 x 64,000, 1,500 iterations, n=1"
    assert table[2][0] == "MNIST-Binary, 6 x 64,000, 1,500 iterations, start residual, noise sample, n=1"
    assert table[0][3:] == ["1,000", "1,000", "10.0", "30.0"]  # there is no later evaluation
    assert rows(run((0.9, 0.9), method="hard-st")) is None
