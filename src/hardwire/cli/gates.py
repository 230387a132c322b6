"""`hardwire gates`: the table of the 16 gates, which needs no torch."""

import typer


def gates() -> None:
    """The 16 two-input gates a neuron chooses from.

    The soft formula is c0 + c1·a + c2·b + c3·ab on [0, 1]; on 0 and 1 it is the Boolean gate. The truth table lists the
    output for (a, b) = 00, 01, 10, 11.
    """
    from rich.console import Console
    from rich.table import Table

    from hardwire.gates import GATES

    table = Table(title="soft gate = c0 + c1·a + c2·b + c3·ab", header_style="bold")
    table.add_column("index", justify="right")
    table.add_column("name", no_wrap=True)
    table.add_column("Boolean", no_wrap=True)
    table.add_column("soft formula", no_wrap=True)
    for name in ("c0", "c1", "c2", "c3"):
        table.add_column(name, justify="right")
    table.add_column("00 01 10 11", no_wrap=True)
    for gate in GATES:
        table.add_row(
            str(gate.index),
            gate.name,
            gate.boolean,
            gate.formula,
            *(str(number) for number in gate.coefficients),
            " " + "  ".join(str(output) for output in gate.truth_table),
        )
    Console().print(table)
    typer.echo("a neuron is deployed as the gate of its largest logit; ties go to the lowest index")
