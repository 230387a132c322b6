"""The circuit room: a frozen network as a netlist that is simplified, run, exported and checked.

network -> `Circuit` -> passes -> formats, each step checked against the one before. Nothing here needs torch, except
`Circuit.from_network`, which reads one.
"""

from hardwire.circuit.circuit import About, Circuit
from hardwire.circuit.equivalence import Equivalence
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.statistics import Statistics

__all__ = ["About", "Circuit", "Equivalence", "Netlist", "Statistics"]
