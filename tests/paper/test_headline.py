"""Tests of the headline, its advice, and of claims that wait for runs, with made-up stores."""

import pytest
import small_studies
from small_studies import made_run

from hardwire import study
from hardwire.selection import METHOD_VARIANTS
from hardwire.study import Outcome
from hardwire.study.description import parse
from hardwire.study.reporting.content import build
from hardwire_paper import printed
from hardwire_paper.groups import group_runs
from hardwire_paper.headline import headline

WIDE = """
name = "wide"
kind = "network"
widths = [64_000]
depths = [4]
iterations = [10_000]
learning_rates = [0.01]
batch_size = 512
evaluate_every = 5_000
seeds = [0]
taus = [0.05, 2.0]
methods = ["soft-mix", "soft-gumbel", "hard-st", "gumbel-st", "hard-st+cage", "gumbel-st+cage"]
datasets = ["mnist-binary"]
"""
TAUS = (0.05, 2.0)
CAGE = ("hard-st+cage", "gumbel-st+cage")
SYSTEMS = 'name = "other"\nkind = "systems"\nseeds = [0]\nruns = ["gdas"]\n'


def store_of(path, methods, deployed=None, gaps=None):
    """A store with the study above, of which these methods have run; deployed: accuracy by (method, tau)."""
    with study.Store(path, create=True) as store:
        for description in (parse(WIDE), parse(SYSTEMS)):
            store.add_description(description, "test")
        for config in (config for config in parse(WIDE) if config["method"] in methods):
            method, tau = config.text("method"), config.number("tau")
            accuracy = (deployed or {}).get((method, tau), 0.97)
            gap = (gaps or {}).get(method, 0.0)
            like = {"depth": 4, "iterations": 10_000, "evaluate_every": 5_000}
            made = small_studies.made_result(method, tau, 0, (gap, gap), (0.5, accuracy), **like)
            store.begin(config.key("test"), config, "test")
            store.finish(config.key("test"), Outcome(made.records, made.measurements, 60.0))
        return build(store)


def section(report):
    return next((section for section in report.sections if section.slug == "headline"), None)


def test_the_headline_has_a_row_for_each_method_that_ran_and_the_papers_beside_it(tmp_path):
    deployed = {("soft-mix", 0.05): 0.95, ("soft-mix", 2.0): 0.96}
    headline = section(store_of(tmp_path / "s.sqlite", ["soft-mix"], deployed, {"soft-mix": 0.02}))
    (row,) = headline.tables[0].rows
    assert [cell.text for cell in row] == [
        "Soft-Mix",
        "0.05, 2",
        "95.0",
        "96.0",
        "+2.0 (τ=0.05)",
        "+2.0 (τ=0.05)",
        "97.2",
    ]
    assert "4 layers, 10,000 iterations, n=1" in headline.tables[0].notes[0]


def test_there_is_no_advice_before_all_six_have_run(tmp_path):
    assert section(store_of(tmp_path / "five.sqlite", list(METHOD_VARIANTS)[:5])).text == []
    assert len(section(store_of(tmp_path / "six.sqlite", METHOD_VARIANTS)).text) == 3


@pytest.mark.parametrize(
    ("worse", "first", "second"),
    [
        ([], "hard-st+cage", "hard-st"),  # all as good: no gap, and no temperature to choose
        ([("hard-st+cage", 2.0)], "gumbel-st+cage", "hard-st"),  # one run of it is worse by more than a point
        ([(m, t) for m in CAGE for t in TAUS], "hard-st", "hard-st+cage"),
        ([(m, t) for m in METHOD_VARIANTS if m != "soft-gumbel" for t in TAUS], "soft-gumbel", "hard-st+cage"),
    ],
)
def test_the_advice_follows_from_the_runs_whatever_the_paper_says(tmp_path, worse, first, second):
    deployed = {("gumbel-st", 0.05): 0.5} | dict.fromkeys(set(worse) - {("gumbel-st", 0.05)}, 0.93)
    lines = section(
        store_of(tmp_path / "s.sqlite", METHOD_VARIANTS, deployed, {"soft-mix": 0.1, "soft-gumbel": 0.3})
    ).text
    assert lines[0].startswith(f"`{first}` when in doubt") and lines[1].startswith(f"`{second}` ")
    assert lines[2].startswith("`gumbel-st` with care: it deployed at 50.0% at τ=0.05") and len(lines) == 3


