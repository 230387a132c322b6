"""Tests of the comparison at the iteration where the paper's ranges begin, on made-up runs."""

from small_studies import made_run

from hardwire_paper.groups import group_runs
from hardwire_paper.paper_ranges import paper_ranges


def run(method, tau, gap, accuracy=0.9, seed=0, depth=4, **rest):
    """To 10,000 iterations, with this gap and accuracy there and nothing learned before."""
    settings = {"iterations": 10_000, "evaluate_every": 5_000} | rest
    return made_run(method, tau, seed, (0.0, gap), (0.1, accuracy), depth=depth, **settings)


def rows(*runs):
    groups = group_runs(list(runs))
    table = paper_ranges([group.at(depth) for group in groups for depth in group.depths])
    return table and [[*(cell.text for cell in row[1:]), row[-1].verdict] for row in table.rows]


def test_a_gap_inside_of_the_papers_range_agrees_and_one_outside_differs():
    assert rows(run("soft-gumbel", 0.05, -0.318), run("soft-gumbel", 1.0, 0.136)) == [
        ["Soft-Gumbel", "", "0.05", "10,000", "90.0", "-31.8", "-31 to +1", "agree"],  # a point outside is still inside
        ["Soft-Gumbel", "", "1", "10,000", "90.0", "+13.6", "+0 to +9", "differ"],
    ]


def test_the_mean_over_seeds_is_compared():
    (row,) = rows(run("gumbel-st", 1.0, -0.04), run("gumbel-st", 1.0, 0.04, seed=1))
    assert row[5:] == ["+0.0", "-0.2 to +0.3", "agree"]


def test_a_network_at_chance_is_not_judged():
    (row,) = rows(run("gumbel-st", 1.0, 0.0, accuracy=0.12, depth=6))
    assert row[4:] == ["12.0‡", "+0.0", "-0.3 to +0.3", ""]


def test_cage_is_compared_with_the_widest_range_of_its_depth():
    (row,) = rows(run("gumbel-st+cage", 1.0, 0.085, depth=6))
    assert row[:3] == ["Gumbel-ST+CAGE", "output", ""] and row[5:] == ["+8.5", "-0.3 to +9", "agree"]


def test_a_zero_stands_alone():
    assert rows(run("hard-st", 1.0, 0.0))[0][-3:] == ["+0.0", "+0.0", "agree"]


def test_only_the_papers_networks_that_got_so_far_have_rows():
    narrow = run("soft-mix", 1.0, 0.0, width=8_000)
    short = run("soft-mix", 1.0, 0.0, iterations=2_000, evaluate_every=1_000)
    other = run("gumbel-st", 1.0, 0.0, start="residual")
    unknown = run("soft-mix", 0.7, 0.0)
    assert rows(narrow, short, other, unknown) is None


def test_two_readings_of_gumbel_st_have_a_row_each_and_what_does_not_depend_on_it_has_one():
    readings = [run("gumbel-st", 1.0, -0.04, straight_through=name) for name in ("weights", "output")]
    both = rows(*readings, run("soft-mix", 1.0, 0.0), run("hard-st", 1.0, 0.0, straight_through="weights"))
    assert sorted(row[:2] for row in both) == [
        ["Gumbel-ST", "output"],
        ["Gumbel-ST", "weights"],
        ["Hard-ST", "weights"],
        ["Soft-Mix", ""],
    ]
