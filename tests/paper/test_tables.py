"""Tests of tables and statistics on made-up runs, against scipy and against arithmetic by hand."""

import math

import pytest
from scipy import stats
from small_studies import made_run

from hardwire_paper import convergence, extra_tables, printed, statistics, tables
from hardwire_paper.figures import curves, training
from hardwire_paper.groups import group_runs
from hardwire_paper.judging import SampleMean, judge_printed, judge_runs, judged, worst
from hardwire_paper.names import method_name


def group_of(*runs):
    (group,) = group_runs(list(runs))
    return group


def texts(table):
    return {row[0].text: [entry.text for entry in row[1:]] for row in table.rows}


def test_the_paired_t_test_and_cohens_d_agree_with_scipy():
    first, second = [51.0, 49.5, 52.5, 50.1], [97.9, 98.1, 98.4, 98.0]
    test = statistics.compare(first, second)
    expected = stats.ttest_rel(first, second)
    assert test.t == pytest.approx(expected.statistic) and test.p == pytest.approx(expected.pvalue)
    pooled = math.sqrt((stats.tvar(first) + stats.tvar(second)) / 2)
    assert test.d == pytest.approx(abs(stats.tmean(first) - stats.tmean(second)) / pooled)
    assert test.n == 4 and test.stars == "***" and test.practical


def test_our_d_gives_the_papers_d_for_its_t_against_a_constant():
    """t = -6.30 and d = 5.15 for zeros against three seeds: sqrt(n) m / s and sqrt(2) m / s."""
    peaks = [40 - 11 * shift for shift in (-1, 0, 1)]
    test = statistics.compare([0.0, 0.0, 0.0], peaks)
    assert test.t == pytest.approx(-6.30, abs=0.01) and test.d == pytest.approx(5.15, abs=0.01)


@pytest.mark.parametrize(("first", "second"), [([1.0], [2.0]), ([0.0, 0.0], [0.0, 0.0]), ([1.0, 2.0], [3.0, 4.0])])
def test_one_pair_or_no_spread_gives_no_t_and_no_crash(first, second):
    test = statistics.compare(first, second)
    assert math.isnan(test.t) and test.stars == "–"


def test_only_seeds_that_both_sides_have_are_paired():
    runs = [made_run("hard-st", tau, seed, deploy=(0.5, 0.9 - tau / 10)) for tau in (0.05, 2.0) for seed in (0, 1, 2)]
    group = group_of(*runs[:-1])
    contrast = next(contrast for contrast in statistics.CONTRASTS if contrast.key == "hard-robust")
    test = statistics.examine(group, contrast)
    assert test.n == 2 and test.difference == pytest.approx(19.5)


def test_final_and_peak_are_means_over_seeds_in_points():
    runs = [
        made_run("soft-mix", 2.0, seed, selection=(0.9, *peaks, 0.01, 0.01), deploy=(0.5,) * 6)
        for seed, peaks in enumerate([(0.20, 0.1, 0.1), (0.1, 0.1, 0.30)])
    ]
    assert texts(tables.selection_gap(group_of(*runs))) == {
        "Soft-Mix": ["1.0 / 25.0 / 90.0"]
    }  # 0.9 is in the first fifth


def test_failures_are_marked_by_the_stated_rule():
    fails = made_run("gumbel-st", 0.05, selection=(-0.4, -0.4), deploy=(0.5, 0.5))
    at_chance = made_run("gumbel-st", 1.0, selection=(0.0, 0.0), deploy=(0.1, 0.14))
    fine = made_run("gumbel-st", 2.0, selection=(-0.1, -0.04), deploy=(0.1, 0.16))
    cells = texts(tables.selection_gap(group_of(fails, at_chance, fine)))
    assert cells == {"Gumbel-ST": ["-40.0†", "0‡ / 0 / 0", "-4.0 / -4.0 / -4.0"]}


def test_robustness_is_the_worst_accuracy_and_the_range_over_tau():
    runs = [made_run("hard-st", tau, deploy=(0.1, 0.97 + 0.0075 * (tau > 0.5) * tau)) for tau in printed.TAUS]
    table = tables.robustness([group_of(*runs)])
    assert table.columns == ["Runs", "Hard-ST"]
    assert texts(table) == {"MNIST-Binary, 6 x 64,000, 50,000 iterations, n=1": ["97.0 / 1.5"]}
    assert table.rows[0][1].reference == "97.1 / 1.1" and table.rows[0][1].verdict == "agree"
    few = tables.robustness([group_of(*runs[:2])])
    assert few.rows[0][1].verdict == "not comparable"  # a range over two temperatures is not one over five


