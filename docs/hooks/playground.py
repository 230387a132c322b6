"""Writes the live page of the site from docs/assets/playground: that of this code."""

from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import numpy as np
from mkdocs.structure.files import File, Files

from hardwire.circuit import Circuit
from hardwire.playground import page_of, picture_of

ASSETS = Path(__file__).parents[1] / "assets" / "playground"


def on_files(files: Files, config: Any) -> Files:
    circuit, samples = (
        Circuit.load(ASSETS / "mnist.safetensors"),
        np.load(ASSETS / "mnist-200.npz")["x"],
    )
    site = config.site_url or ""  # services that show a shared page want a whole address
    page = page_of(
        circuit,
        samples=samples,
        title="Draw a digit",
        home="../index.html",
        picture=urljoin(site, "live/digits.png") if site else "digits.png",
    )
    files.append(File.generated(config, "live/digits.html", content=page))
    picture = picture_of(circuit, samples=samples)
    files.append(File.generated(config, "live/digits.png", content=picture))
    return files
