"""Conway's Game of Life, twice: as a circuit of one cell, and with numpy."""

import functools

import numpy as np

import hardwire as hw
from hardwire.circuit.builder import Builder
from hardwire.circuit.lower import count_ones
from hardwire.gates import algebra


def life_cell():
    """Life's rule for nine bits, the cell in the middle: three alive in all, or four with the cell."""
    builder = Builder(9)
    total = count_ones(builder, list(range(9)))
    no = [builder.gate(algebra.NOT_A, bit, bit) for bit in total]

    def all_of(*nodes):
        return functools.reduce(lambda a, b: builder.gate(algebra.AND, a, b), nodes)

    three, four = all_of(total[0], total[1], no[2], no[3]), all_of(no[0], no[1], total[2], no[3], 4)
    return hw.Circuit(builder.netlist([builder.gate(algebra.OR, three, four)]), 1)


def life(board, border="periodic"):
    """The next generation of a board [height, width]."""
    (height, width), mode = board.shape, "wrap" if border == "periodic" else "constant"
    wide = np.pad(board, 1, mode=mode)
    around = sum(wide[y : y + height, x : x + width] for y in range(3) for x in range(3)) - board
    return ((around == 3) | (around == 2) & (board == 1)).astype(board.dtype)
