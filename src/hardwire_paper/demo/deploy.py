"""The end of the demo: its best network as a simplified circuit and as C."""

from pathlib import Path


def deploy(model: Path, circuit_file: Path, c_file: Path) -> str:
    """Writes both files; gives a sentence on how the circuit got smaller and how that is known to be right."""
    import hardwire as hw
    from hardwire.circuit.passes import simplify

    circuit = hw.Circuit.from_network(hw.load(model))
    small, report = simplify(circuit)
    small.save(circuit_file)
    small.to_c(c_file)
    before, after = circuit.netlist.size, small.netlist.size
    return f"{before:,} gates, {after:,} after simplification ({report.proof})"
