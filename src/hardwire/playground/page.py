"""Fills in the page: the circuit and what its picture needs, as text inside one HTML file."""

import base64
import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

import numpy as np
import numpy.typing as npt

from hardwire.circuit import Circuit
from hardwire.circuit.formats.c import CODE_GATES
from hardwire.circuit.formats.wasm import to_javascript, to_wasm
from hardwire.circuit.input_format import InputFormat, input_format_of
from hardwire.errors import HardwireError, whole_number
from hardwire.files import write_together
from hardwire.gates import GATES
from hardwire.playground.parts import part, rendered
from hardwire.playground.share import share_picture

SCRIPTS = (
    "netlist.js",
    "picture.js",
    "noise.js",
    "drawing.js",
    "share.js",
    "page.js",
)  # each builds on those before it
SAMPLES = 30  # images offered to start from
TYPICAL = 300  # images whose position and size a drawing is adjusted to


def write_page(
    circuit: Circuit,
    path: str | os.PathLike[str],
    *,
    shape: Sequence[int] | None = None,
    samples: npt.ArrayLike | None = None,
    title: str | None = None,
    home: str | None = None,
    url: str | None = None,
) -> Path:
    """Writes a web page on which one draws an image and watches the circuit decide.

    Args:
        circuit: A classifier of grey-scale images.
        path: The page to write.
        shape: (height, width) of an image; a square by default.
        samples: Raw images [n, values] to start from.
        title: The heading.
        home: Address that the page links to as its home.
        url: Address at which the page will be published. A picture for those who share it is then written beside it.

    Returns:
        The path of the page.

    Raises:
        HardwireError: If the circuit does not read images, or does not choose a class.

    Example:
        >>> hw.playground.write_page(circuit, "digits.html", samples=data.raw("test"))  # doctest: +SKIP
        PosixPath('digits.html')
    """
    path = Path(path).expanduser()
    files: dict[Path, str | bytes] = {}
    address = None
    if url is not None and samples is not None:
        picture = path.with_suffix(".png")
        address = urljoin(url, quote(picture.name))
        files[picture] = picture_of(circuit, shape=shape, samples=samples)
    files[path] = page_of(circuit, shape=shape, samples=samples, title=title, home=home, picture=address)
    write_together(files)
    return path


def page_of(
    circuit: Circuit,
    *,
    shape: Sequence[int] | None = None,
    samples: npt.ArrayLike | None = None,
    title: str | None = None,
    home: str | None = None,
    picture: str | None = None,
) -> str:
    """Returns the page as text.

    Args:
        circuit: As for `write_page`.
        shape: As for `write_page`.
        samples: As for `write_page`.
        title: As for `write_page`.
        home: As for `write_page`.
        picture: Address of the picture that stands for the page where its address is shared; see `picture_of`.

    Example:
        >>> html = hw.playground.page_of(circuit, title="Digits")  # doctest: +SKIP
    """
    circuit = circuit.as_gates()  # what the page runs and draws
    height, width, maximum = check_drawable(circuit, shape)
    input_format = input_format_of(circuit)
    ink = _ink(samples, input_format.count, maximum)
    form = "code" if circuit.gates.size <= CODE_GATES else "tables"
    wasm = to_wasm(circuit, input_format, form, simd=True)
    heading = title or "hardwire playground"
    facts = {
        "height": height,
        "width": width,
        "maximum": maximum,
        "whole": input_format.kind != "floats",
        "title": heading,
        "facts": _facts(circuit, len(wasm)),
        "wasm": _text(np.frombuffer(wasm, np.uint8)),
        "samples": _text(ink[:SAMPLES]),
        "fit": _fit(ink.reshape(-1, height, width)),
        **_netlist(circuit, input_format),
    }
    return rendered(
        "page.html",
        title=heading,
        description=f"A circuit of {facts['facts']}. Draw, and it decides as you draw.",
        home=home,
        picture=picture,
        module=_inside_script(to_javascript(circuit, input_format, "circuit.wasm")),
        facts=_inside_script(json.dumps(facts)),
        scripts=[part(name) for name in SCRIPTS],
    )


def picture_of(circuit: Circuit, *, samples: npt.ArrayLike, shape: Sequence[int] | None = None) -> bytes:
    """Returns a PNG picture for a page: the first sample, the gates that fire, and the votes."""
    height, width, maximum = check_drawable(circuit, shape)
    input_format = input_format_of(circuit)
    ink = _ink(samples, input_format.count, maximum)[0]
    bits = input_format.bits(input_format.rows(circuit, np.asarray(samples)[:1]))[0]
    return share_picture(circuit, bits, ink.reshape(height, width))


