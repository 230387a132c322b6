"""Writes the live page of the site, with a circuit that comes with the package."""

from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import numpy as np
from mkdocs.structure.files import File, Files

from hardwire.playground import page_of, picture_of
from hardwire.zoo import load_circuit

ASSETS = Path(__file__).parents[1] / "assets" / "playground"


def on_files(files: Files, config: Any) -> Files:
    circuit, samples = (
        load_circuit("mnist-8k"),
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
