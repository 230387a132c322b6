"""Tests of pages that take parts of a report."""

import pytest

import hardwire as hw
from hardwire.study.reporting.content import Report, Section
from hardwire.study.reporting.figure import Figure, Margins, draw, legend_below, panels
from hardwire.study.reporting.pages import NOT_RUN, fill, fill_pages
from hardwire.study.reporting.table import TableCell, table

TABLE = table("speeds", "Speeds", ["Ball", "Speed"], [["red", TableCell("1.5", "2", "differ")]], notes=["a rule"])
DRAWN = draw(lambda drawing: panels(drawing, 1)[0].plot([1, 2]), 2, 2)
FIGURE = Figure("course", "Course", "It falls.", "", *DRAWN, TABLE)
REPORT = Report(
    "R", [], [Section("balls", "Balls", [TABLE], [FIGURE], text=["first", "second"], chips=[("1 red", "good")])]
)


def part(name: str) -> str:
    return f"before\n<!-- report: {name} -->\nold\n<!-- report: end -->\nafter\n"


def test_only_what_stands_between_the_comments_is_written_anew_and_twice_is_the_same():
    text, images = fill(part("table speeds"), REPORT)
    assert text.startswith("before\n<!-- report: table speeds -->\n") and text.endswith("<!-- report: end -->\nafter\n")
    assert "| red | 1.5 (reference 2; differ) |" in text and "- a rule" in text and "old" not in text and not images
    assert fill(text, REPORT)[0] == text


def test_a_page_may_take_some_columns_and_name_them_anew():
    text, _ = fill(part("table speeds | Speed, Speed (reference) = Theirs"), REPORT)
    assert "| Speed | Theirs |" in text and "| 1.5 | 2 |" in text and "red" not in text
    with pytest.raises(hw.HardwireError, match="unknown column of speeds 'Sped'"):
        fill(part("table speeds | Sped"), REPORT)


def test_a_figure_is_written_beside_the_page_on_white(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(part("figure course") + part("text balls"))
    assert fill_pages(REPORT, [page]) == [page, tmp_path / "images" / "course.svg"]
    assert "![Course](images/course.svg)" in page.read_text() and "- 1 red\n- first\n- second\n" in page.read_text()
    assert 'fill="#ffffff"' in (tmp_path / "images" / "course.svg").read_text()
    assert fill_pages(REPORT, [page]) == []


def test_what_has_not_been_run_is_said_to_be_missing():
    assert NOT_RUN in fill(part("table none"), REPORT)[0] and NOT_RUN in fill(part("figure none"), REPORT)[0]
    assert NOT_RUN in fill(part("text none"), REPORT)[0]


def test_a_part_that_does_not_end_and_an_unknown_one_are_refused_and_the_page_stays(tmp_path):
    page = tmp_path / "page.md"
    for text, message in (
        ("<!-- report: table speeds -->\n", "begins and does not end"),
        (part("tabel speeds"), "unknown part of a report 'tabel'"),
    ):
        page.write_text(text)
        with pytest.raises(hw.HardwireError, match=message):
            fill_pages(REPORT, [page])
        assert page.read_text() == text
    with pytest.raises(hw.HardwireError, match="cannot read the page"):
        fill_pages(REPORT, [tmp_path / "none.md"])


def test_a_legend_names_every_line_once_and_the_lowest_panel_of_each_column_has_numbers():
    seen = {}

    def paint(drawing):
        axes = panels(drawing, 3, sharex=True)
        for axis, names in zip(axes, (["a"], ["a", "b"], ["b", "c"]), strict=True):
            for name in names:
                axis.plot([1, 2], label=name)
        legend_below(drawing)
        seen["labels"] = [text.get_text() for text in drawing.legends[0].get_texts()]
        seen["numbers"] = [axis.xaxis.get_tick_params()["labelbottom"] for axis in axes]

    svg, _ = draw(paint, 3, 3)
    assert not seen, "nothing is drawn before it is asked for"
    assert svg().startswith("<?xml") and seen == {"labels": ["a", "b", "c"], "numbers": [False, True, True]}


@pytest.mark.parametrize("count", [1, 2, 5])
def test_room_that_is_given_and_not_measured_suffices_for_every_text(count):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Drawing
    from matplotlib.text import Text

    drawing = Drawing(figsize=(7.2, 2.6 * -(-count // 2) + 0.8))
    axes = panels(drawing, count, sharex=True)
    for axis in axes:
        for name in ("Soft-Gumbel", "Gumbel-ST", "Gumbel-ST+CAGE", "Hard-ST"):
            axis.plot([0, 40_000], [-2.25, 50_000], label=name)
        axis.set(title="τ=0.05", xlabel="iteration", ylabel="iterations")
    legend_below(drawing)
    Margins().arrange(drawing)
    FigureCanvasAgg(drawing).draw()
    texts = [text for text in drawing.findobj(Text) if text.get_text() and text.get_visible()]
    texts = [text for text in texts if text not in hidden(axes)]
    boxes = {text: text.get_window_extent() for text in texts}
    for n, (text, box) in enumerate(boxes.items()):
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= drawing.bbox.x1 and box.y1 <= drawing.bbox.y1, text
        assert not any(box.overlaps(other) for other in list(boxes.values())[:n]), text


def hidden(axes):
    """Tick labels beyond the ends of an axis, or of inner panels, which are not drawn."""
    ticks = [tick for axis in axes for side in (axis.xaxis, axis.yaxis) for tick in side.get_major_ticks()]
    return [tick.label1 for tick in ticks if not tick.label1.get_window_extent().width or not inside(tick)]


def inside(tick):
    low, high = sorted(tick.axes.get_xlim() if tick.__name__.startswith("x") else tick.axes.get_ylim())
    return low <= tick.get_loc() <= high
