"""The smoke study from the command line, its report, and the page in a real browser."""

import csv
import re

import pytest
import small_studies
from browser import CHROMIUM, Browser
from typer.testing import CliRunner

import hardwire as hw
from hardwire import study
from hardwire.cli.study import app
from hardwire.study.analysis.table import Entry, table
from hardwire.study.reporting.content import build
from hardwire.study.reporting.markdown import to_markdown
from hardwire.systems.experiments import run_all

KINDS_OF_TABLE = {  # every table of the paper that comes from runs or arithmetic
    "settings",
    "selection-gap",
    "factorial",
    "convergence-gap",
    "convergence-accuracy",
    "significance",
    "gap-trajectory",
    "robustness",
    "cross-dataset",
    "significance-by-dataset",
    "theory",
    "computation-gap",
    "computation-gap-all-gates",
    "pixels",
    "gates",
}
KINDS_OF_FIGURE = {"gap-over-training", "accuracy-tau", "convergence", "commitment", "cage", "gate-usage", "heatmap"}


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """The store and the report folder of the smoke study, made as a user would."""
    folder = tmp_path_factory.mktemp("smoke")
    store, report = folder / "smoke.sqlite", folder / "report"
    assert CliRunner().invoke(app, ["init", str(folder / "smoke.toml")]).exit_code == 0
    process = small_studies.start(["run", "smoke.toml"], folder)
    output, _ = process.communicate()
    assert process.returncode == 0, output
    assert CliRunner().invoke(app, ["report", str(store), "-o", str(report)]).exit_code == 0
    return store, report


@pytest.fixture(scope="module")
def content(smoke):
    with study.Store(smoke[0]) as opened:
        return build(opened)


def test_the_smoke_study_ends_with_all_its_runs_and_a_whole_report(smoke, content):
    store, report = smoke
    with study.Store(store) as opened:
        assert len(opened.finished()) == 24 and not opened.failures()
    assert {_kind(table.slug) for table in content.tables} == KINDS_OF_TABLE
    assert {_kind(figure.slug) for figure in content.figures} == KINDS_OF_FIGURE
    for found in [*content.tables, *(figure.data for figure in content.figures)]:
        with open(report / "tables" / f"{found.slug}.csv", newline="") as file:
            assert len(list(csv.reader(file))) == len(found.rows) + 1 > 1
    for figure in content.figures:
        assert (report / "figures" / f"{figure.slug}.svg").read_text().rstrip().endswith("</svg>")
        assert (report / "figures" / f"{figure.slug}.png").read_bytes().startswith(b"\x89PNG")


def test_each_table_of_runs_says_its_scale_beside_the_papers(content):
    for part in [*content.tables, *content.figures]:
        if "digits" in part.slug:
            assert "width 300" in part.ours and "2 seeds" in part.ours and "width 64,000" in part.theirs


def test_hard_st_has_zero_gap_and_every_node_bound_holds(content):
    (claims,) = (table for table in content.tables if table.slug == "theory")
    verdicts = {(row[0].text, row[4].text.split(",")[0]): row[1].text for row in claims.rows}
    assert all(verdict == "agree" for (statement, _), verdict in verdicts.items() if statement.startswith("Node gap"))
    assert verdicts["Hard-ST has zero selection gap at any τ", "Hard-ST"] == "agree"
    assert all(verdict == "agree" for (statement, _), verdict in verdicts.items() if statement.startswith("∂L"))


def test_markdown_has_every_table_and_figure(smoke, content):
    text = (smoke[1] / "report.md").read_text()
    assert text == to_markdown(content)
    assert all(f"### {part.title}" in text for part in [*content.tables, *content.figures])
    for part in re.findall(r"^\|.*\|$", text, re.MULTILINE):
        assert part.count("|") > 2


def test_the_page_fetches_nothing(smoke):
    page = (smoke[1] / "index.html").read_text()
    addresses = re.findall(r"""(?:src|href)=["']([^"']*)""", page) + re.findall(r"url\(([^)]*)", page)
    assert addresses and all(address.startswith(("#", "data:")) for address in addresses)


