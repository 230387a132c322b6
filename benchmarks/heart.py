"""A drawing of our own that automata grow: a heart of 12 x 12 cells."""

import numpy as np

DRAWING = """
............
..##....##..
.####..####.
.##########.
.##########.
.##########.
.##########.
..########..
...######...
....####....
.....##.....
............
"""
HEART = np.array([[letter == "#" for letter in line] for line in DRAWING.split()])  # bool [height, width]
SIZE = len(HEART)