def _facts(circuit: Circuit, wasm_bytes: int) -> str:
    """Describes the circuit in words."""
    numbers = circuit.statistics()
    facts = [f"{numbers.gates:,} gates in {numbers.depth} levels", f"{-(-wasm_bytes // 1024):,} KB of WebAssembly"]
    accuracy = circuit.provenance.accuracy
    if accuracy is not None:
        facts.append(f"{100 * accuracy:.1f}% of the test images right")
    return ", ".join(facts)


def _netlist(circuit: Circuit, input_format: InputFormat) -> dict[str, Any]:
    """Returns what the picture of the gates is drawn from."""
    netlist = circuit.gates
    names = circuit.columns.labels if circuit.columns is not None and circuit.columns.labels else None
    return {
        "classes": [str(name) for name in names or range(circuit.classes)],
        "inputs": circuit.inputs,
        "levels": circuit.inputs // input_format.count,
        "gate": _text(netlist.gate.astype(np.uint8)),
        "first": _text(netlist.first.astype("<i4")),
        "second": _text(netlist.second.astype("<i4")),
        "outputs": _text(netlist.outputs.astype("<i4")),
        "thresholds": None if input_format.thresholds is None else _text(input_format.thresholds.astype("<f4")),
        "gates": [{"name": gate.name, "true": gate.truth_table} for gate in GATES],
    }


def check_drawable(circuit: Circuit, shape: Sequence[int] | None = None) -> tuple[int, int, float]:
    """Checks that a circuit reads images that can be drawn.

    Returns:
        Height and width of an image, and the raw value of full ink.

    Raises:
        HardwireError: If it reads something else.
    """
    if circuit.state is not None:
        raise HardwireError(
            "this circuit keeps a state and is no cell of an automaton; the playground shows classifiers of images "
            "and automata: hw.Circuit.from_automaton"
        )
    if circuit.number is not None:
        raise HardwireError(
            "this circuit predicts a number, and the playground shows classes; use a classifier of images"
        )
    if circuit.encoder is None:
        return *_shape(circuit.inputs, shape), 1
    if circuit.encoder.maximum is None:
        raise HardwireError("this circuit reads measurements, not images; use a model of images, such as mnist")
    return *_shape(circuit.encoder.raw_features, shape), circuit.encoder.maximum


def _shape(values: int, shape: Sequence[int] | None) -> tuple[int, int]:
    if shape is None:
        side = math.isqrt(values)
        if side * side != values:
            raise HardwireError(f"{values} values are not a square image; give its shape, (height, width)")
        return side, side
    if len(shape) != 2 or math.prod(shape) != values:
        raise HardwireError(
            f"shape {tuple(shape)} is not (height, width) of {values} values; the playground draws images of one colour"
        )
    return whole_number("height", shape[0]), whole_number("width", shape[1])


def _ink(samples: npt.ArrayLike | None, values: int, maximum: float) -> npt.NDArray[np.uint8]:
    """Returns images as ink of 0 to 255."""
    if samples is None:
        return np.empty((0, values), np.uint8)
    images = np.asarray(samples)
    if images.ndim != 2 or images.shape[1] != values:
        raise HardwireError(f"samples are raw images [n, {values}], not an array of shape {list(images.shape)}")
    return np.rint(images[:TYPICAL].astype(np.float64) * (255 / maximum)).clip(0, 255).astype(np.uint8)


def _fit(images: npt.NDArray[np.uint8]) -> dict[str, float] | None:
    """Returns the median centre of mass of images [n, height, width], and the median length of the longer side of their
    ink, as a share of the image."""
    images = images[images.any(axis=(1, 2))]
    if not len(images):
        return None
    _, height, width = images.shape
    mass = images.sum(axis=(1, 2), dtype=np.float64)
    inked = images >= 64
    sides = [np.ptp(np.argwhere(image), axis=0) + 1 for image in inked if image.any()]
    return {
        "x": float(np.median(images.sum(axis=1) @ np.arange(width) / mass)),
        "y": float(np.median(images.sum(axis=2) @ np.arange(height) / mass)),
        "extent": float(np.median([max(high / height, wide / width) for high, wide in sides] or [1])),
    }


def _text(array: npt.NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def _inside_script(text: str) -> str:
    """Makes text safe inside a script element, whatever the names of a model and its classes are."""
    return text.replace("</", "<\\/").replace("<!", "<\\u0021")
