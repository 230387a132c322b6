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
from hardwire.circuit.formats.wasm import to_javascript, to_wasm
from hardwire.circuit.reading import Reading, reading_of
from hardwire.errors import HardwireError, whole_number
from hardwire.files import write_whole
from hardwire.gates import GATES

SCRIPTS = ("netlist.js", "picture.js", "noise.js", "drawing.js", "page.js")  # in the order in which they build on each other
SAMPLES = 30  # images offered to start from
TABLE_GATES = 30_000  # a larger circuit is a loop over tables, which a browser compiles at once


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

    reading = reading_of(circuit, None, None)
    maximum = _maximum(circuit, reading)
    height, width = _shape(reading.count, shape)
    form = "code" if len(circuit.netlist.gate) <= TABLE_GATES else "tables"
    facts = {
        "height": height,
        "width": width,
        "maximum": maximum,
        "whole": reading.kind != "floats",
        "wasm": _text(np.frombuffer(to_wasm(circuit, reading, form, simd=True), np.uint8)),
        "samples": _text(_ink(samples, reading.count, maximum)),
        **_netlist(circuit, reading),
    }
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    return environment.from_string(_file("page.html")).render(
        title=title or "hardwire playground",
        style=_file("page.css"),
        module=to_javascript(circuit, reading, "circuit.wasm"),
        facts=json.dumps(facts),
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
        "gates": [{"name": gate.name, "true": [int(gate.hard(a, b)) for a in (0, 1) for b in (0, 1)]} for gate in GATES],
    }


def _maximum(circuit: Circuit, reading: Reading) -> float:
    """The raw value of full ink."""
    if circuit.number is not None:
        raise HardwireError("this circuit gives a number, and the playground shows classes; use a classifier of images")
    if reading.thresholds is None:
        return 1
    maximum = circuit.encoder.maximum if circuit.encoder is not None else None
    if maximum is None or reading.point is not None:
        raise HardwireError(
            "this circuit reads measurements, not images that one could draw; use a model of images, such as mnist"
        )
    return maximum


def _shape(values: int, shape: Sequence[int] | None) -> tuple[int, int]:
    if shape is None:
        side = math.isqrt(values)
        if side * side != values:
            raise HardwireError(f"{values} values are no square image; say the shape, such as shape=(16, {values // 16})")
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
    return np.rint(images[:SAMPLES].astype(np.float64) * (255 / maximum)).clip(0, 255).astype(np.uint8)


def _text(array: npt.NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def _file(name: str) -> str:
    return resources.files("hardwire.playground").joinpath(name).read_text(encoding="utf-8")
