"""Circuits: a trained network as a netlist of gates that can be simplified, run, exported and verified.

The pipeline is network -> `Circuit` -> passes -> formats, and each step is checked against the one before. Only
`Circuit.from_network` needs torch.
"""

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.equivalence import Equivalence
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.provenance import Provenance
from hardwire.circuit.sequential.cell import as_cell
from hardwire.circuit.sequential.grid import on_grid
from hardwire.circuit.sequential.state import Grid, State
from hardwire.circuit.statistics import Statistics
from hardwire.circuit.table_netlist import TableNetlist
from hardwire.circuit.verify import Verification

__all__ = [
    "Circuit",
    "Equivalence",
    "Grid",
    "Netlist",
    "Provenance",
    "State",
    "Statistics",
    "TableNetlist",
    "Verification",
    "as_cell",
    "on_grid",
]