def test_the_cross_dataset_peak_counts_negative_gaps_too():
    runs = [
        made_run("gumbel-st", 0.1, selection=(-0.61, -0.59), deploy=(0.7, 0.5)),
        *(made_run("gumbel-st", tau, selection=(0.011, 0.0), deploy=(0.7, 0.98)) for tau in (0.05, 0.5, 1.0, 2.0)),
    ]
    table = tables.cross_dataset([group_of(*runs)])
    assert table.columns[2:] == ["Gumbel-ST"]
    (_, what, peak), (_, other, spread) = table.rows
    assert (what.text, peak.text) == ("late peak gap", "61.0†") and (other.text, spread.text) == (
        "accuracy range",
        "48.0",
    )
    assert peak.reference == "61†" and peak.verdict == "agree"


def test_trajectories_show_the_range_of_the_last_80_percent_unless_it_is_zero():
    soft = made_run("soft-mix", 2.0, selection=(0.5, 0.24, 0.1, 0.08, 0.05, 0.006), deploy=(0.9,) * 6)
    hard = made_run("hard-st", 2.0, selection=(0.0,) * 6, deploy=(0.9,) * 6)
    table = tables.trajectories(group_of(soft, hard))
    assert texts(table) == {"Soft-Mix": ["6", "+0.6 [+0.6, +24.0]"], "Hard-ST": ["6", "+0.0"]}
    assert [row[2].reference for row in table.rows] == ["+0.6 [+0, +24]", "+0.0"]
    assert [row[2].verdict for row in table.rows] == ["agree", "agree"]


def test_the_papers_peaks_are_the_maxima_of_its_trajectory_tables():
    for method, cells in printed.SELECTION_GAP.items():
        for tau, cell in zip(printed.TAUS, cells, strict=True):
            trajectory = printed.trajectories()["mnist-binary", method, 6, tau]
            if "†" not in cell:
                assert float(cell.split(" / ")[1]) == pytest.approx(float(trajectory.high), abs=0.1)
    assert len(printed.trajectories()) == 3 * 6 * 3 * 5


def test_runs_at_another_scale_are_not_judged():
    run = made_run("hard-st", 0.05, width=2000)
    (row,) = tables.selection_gap(group_of(run)).rows
    assert row[1].reference == "0 / 0" and row[1].verdict == "not comparable"


def test_two_scales_in_a_store_do_not_mix():
    assert len(group_runs([made_run(), made_run(width=2000), made_run(seed=1)])) == 2


def test_convergence_by_gap_is_when_it_stays_small_and_by_accuracy_when_it_stays_near_its_end():
    run = made_run(selection=(0.0, 0.2, 0.01, -0.01, 0.0), deploy=(0.89, 0.3, 0.7, 0.9, 0.9))
    assert convergence.by_gap(run.history) == 30_000 and convergence.by_accuracy(run.history) == 40_000
    late = made_run(selection=(0.2, 0.2, 0.0), deploy=(0.9, 0.9, 0.9))
    assert convergence.by_gap(late.history) is None  # the last iteration is not the answer
    never = made_run(selection=(0.0, 0.02), deploy=(0.9, 0.9))
    assert convergence.by_gap(never.history) is None
    table = convergence.convergence(group_of(never), "gap")
    assert table.rows[0][1].text == "no"


@pytest.mark.parametrize(
    ("deploy", "converged"),
    [
        ((0.3, 0.7, 0.895, 0.9, 0.9), 30_000),
        ((0.3, 0.4, 0.5, 0.6, 0.7), None),  # still rising: the last iteration is not the answer
        ((0.3, 0.895, 0.9, 0.893, 0.9), None),  # by more than half a point from the tenth before the last
        ((0.3, 0.9, 0.9, 0.9, 0.3), None),  # only the last evaluation is near its own level
        ((0.9, 0.9), None),  # two evaluations say nothing
        ((0.3,) + (0.9,) * 19, 5_000),
    ],
)
def test_a_run_has_converged_by_accuracy_only_if_it_has_stopped_rising(deploy, converged):
    run = made_run(selection=(0.0,) * len(deploy), deploy=deploy)
    assert convergence.by_accuracy(run.history) == converged


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        (16.74, "16.7", "agree"),
        (16.76, "16.7", "differ"),
        (2.9, "~2", "agree"),
        (3.1, "~2", "differ"),
        (0, "0", "agree"),
    ],
)
def test_agreement_is_judged_by_the_digits_the_paper_prints(ours, theirs, verdict):
    assert judge_printed([ours], theirs) == [verdict]


def test_runs_agree_within_a_point_or_two_standard_errors():
    assert judge_runs([SampleMean(23.1)], "24", True) == ["agree"]
    assert judge_runs([SampleMean(20.0, 1.0)], "24", True) == ["differ"]
    assert judge_runs([SampleMean(20.0, 2.0)], "24", True) == ["agree"]
    assert judge_runs([SampleMean(24.0)], "24", False) == ["not comparable"]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [((0.6, 0.6), "0.6 / 24"), ((0.6, -90.0, 90.0), "+0.6 [+0, +24]"), ((51.0, 1.0), "51.0 / 47.3")],
)
def test_a_cell_is_judged_on_all_its_numbers(ours, theirs):
    verdicts = judge_runs([SampleMean(value) for value in ours], theirs, True)
    assert verdicts[0] == "agree"  # what a flattering judge looks at
    assert "differ" in verdicts and worst(verdicts) == "differ"
    assert judged("", theirs, verdicts).details == ", ".join(verdicts)  # every number's own


