"""The playground in a real browser: it says what the circuit says, asks for nothing and does not complain."""

import os
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from circuit_oracle import random_circuit
from pages import needs_chromium, opened
from small_runs import digits
from typer.testing import CliRunner

import hardwire as hw
from hardwire import cli
from hardwire.bits import Columns
from hardwire.playground import page_of, write_page
from hardwire.playground.share import LIT
from hardwire.zoo import load_circuit

ASSETS = Path(__file__).parents[2] / "docs" / "assets" / "playground"
SHOW_ALL = "images => images.map(image => { playground.show(image); return playground.state.label; })"
NEXT_FRAME = "new Promise(requestAnimationFrame)"  # in which the page follows what is drawn

browser = pytest.mark.browser


@pytest.fixture(scope="module")
def mnist():
    """The circuit of the site, and the first 200 test images."""
    return load_circuit("mnist-8k"), np.load(ASSETS / "mnist-200.npz")["x"]


@pytest.fixture(scope="module")
def page(mnist, tmp_path_factory):
    circuit, images = mnist
    return write_page(circuit, tmp_path_factory.mktemp("page") / "mnist.html", samples=images)


def ready(path, *size):
    """The page as `opened` gives it, when its circuit is there."""
    return opened(Path(path).resolve().as_uri(), *size)


def wait(shown):
    shown.page.wait_for_function("window.playground !== undefined")
    return shown.page


def draw(page, *points):
    """A stroke of the mouse through points of the unit square."""
    box = page.locator("#paper").bounding_box()
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in points]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=4)
    page.mouse.up()
    page.evaluate(NEXT_FRAME)


def test_the_page_of_a_trained_mnist_network_is_below_a_megabyte(mnist, page):
    assert page.stat().st_size < 1_000_000
    assert mnist[0].provenance.accuracy > 0.96


@browser
@needs_chromium
def test_200_test_images_get_the_class_that_the_circuit_gives_without_a_complaint_or_a_request(mnist, page):
    circuit, images = mnist
    with ready(page) as shown:
        labels = wait(shown).evaluate(SHOW_ALL, images.tolist())
    assert labels == circuit.predict(images, raw=True).tolist() and len(labels) == 200
    assert shown.problems == [] and shown.requests == [page.resolve().as_uri()]


@browser
@needs_chromium
def test_what_is_drawn_by_hand_is_classified_as_the_circuit_would(mnist, page):
    circuit, _ = mnist
    with ready(page) as shown:
        for points in ([(0.5, 0.1), (0.5, 0.9)], [(0.2, 0.15), (0.8, 0.15), (0.45, 0.9)]):
            wait(shown).click("#clear")
            shown.page.evaluate(NEXT_FRAME)
            assert shown.page.inner_text("#class") == "–"
            draw(shown.page, *points)
            raw = np.array(shown.page.evaluate("Array.from(playground.state.raw)"), np.uint8)
            said = shown.page.evaluate("playground.state")
            assert raw.any() and said["label"] == circuit.predict(raw[None], raw=True)[0]
            assert list(said["scores"]) == circuit.scores(raw[None], raw=True)[0].tolist()
        assert shown.page.inner_text("#class") == "7"
    assert shown.problems == []


@browser
@needs_chromium
def test_on_a_phone_one_draws_with_a_finger_and_nothing_is_wider_than_the_screen(page):
    with ready(page, 390, 844) as shown:
        wait(shown).tap("#clear")
        box = shown.page.locator("#paper").bounding_box()
        shown.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        shown.page.evaluate(NEXT_FRAME)
        assert shown.page.evaluate("playground.paper.ink.some(value => value > 0.9)")
        assert shown.page.inner_text("#class") != "–"
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert shown.problems == []


@browser
@needs_chromium
def test_noise_is_voted_on_and_the_gates_can_be_zoomed_and_named(page):
    with ready(page) as shown:
        inside = wait(shown)
        inside.locator("#flips").fill("20")
        assert "of 128 noisy copies" in inside.inner_text("#verdict") and "20%" in inside.inner_text("#flips-value")
        assert "gates; " in inside.inner_text("#cone") and "ns for one image" in inside.inner_text("#speed")
        before = inside.locator("#picture").screenshot()
        inside.click("#closer")
        assert inside.locator("#picture").screenshot() != before
        box = inside.locator("#picture").bounding_box()
        said = set()
        for x in np.linspace(0.05, 0.95, 60):  # across the picture, over pixels and gates
            inside.mouse.move(box["x"] + x * box["width"], box["y"] + box["height"] / 2)
            said.add(inside.inner_text("#gate").split()[0])
        assert {"gate", "pixel"} <= said
    assert shown.problems == []