def test_no_two_elements_of_the_page_share_a_name_and_every_link_leads_somewhere(smoke):
    page = (smoke[1] / "index.html").read_text()
    names = re.findall(r'\bid="([^"]+)"', page)
    assert len(names) == len(set(names))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(names)


def test_results_of_choices_beyond_gates_become_a_section_with_table_and_figure(smoke, tmp_path):
    run_all(tmp_path / "domains", [0, 1], ["darts", "search-hard-st"], iterations=2)
    arguments = ["report", str(smoke[0]), "-o", str(tmp_path / "report"), "--domains", str(tmp_path / "domains")]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    with open(tmp_path / "report/tables/domains.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["expected"] for row in rows] == ["gap", "none"]
    assert rows[1]["holds"] == "yes"
    page = (tmp_path / "report/index.html").read_text()
    names = re.findall(r'\bid="([^"]+)"', page)
    assert "domains" in names and "domains-gaps-data" in names and len(names) == len(set(names))
    assert (tmp_path / "report/figures/domains-gaps.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)], ids=["desktop-light", "phone-dark"])
def test_the_page_renders_in_a_browser_with_its_rows_and_no_errors(smoke, content, width, dark):
    with Browser(width, dark=dark) as browser:
        browser.open((smoke[1] / "index.html").as_uri())
        assert browser.run("document.documentElement.dataset.ready") == "yes"
        assert browser.problems == []
        assert all(address.startswith(("file:", "data:")) for address in browser.requests)
        assert browser.run("document.documentElement.scrollWidth") <= width  # only tables scroll sideways
        for found in [*content.tables, *(figure.data for figure in content.figures)]:
            rows = browser.run(f"document.getElementById({found.slug!r}).tBodies[0].rows.length")
            assert rows == len(found.rows)
        drawings = browser.run(
            "[...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect().height)"
        )
        assert len(drawings) == len(content.figures) and min(drawings) > 100
        colour = browser.run("getComputedStyle(document.body).backgroundColor")
        assert colour == ("rgb(13, 17, 23)" if dark else "rgb(255, 255, 255)")
        assert len(browser.picture()) > 10_000


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_click_on_a_heading_sorts_and_the_data_of_a_figure_is_one_click_away(smoke):
    with Browser() as browser:
        browser.open((smoke[1] / "index.html").as_uri())
        column = "[...document.getElementById('gates').tBodies[0].rows].map(r => r.cells[0].textContent)"
        click = "document.querySelector('#gates th button').click()"
        browser.run(click)
        assert browser.run(column) == [str(index) for index in range(16)]
        browser.run(click)
        assert browser.run(column) == [str(index) for index in reversed(range(16))]
        visible = "document.querySelector('details table').checkVisibility()"
        assert browser.run(visible) is False
        browser.run("document.querySelector('details summary').click()")
        assert browser.run(visible) is True


def test_a_report_of_a_store_without_results_says_so(tmp_path):
    with study.Store(tmp_path / "empty.sqlite", create=True):
        pass
    with pytest.raises(hw.HardwireError, match="has no finished run yet"):
        study.report(tmp_path / "empty.sqlite", tmp_path / "report")


def test_text_from_a_store_cannot_become_markup(tmp_path):
    description = small_studies.small(methods=["hard-st"], taus=[1.0], iterations=[4])
    small_studies.conduct_here(description, tmp_path / "study.sqlite")
    with study.Store(tmp_path / "study.sqlite") as store:
        config = next(iter(small_studies.small()))
        store.begin("bad", config, "test")
        store.fail("bad", "<script>alert(1)</script>")
    page = study.report(tmp_path / "study.sqlite", tmp_path / "report").read_text()
    assert "&lt;script&gt;alert(1)" in page and "<script>alert" not in page


def test_csv_gives_the_papers_figures_columns_of_their_own():
    made = table("t", "T", ["A", "B"], [["x", Entry("1", "2", "differ")], ["y", "3"]])
    assert made.flat() == (["A", "B", "B (paper)", "B (verdict)"], [["x", "1", "2", "differ"], ["y", "3", "", ""]])


def _kind(slug: str) -> str:
    return re.sub(r"-digits-.*", "", slug)
