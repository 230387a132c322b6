"""The published results: the pages that speak of them follow from the stores in results/, and from nothing else."""

from pathlib import Path

import pytest

from hardwire import study
from hardwire.study.reporting import build
from hardwire.study.reporting.pages import fill

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
PAGES = [ROOT / "docs" / name for name in ("findings.md", "findings-claims.md", "systems.md")]
AGAIN = "run `make findings` and commit what it writes"


@pytest.fixture(scope="module")
def report():
    with study.Store(RESULTS) as store:
        return build(store)


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_the_page_says_what_the_stores_say(report, page):
    text, images = fill(page.read_text(encoding="utf-8"), report)
    assert "<!-- report: " in text and text == page.read_text(encoding="utf-8"), AGAIN
    for name, svg in images.items():
        assert (page.parent / name).read_text(encoding="utf-8") == svg, AGAIN


def test_a_page_that_was_changed_by_hand_is_recognised(report):
    text = PAGES[0].read_text(encoding="utf-8")
    changed = text.replace("| Study | Runs |", "| Study | Ran |")
    assert changed != text and fill(changed, report)[0] == text


def test_every_published_run_belongs_to_the_study_beside_it():
    stores = sorted(RESULTS.glob("*.sqlite"))
    assert stores
    for path in (path for path in stores if path.with_suffix(".toml").exists()):
        wanted = {config.identity for config in study.describe(path.with_suffix(".toml"))}
        with study.Store(path) as store:
            runs = store.finished()
        assert runs and {run.config.identity for run in runs} <= wanted
        assert all(run.records and run.code for run in runs)


def test_the_results_are_small_enough_to_be_kept_with_the_code():
    kept = [path for path in RESULTS.rglob("*") if path.suffix in (".toml", ".sqlite", ".md", ".csv", ".svg")]
    assert sum(path.stat().st_size for path in kept if not path.name.startswith("grid")) < 20e6
