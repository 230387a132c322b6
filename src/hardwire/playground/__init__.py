"""A circuit as one web page: draw an image, and watch the circuit decide as you draw.

The page contains everything: the circuit as WebAssembly, which classifies; its netlist, which shows the gates that
fire; a few images to start from. It needs no server and loads nothing, so it works offline. Surprising: each image is
computed twice, in WebAssembly and gate by gate in JavaScript, and a difference is reported on the console. The cell of
an automaton gets another page, with a board of cells to watch and to disturb.
"""

from hardwire.playground.board import board_of, write_board
from hardwire.playground.page import check_drawable, page_of, picture_of, write_page

__all__ = ["board_of", "check_drawable", "page_of", "picture_of", "write_board", "write_page"]
