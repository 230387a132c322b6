"""Categories as gates: one bit a level, made of two thresholds, so that every export compares with thresholds alone.

Surprising: a circuit therefore reads other bits than the network that it comes from, though equally many: bit k of a
column of categories is "above threshold k" here, and "above threshold k, and not above the next" there.
"""

from itertools import pairwise

import numpy as np

from hardwire.bits import Encoder
from hardwire.circuit.builder import Builder
from hardwire.circuit.table_netlist import AnyNetlist, TableBuilder, TableNetlist
from hardwire.gates import algebra


def with_categories(netlist: AnyNetlist, encoder: Encoder) -> AnyNetlist:
    """The netlist behind gates that turn the bits of `encoder.plain()` into those of `encoder`."""
    builder = Builder(netlist.inputs)
    bits = np.arange(netlist.inputs).reshape(encoder.thresholds.shape)
    for column in encoder.categories:
        above = bits[column].tolist()
        exact = [builder.gate(algebra.LESS, following, own) for own, following in pairwise(above)]
        bits[column, :-1] = exact
    nodes = bits.ravel().tolist()
    if isinstance(netlist, TableNetlist):
        whole = TableBuilder(netlist.inputs)
        nodes = whole.embed(builder.netlist(nodes), range(netlist.inputs))
        return whole.netlist(whole.embed(netlist, nodes))
    return builder.netlist(builder.embed(netlist, nodes))
