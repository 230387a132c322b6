"""Writes the live page of the site from docs/assets/playground: that of this code."""

from pathlib import Path
from typing import Any

import numpy as np
from mkdocs.structure.files import File, Files

from hardwire.circuit import Circuit
from hardwire.playground import page_of

ASSETS = Path(__file__).parents[1] / "assets" / "playground"


def on_files(files: Files, config: Any) -> Files:
    page = page_of(
        Circuit.load(ASSETS / "mnist.safetensors"),
        samples=np.load(ASSETS / "mnist-200.npz")["x"],
        title="Draw a digit",
    )
    files.append(File.generated(config, "live/digits.html", content=page))
    return files
