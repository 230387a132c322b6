"""From networks and stacks of levels to circuits: each neuron becomes its argmax gate or table, on its argmax wires.

It is loaded when a network is turned into a circuit, since it needs torch; a saved circuit runs without.
"""

from typing import Any

from hardwire.bits import Encoder
from hardwire.circuit.categories import with_categories
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.number import Number
from hardwire.circuit.provenance import Provenance
from hardwire.circuit.table_netlist import AnyNetlist, TableNetlist
from hardwire.engine.stack import freeze
from hardwire.errors import HardwireError


def circuit_of_network(net: Any, provenance: Provenance) -> Circuit:
    """Returns the deployed circuit of a network, or of an `nn.Sequential` of logic layers."""
    from hardwire.network import fuse

    gates, encoder = _split(net)
    net = fuse(gates)
    number = Number.of(net.group_sum, net.widths[-1])
    encoder = encoder or net.encoder
    netlist = frozen_netlist(net.stack())
    if encoder is not None and encoder.categories:
        netlist, encoder = with_categories(netlist, encoder), encoder.plain()
    return Circuit(netlist, net.classes, encoder, provenance, number, net.columns)


def circuit_of_stack(stack: Any, classes: int | None, encoder: Encoder | None, provenance: Provenance) -> Circuit:
    """Returns the deployed circuit of a `Stack`; `classes` is needed where it has no class sums."""
    if classes is None and stack.head is None:
        raise HardwireError("this stack has no class sums; give the number of classes")
    return Circuit(frozen_netlist(stack), classes or stack.head.classes, encoder, provenance)


def frozen_netlist(stack: Any) -> AnyNetlist:
    """Returns the netlist of the deployed levels: gates where all neurons have two inputs, else tables."""
    levels = freeze(stack)
    wirings, reads = [level.wires for level in levels], [level.reads for level in levels]
    if all(len(wires) == 2 for wires in wirings):
        return Netlist.from_layers(stack.inputs, [level.gates for level in levels], wirings, reads)
    return TableNetlist.from_layers(stack.inputs, [level.tables for level in levels], wirings, reads)


def _split(net: Any) -> tuple[Any, Encoder | None]:
    """Separates a leading `Binarize` of an nn.Sequential, as an encoder, from the gates."""
    from torch import nn

    from hardwire.layers import Binarize

    if not (isinstance(net, nn.Sequential) and len(net) > 1 and isinstance(net[0], Binarize)):
        return net, None
    gates = net[1] if len(net) == 2 else net[1:]
    return gates, net[0].encoder()