def test_what_is_far_behind_at_every_temperature_is_advised_against(tmp_path):
    noisy = ("soft-gumbel", "gumbel-st")
    deployed = {(method, tau): 0.6 + tau / 10 for method in noisy for tau in TAUS} | {("hard-st", 0.05): 0.95}
    lines = section(store_of(tmp_path / "s.sqlite", METHOD_VARIANTS, deployed, {"soft-mix": 0.1})).text
    assert lines[2] == "Not `soft-gumbel`, `gumbel-st`, at this length of training: 60.5 to 80.0% deployed."
    assert lines[1].startswith("`soft-mix` to choose a τ yourself") and "as good" not in lines[1]
    far = {(method, tau): 0.9 for method in (*CAGE, *noisy) for tau in TAUS}
    lines = section(store_of(tmp_path / "far.sqlite", METHOD_VARIANTS, far)).text
    assert lines[1].startswith("`hard-st+cage` without choosing τ") and "hard-st+cage" not in lines[2]
    deployed |= {("soft-mix", 0.05): 0.955}  # now within a point of Hard-ST, which has no gap
    lines = section(store_of(tmp_path / "t.sqlite", METHOD_VARIANTS, deployed, {"soft-mix": 0.1})).text
    assert (
        lines[1].startswith("`hard-st` to choose a τ yourself") and "`soft-mix` is as good: 95.5 to 97.0%" in lines[1]
    )


def test_the_largest_gap_late_in_training_counts_by_size(tmp_path):
    headline = section(store_of(tmp_path / "s.sqlite", ["gumbel-st"], gaps={"gumbel-st": -0.3}))
    assert headline.tables[0].rows[0][5].text == "-30.0 (τ=0.05)"


def test_runs_of_another_width_are_no_headline(tmp_path):
    with study.Store(tmp_path / "small.sqlite", create=True) as store:
        small_studies.put(store, small_studies.made_result(width=8_000))
        assert section(build(store)) is None


def test_claims_say_which_study_judged_them_and_that_others_wait(tmp_path):
    report = store_of(tmp_path / "s.sqlite", ["hard-st", "soft-gumbel"], gaps={"soft-gumbel": 0.2})
    (claims,) = [section for section in report.sections if section.slug == "claims"]
    rows = {
        key: [cell.text for cell in row]
        for table in claims.tables
        for key, row in zip(table.ids, table.rows, strict=True)
    }
    judged = rows["hard-below-soft-gumbel"]
    assert judged[-1] == "wide (4 of 12 so far)" and judged[1] == "holds weaker"  # one seed
    assert rows["hard-zero-gap"][-1] == "wide (4 of 12 so far)"
    waiting = rows["systems-sampled"]
    assert waiting[1] == "not tested yet" and waiting[-1] == "–"
    assert rows["table-11"][-1] == "–"  # arithmetic needs no run


def test_the_papers_scale_comes_first_once_it_has_complete_rows_and_shows_no_others():
    short = [made_run(m, tau, depth=4, iterations=10_000) for m in METHOD_VARIANTS for tau in TAUS]
    whole = [made_run("gumbel-st", tau) for tau in printed.TAUS]
    whole += [made_run(name, 1.0) for name in CAGE] + [made_run("hard-st", tau) for tau in TAUS]

    def shown(*runs):
        layers = [group.at(depth) for group in group_runs(runs) for depth in group.depths]
        return [row[0].text for row in headline(layers).tables[0].rows]

    assert shown(*short, *whole) == ["Gumbel-ST", "Hard-ST+CAGE", "Gumbel-ST+CAGE"]
    assert len(shown(*short, *whole[-2:])) == 6