@browser
@needs_chromium
@pytest.mark.parametrize("kind", ["bits", "bytes", "floats", "a loop over tables"])
def test_circuits_of_every_kind_of_image_agree_with_their_page(kind, tmp_path, monkeypatch):
    if kind == "a loop over tables":
        monkeypatch.setattr("hardwire.playground.page.CODE_GATES", 0)
    encoder = {"bytes": hw.Encoder.uniform(12, 3, 16, "bytes"), "floats": hw.Encoder.uniform(12, 2, 1.0)}.get(kind)
    inputs = encoder.features if encoder else 12
    circuit = random_circuit(4, inputs=inputs, classes=3, group=7, layers=3, encoder=encoder)
    full = encoder.maximum if encoder else 1
    ink = np.random.default_rng(0).integers(0, 2, (40, 12)) * 255
    path = write_page(circuit, tmp_path / "page.html", shape=(3, 4))
    with ready(path) as shown:
        labels = wait(shown).evaluate(SHOW_ALL, ink.tolist())
    raw = (ink / 255 * full).astype(np.float32 if kind == "floats" else np.uint8)
    assert labels == circuit.predict(raw, raw=encoder is not None).tolist() and len(set(labels)) > 1
    assert shown.problems == []


@browser
@needs_chromium
def test_names_of_classes_cannot_break_out_of_the_page(tmp_path):
    from dataclasses import replace

    labels = ("</script><script>alert(1)</script>", "<!--<b>", "{{ 7 }} & \"quotes'")
    circuit = replace(random_circuit(4, inputs=9, classes=3, group=7), columns=Columns((), {}, None, labels))
    path = write_page(circuit, tmp_path / "page.html", title="<i>a & b</i>")
    with ready(path) as shown:
        assert wait(shown).locator(".bar .name").all_inner_texts() == list(labels)
        assert shown.page.inner_text("h1") == "<i>a & b</i>"
    assert shown.problems == []


@browser
@needs_chromium
def test_a_drawing_is_saved_as_a_picture_of_what_is_shown(mnist, page, tmp_path):
    with ready(page) as shown:
        with wait(shown).expect_download() as download:
            shown.page.click("#save")
        download.value.save_as(tmp_path / "saved.png")
        assert download.value.suggested_filename == f"drawing-{shown.page.inner_text('#class')}.png"
    pixels = matplotlib.image.imread(tmp_path / "saved.png")
    assert pixels.shape[:2] == (630, 1200)
    ink = np.load(ASSETS / "mnist-200.npz")["x"][0].reshape(28, 28)
    middles = (50 + (np.arange(28) + 0.5) * 450 / 28).astype(int)  # of the pixels of the drawing
    assert np.array_equal(np.rint(pixels[middles][:, middles, 0] * 255), ink)
    assert shown.problems == []


def test_a_published_page_has_a_home_and_a_picture_for_those_who_share_it(mnist, tmp_path):
    circuit, images = mnist
    home, url = "https://example.org/?a=1&b=2", "https://example.org/live/mnist.html"
    write_page(circuit, tmp_path / "my page.html", samples=images, title='"7"', home=home, url=url)
    text = (tmp_path / "my page.html").read_text()
    assert '<meta property="og:image" content="https://example.org/live/my%20page.png">' in text
    assert '<meta property="og:title" content="&#34;7&#34;">' in text
    assert text.count('href="https://example.org/?a=1&amp;b=2"') == 2
    assert f'og:description" content="A circuit of {circuit.statistics().gates:,} gates in ' in text
    picture = matplotlib.image.imread(tmp_path / "my page.png")
    assert picture.shape == (630, 1200, 3)
    fires = np.isclose(picture[80:550, 945:1140], np.array(LIT) / 255, atol=0.01).all(axis=2).any(axis=1)
    middle = int((circuit.predict(images[:1], raw=True)[0] + 0.5) * 47)  # of the bar of the winner
    assert fires[middle] and not fires[middle - 47] and not fires[middle + 47]


def test_a_page_for_oneself_is_one_file_without_links(mnist, page):
    text = page.read_text()
    assert "og:image" not in text and "<a " not in text.partition("<script")[0]
    assert os.listdir(page.parent) == [page.name]


def test_what_one_cannot_draw_is_refused_with_the_reason():
    table = random_circuit(1, inputs=8, classes=2, encoder=hw.Encoder(np.ones((4, 2), np.float32)))
    with pytest.raises(hw.HardwireError, match="reads measurements, not images"):
        page_of(table)
    with pytest.raises(hw.HardwireError, match="8 values are not a square image; give its shape"):
        page_of(random_circuit(1, inputs=8, classes=2))
    with pytest.raises(hw.HardwireError, match=r"shape \(3, 3\) is not \(height, width\) of 8 values"):
        page_of(random_circuit(1, inputs=8, classes=2), shape=(3, 3))
    with pytest.raises(hw.HardwireError, match=r"samples are raw images \[n, 9\]"):
        page_of(random_circuit(1, inputs=9, classes=2), samples=np.zeros(9))


def test_the_command_writes_the_page_of_a_model_with_images_of_its_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = digits()
    net = hw.LogicNetwork(data.inputs, data.classes, width=100, depth=1, seed=0, encoder=data.encoder)
    hw.save(net, "model")
    result = CliRunner().invoke(cli.app, ["playground", "model", "--data", "digits", "-o", "page.html"])
    assert result.exit_code == 0, (result.output, result.exception)
    assert "wrote page.html" in result.output and "open it in a browser" in result.output
    text = Path("page.html").read_text()
    assert '"width": 8' in text and '"samples": ""' not in text
    with pytest.raises(SystemExit):
        cli.main(["playground", "model", "--shape", "8"])
