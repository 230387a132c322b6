"""Descriptions from strangers: endless grids, numbers, names and nesting are one line, before anything is built."""

import pytest
import small_studies
from mutations import MUTATIONS, mutations

import hardwire as hw
from hardwire.study.description import MOST_RUNS, parse

FIFTY = str(list(range(1, 51)))


def refused(text: str) -> str:
    """The one line that refuses a description."""
    with pytest.raises(hw.HardwireError) as error:
        parse(text)
    message = str(error.value)
    assert "\n" not in message and len(message) < 1000
    return message


def test_a_grid_of_fifty_to_the_fifth_runs_is_refused_before_it_is_made():
    text = small_studies.SMALL
    for key in ("taus = [0.5, 2.0]", "depths = [2]", "iterations = [60]", "learning_rates = [0.02]", "seeds = [0]"):
        assert key in text
        text = text.replace(key, f"{key.partition(' ')[0]} = {FIFTY}")
    assert f"{3 * 50**5:,} runs, and a study has at most {MOST_RUNS:,}" in refused(text)


def test_tables_that_cross_to_endless_grids_are_refused():
    numbers = range(1, 400)
    tables = "".join(f"[{key}.{n}]\n" for key in ("depths", "widths", "iterations") for n in numbers)
    lines = [
        line for line in small_studies.SMALL.splitlines() if not line.startswith(("depths", "widths", "iterations"))
    ]
    assert "cross to more than" in refused("\n".join(lines) + "\n" + tables)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("widths = [100]", f"widths = [{'9' * 5000}]"),
        ("widths = [100]", f"widths = [{'9' * 4000}]"),
        ("seeds = [0]", f"seeds = [{2**64}]"),
        ("taus = [0.5, 2.0]", f"taus = [{'9' * 4000}]"),
        ("taus = [0.5, 2.0]", "taus = [nan]"),
        ("taus = [0.5, 2.0]", "taus = [1e999]"),
        ("batch_size = 64", f"batch_size = {'[' * 3000}64{']' * 3000}"),
        ("batch_size = 64", "batch_size = [[[64]]]"),
        ('name = "test"', f'name = "test"\nthreads = {10**30}'),
        ('name = "test"', f'name = "{"n" * 10_000}"'),
        ('name = "test"', 'name = "\\u001b[31mred"'),
        ("[datasets.digits]", '[datasets."a\\u0000b.npz"]'),
        ("[datasets.digits]", f'[datasets."{"d" * 10_000}"]'),
        ("[datasets.digits]", f"[datasets.{'.'.join('a' * 2000)}]"),
        ("[datasets.digits]", f"[datasets.digits]\n[depths.{'9' * 5000}]"),
        ("[datasets.digits]", f"[datasets.digits]\nwiring = 'learned'\ncandidates = {10**9}"),
        ("[datasets.digits]", "[datasets.digits]\n" + "# long\n" * 50_000),
    ],
    ids=range(17),
)
def test_a_value_without_bounds_is_one_line(before, after):
    assert before in small_studies.SMALL
    refused(small_studies.SMALL.replace(before, after))


def test_damaged_descriptions_are_refused_or_are_studies():
    for content in mutations(small_studies.SMALL.encode(), MUTATIONS):
        try:
            assert len(parse(content)) <= MOST_RUNS
        except hw.HardwireError as error:
            assert "\n" not in str(error)
