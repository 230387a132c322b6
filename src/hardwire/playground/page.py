"""Filling in the page: the circuit and what the picture of it needs, as text inside one HTML file."""

import base64
import json
import math
import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit import Circuit
from hardwire.circuit.formats.c import CODE_GATES
from hardwire.circuit.formats.wasm import to_javascript, to_wasm
from hardwire.circuit.reading import Reading, reading_of
from hardwire.errors import HardwireError, whole_number
from hardwire.files import write_whole
from hardwire.gates import GATES

SCRIPTS = ("netlist.js", "picture.js", "noise.js", "drawing.js", "page.js")  # each builds on those before it
SAMPLES = 30  # images offered to start from
TYPICAL = 300  # images whose place and size a drawing is brought to


def write_page(
    circuit: Circuit,
    path: str | os.PathLike[str],
    *,
    shape: Sequence[int] | None = None,
    samples: npt.ArrayLike | None = None,
    title: str | None = None,
) -> Path:
    """Writes the page of `circuit` to `path`; see `page_of`."""
    path = Path(path).expanduser()
    write_whole(path, page_of(circuit, shape=shape, samples=samples, title=title))
    return path


def page_of(
    circuit: Circuit,
    *,
    shape: Sequence[int] | None = None,
    samples: npt.ArrayLike | None = None,
    title: str | None = None,
) -> str:
    """The page as text. shape: (height, width) of an image, a square if not given; samples: raw images [n, values] to
    start from; title: the heading."""
    from jinja2 import Environment, StrictUndefined

    height, width, maximum = check_drawable(circuit, shape)
    reading = reading_of(circuit)
    ink = _ink(samples, reading.count, maximum)
    form = "code" if len(circuit.netlist.gate) <= CODE_GATES else "tables"
    facts = {
        "height": height,
        "width": width,
        "maximum": maximum,
        "whole": reading.kind != "floats",
        "accuracy": circuit.about.accuracy,
        "wasm": _text(np.frombuffer(to_wasm(circuit, reading, form, simd=True), np.uint8)),
        "samples": _text(ink[:SAMPLES]),
        "fit": _fit(ink.reshape(-1, height, width)),
        **_netlist(circuit, reading),
    }
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    return environment.from_string(_file("page.html")).render(
        title=title or "hardwire playground",
        style=_file("page.css"),
        module=_inside_script(to_javascript(circuit, reading, "circuit.wasm")),
        facts=_inside_script(json.dumps(facts)),
        scripts=[_file(name) for name in SCRIPTS],
    )


def _netlist(circuit: Circuit, reading: Reading) -> dict[str, Any]:
    """What the picture of the gates is drawn from."""
    netlist = circuit.netlist
    names = circuit.columns.labels if circuit.columns is not None and circuit.columns.labels else None
    return {
        "classes": [str(name) for name in names or range(circuit.classes)],
        "inputs": circuit.inputs,
        "levels": circuit.inputs // reading.count,
        "gate": _text(netlist.gate.astype(np.uint8)),
        "first": _text(netlist.first.astype("<i4")),
        "second": _text(netlist.second.astype("<i4")),
        "outputs": _text(netlist.outputs.astype("<i4")),
        "thresholds": None if reading.thresholds is None else _text(reading.thresholds.astype("<f4")),
        "gates": [{"name": gate.name, "true": gate.truth_table} for gate in GATES],
    }


def check_drawable(circuit: Circuit, shape: Sequence[int] | None = None) -> tuple[int, int, float]:
    """(height, width, the raw value of full ink) of the images that the circuit reads; refused where they are none."""
    if circuit.number is not None:
        raise HardwireError("this circuit gives a number, and the playground shows classes; use a classifier of images")
    if circuit.encoder is None:
        return *_shape(circuit.inputs, shape), 1
    if circuit.encoder.maximum is None:
        raise HardwireError(
            "this circuit reads measurements, not images that one could draw; use a model of images, such as mnist"
        )
    return *_shape(circuit.encoder.raw_features, shape), circuit.encoder.maximum


def _shape(values: int, shape: Sequence[int] | None) -> tuple[int, int]:
    if shape is None:
        side = math.isqrt(values)
        if side * side != values:
            raise HardwireError(f"{values} values are no square image; say its shape, (height, width)")
        return side, side
    if len(shape) != 2 or math.prod(shape) != values:
        raise HardwireError(
            f"shape {tuple(shape)} is not (height, width) of {values} values; the playground draws images of one colour"
        )
    return whole_number("height", shape[0]), whole_number("width", shape[1])


def _ink(samples: npt.ArrayLike | None, values: int, maximum: float) -> npt.NDArray[np.uint8]:
    """Images as ink of 0 to 255."""
    if samples is None:
        return np.empty((0, values), np.uint8)
    images = np.asarray(samples)
    if images.ndim != 2 or images.shape[1] != values:
        raise HardwireError(f"samples are raw images [n, {values}], not an array of shape {list(images.shape)}")
    return np.rint(images[:TYPICAL].astype(np.float64) * (255 / maximum)).clip(0, 255).astype(np.uint8)


def _fit(images: npt.NDArray[np.uint8]) -> dict[str, float] | None:
    """Where the images [n, height, width] have their centre of mass and how long their longer side is, a part of the
    whole: medians."""
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
    """Text that cannot end the script it stands in, whatever the names of a model and its classes are."""
    return text.replace("</", "<\\/").replace("<!", "<\\u0021")


def _file(name: str) -> str:
    return resources.files("hardwire.playground").joinpath(name).read_text(encoding="utf-8")
