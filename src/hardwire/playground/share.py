"""The picture that stands for a page where its address is shared: an image, the gates it makes fire, and the votes.

It is drawn with rectangles alone and written as PNG with the standard library, so a page needs no plotting package.
"""

import struct
import zlib

import numpy as np
import numpy.typing as npt

from hardwire.circuit import Circuit
from hardwire.circuit.passes.sweep import node_values
from hardwire.circuit.statistics import live_nodes

WIDTH, HEIGHT = 1200, 630  # what most services show
GROUND, DIM, LIT, BAR = (251, 250, 247), (217, 222, 228), (194, 98, 45), (36, 80, 122)  # colours of page.css
Picture = npt.NDArray[np.uint8]


def share_picture(circuit: Circuit, bits: npt.NDArray[np.uint8], ink: npt.NDArray[np.uint8]) -> bytes:
    """Draws one image and what the circuit makes of it.

    Args:
        circuit: The circuit.
        bits: uint8 [inputs], the input bits of the image.
        ink: uint8 [height, width], the image, 0 to 255.

    Returns:
        A PNG file of 1200 x 630 pixels.
    """
    picture = np.empty((HEIGHT, WIDTH, 3), np.uint8)
    picture[:] = GROUND
    _enlarge(picture[80:550, 60:530], ink[:, :, None].repeat(3, axis=2))
    values = node_values(circuit.gates, bits[None])[:, 0] & 1
    gates = values[circuit.inputs :][live_nodes(circuit.gates)[circuit.inputs :]]
    _draw_gates(picture[80:550, 580:895], gates.astype(bool))
    _draw_votes(picture[80:550, 945:1140], circuit.scores(bits[None])[0] / circuit.group)
    return png(picture)


def _enlarge(picture: Picture, cells: Picture) -> None:
    """Fills a part of the picture with cells [rows, columns, 3], without smoothing."""
    rows, columns = (np.arange(size) * cells.shape[axis] // size for axis, size in enumerate(picture.shape[:2]))
    picture[:] = cells[rows][:, columns]


def _draw_gates(picture: Picture, lit: npt.NDArray[np.bool_]) -> None:
    """Draws a cell for each gate, row by row."""
    height, width, _ = picture.shape
    columns = max(1, round(np.sqrt(len(lit) * width / height)))
    rows = -(-len(lit) // columns)
    cells = np.full((max(1, rows) * columns, 3), GROUND, np.uint8)
    cells[: len(lit)] = np.where(lit[:, None], LIT, DIM)
    _enlarge(picture, cells.reshape(-1, columns, 3))


def _draw_votes(picture: Picture, shares: npt.NDArray[np.float64]) -> None:
    """Draws a bar for each class, the winner in another colour."""
    height, width, _ = picture.shape
    for place, share in enumerate(shares.tolist()):
        top, bottom = (int(height * (place + part) / len(shares)) for part in (0.15, 0.85))
        picture[top:bottom] = DIM
        picture[top:bottom, : int(width * share)] = LIT if place == shares.argmax() else BAR


def png(picture: Picture) -> bytes:
    """Returns an RGB picture [height, width, 3] as a PNG file."""
    height, width, _ = picture.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row starts with its filter: none
    rows[:, 1:] = picture.reshape(height, -1)
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    ]
    content = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(content)
