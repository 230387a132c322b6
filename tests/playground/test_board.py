"""The playground of automata in a real browser: a board that lives as Python has it, and that one can disturb."""

from pathlib import Path

import numpy as np
import pytest
from cells import life, life_cell
from pages import needs_chromium, opened
from typer.testing import CliRunner

import hardwire as hw
from hardwire import cli
from hardwire.circuit import as_cell
from hardwire.circuit.sequential.cell import generations
from hardwire.playground import board_of, write_board

EXAMPLES = Path(__file__).parents[2] / "examples"
browser = pytest.mark.browser


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    cell = hw.Circuit.load(EXAMPLES / "life.circuit")
    return write_board(cell, tmp_path_factory.mktemp("board") / "life.html", title="Life </script>")


def shown_at(path, *size):
    return opened(path.resolve().as_uri(), *size)


def wait(shown):
    shown.page.wait_for_function("window.playground !== undefined")
    return shown.page


def cells(inside, shape):
    return np.array(inside.evaluate("playground.cells"), np.uint8).reshape(shape)


@browser
@needs_chromium
def test_1000_generations_of_256_x_256_cells_equal_those_of_python(page):
    with shown_at(page) as shown:
        inside = wait(shown)
        now = cells(inside, (256, 256))
        assert 0.45 < now.mean() < 0.55  # it begins with random cells
        inside.evaluate("playground.step(1000)")
        for _ in range(1000):
            now = life(now)
        assert inside.evaluate("playground.generation") == 1000
        assert (cells(inside, (256, 256)) == now).all() and now.any()
    assert shown.problems == [] and shown.requests == [page.resolve().as_uri()]


@browser
@needs_chromium
def test_a_board_is_played_paused_stepped_cleared_and_drawn_on(page):
    with shown_at(page) as shown:
        inside = wait(shown)
        inside.click("#play")
        inside.wait_for_function("playground.generation > 3")
        inside.click("#play")
        stopped = inside.evaluate("playground.generation")
        inside.wait_for_timeout(100)
        assert inside.evaluate("playground.generation") == stopped and inside.inner_text("#play") == "Play"
        inside.click("#clear")
        assert not any(inside.evaluate("playground.cells"))
        inside.locator("#size").fill("1")
        box = inside.locator("#board").bounding_box()
        inside.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + box["height"] / 2)
        inside.mouse.down()
        inside.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + box["height"] / 2, steps=2)
        inside.mouse.up()
        drawn = cells(inside, (256, 256))
        assert set(drawn.sum(axis=1).tolist()) <= {0, 128, 129, 130} and drawn.sum() > 120
        inside.click("#step")
        assert (cells(inside, (256, 256)) == life(drawn)).all()
        inside.wait_for_function("document.getElementById('generation').textContent === '1'")
        inside.select_option("#brush", "erase")
        inside.click("#random")
        inside.locator("#size").fill("31")
        inside.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert not cells(inside, (256, 256))[118:138, 118:138].any()
    assert shown.problems == []


@browser
@needs_chromium
def test_a_growing_automaton_starts_from_its_seed_on_a_phone_too(tmp_path):
    automaton = hw.CellularAutomaton((10, 11), channels=3, widths=[20, 10], border="zero", seed=2).eval()
    cell = hw.Circuit.from_automaton(automaton, seed=(1, 1, 0))
    page = write_board(cell, tmp_path / "grown.html")
    with shown_at(page, 390, 844) as shown:
        inside = wait(shown)
        seed = cells(inside, (3, 10, 11))
        assert np.argwhere(seed).tolist() == [[0, 5, 5], [1, 5, 5]]
        inside.evaluate("playground.step(7)")
        assert (cells(inside, (3, 10, 11)) == generations(cell, seed, 7)).all()
        inside.tap("#start")
        assert (cells(inside, (3, 10, 11)) == seed).all()
        assert inside.evaluate("document.documentElement.scrollWidth") <= 390
    assert shown.problems == []


def test_the_command_writes_a_board_for_a_cell_and_for_a_rule(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    as_cell(life_cell()).save("cell.circuit")
    life_cell().save("rule.circuit")
    for given in (["cell.circuit"], ["rule.circuit", "--rule", "--shape", "64x128"]):
        result = CliRunner().invoke(cli.app, ["playground", *given, "-o", "page.html"])
        assert result.exit_code == 0, (result.output, result.exception)
        assert "cells of 41 gates" in result.output
    assert "64 x 128 cells run one circuit of 41 gates" in (tmp_path / "page.html").read_text()


LOOP = hw.Recurrent([hw.LogicLayer(5, 6, seed=0)], 3, 4, seed=0)
WRONG = [
    (["loop.circuit"], "keeps a state and is no cell of an automaton"),
    (["loop.circuit", "--rule"], "is no cell of an automaton"),
    (["wide.circuit", "--rule"], "an odd square of bits, such as 9"),
    (["cell.circuit", "--data", "digits"], "--data is for pages of images"),
    (["cell.circuit", "--shape", "2x9"], "smaller than a neighbourhood of 3 x 3"),
]


@pytest.mark.parametrize(("arguments", "says"), WRONG)
def test_circuits_that_are_neither_are_one_line(arguments, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    as_cell(life_cell()).save("cell.circuit")
    hw.Circuit.from_loop(LOOP.eval()).save("loop.circuit")
    hw.Circuit.from_layers(8, gates=[[6]], wirings=[[[0], [1]]], classes=1).save("wide.circuit")
    result = CliRunner().invoke(cli.app, ["playground", *arguments])
    assert result.exit_code and isinstance(result.exception, hw.HardwireError)
    assert says in str(result.exception) and "\n" not in str(result.exception)


def test_nothing_of_a_title_gets_out_of_its_place():
    assert "<b>" not in board_of(as_cell(life_cell()), title="<b>")