def test_a_flat_cell_of_the_paper_claims_its_range_too():
    wild = made_run("hard-st", 2.0, selection=(0.5, -0.3, 0.3, 0.0), deploy=(0.9,) * 4)
    (row,) = tables.trajectories(group_of(wild)).rows
    assert row[2].reference == "+0.0" and row[2].verdict == "differ"


def test_a_late_spike_in_the_selection_gap_table_is_not_hidden_by_a_good_end():
    spiky = made_run("soft-mix", 1.0, selection=(0.0, 0.3, 0.0, 0.0), deploy=(0.9,) * 4)
    (row,) = tables.selection_gap(group_of(spiky)).rows
    assert row[1].text == "0 / 30.0 / 30.0" and row[1].reference == "0.0 / 0.1" and row[1].verdict == "differ"


def test_the_main_temperature_is_near_1_on_a_log_scale_and_never_a_failing_one():
    def group(*taus, failing=()):
        runs = [made_run("gumbel-st", tau, selection=(0.0, -0.4 if tau in failing else 0.0)) for tau in taus]
        return group_of(*runs)

    assert group(0.05, 1.0, 2.0).main_tau == 1.0
    assert group(0.1, 4.0).main_tau == 4.0  # 0.1 is nearer on a linear scale
    assert group(0.5, 8.0, failing=(0.5,)).main_tau == 8.0
    assert group(0.5, 8.0, failing=(0.5, 8.0)).main_tau == 0.5


def test_the_computation_gap_of_each_method_is_a_table_where_inputs_are_continuous():
    runs = [
        made_run(method, 1.0, seed, dataset="mnist", computation=(0.01, gap + seed / 1000))
        for method, gap in (("soft-mix", 0.002), ("hard-st", 0.004))
        for seed in (0, 1)
    ]
    table = extra_tables.computation_gap(group_of(*runs))
    assert texts(table) == {"Soft-Mix": ["0.25 ± 0.07"], "Hard-ST": ["0.45 ± 0.07"]} and "identical" in table.where
    assert extra_tables.computation_gap(group_of(made_run("hard-st"))) is None  # binary inputs have none


def test_training_rows_stand_beside_test_rows():
    run = made_run(
        "soft-mix", 1.0, selection=(0.0, 0.02), deploy=(0.5, 0.9), train_method=(0.5, 0.99), train_deploy=(0.5, 0.95)
    )
    table = extra_tables.training_accuracy(group_of(run))
    assert texts(table) == {"Soft-Mix": ["1", "99.0", "92.0", "95.0", "90.0"]}
    assert extra_tables.training_accuracy(group_of(made_run("soft-mix"))) is None  # a store of 0.1.0


def test_the_same_logits_under_other_passes_are_measured_from_the_argmax_network():
    accuracies = {"argmax": 0.8, "soft-mix": 0.9, "soft-gumbel": 0.95, "hard-st": 0.8, "gumbel-st": 0.7}
    run = made_run("soft-gumbel", 2.0, measurements={f"forward.{name}": a for name, a in accuracies.items()})
    assert texts(extra_tables.other_forwards(group_of(run))) == {
        "Soft-Gumbel": ["2", "+10.0", "+15.0", "+0.0", "-10.0"]
    }


def test_cages_figure_draws_its_own_average_where_a_run_has_told_it():
    def confidences(**rest):
        figure = curves.cage_dynamics(group_of(made_run("hard-st+cage", confidence=(0.3, 0.4), **rest)))
        return [row[3].text for row in figure.data.rows if row[1].text == "confidence"]

    assert confidences(ema=(0.1, 0.2)) == ["0.1000", "0.2000"]
    assert confidences() == ["0.3000", "0.4000"]


def test_gradients_and_commitment_over_training_have_every_layer_in_their_data():
    layers = ([0.1] * 6, [0.01, 0.02, 0.03, 0.04, 0.05, 0.06])
    group = group_of(made_run("soft-mix", 0.05, gradient=layers), made_run("soft-mix", 2.0, gradient=layers))
    figure = training.gradients(group)
    assert [entry.text for entry in figure.data.rows[-1]][3:] == ["0.01", "0.02", "0.03", "0.04", "0.05", "0.06"]
    assert len(figure.data.rows) == 4 and len(training.commitment_over_training(group).data.columns) == 2 + 6
    assert training.gradients(group_of(made_run("soft-mix"))) is None


def test_method_names_are_written_as_in_the_paper():
    names = [method_name(method) for method in printed.ROBUSTNESS]
    assert names == ["Soft-Mix", "Soft-Gumbel", "Hard-ST", "Gumbel-ST", "Hard-ST+CAGE", "Gumbel-ST+CAGE"]
