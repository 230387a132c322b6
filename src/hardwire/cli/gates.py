"""`hardwire gates`: the table of the 16 gates, which needs no torch."""

from hardwire.cli.output import Json, Output


def gates(json: Json = False) -> None:
    """List the 16 two-input gates that a neuron chooses from.

    The soft formula is c0 + c1·a + c2·b + c3·ab on [0, 1]; on 0 and 1 it is the Boolean gate. The truth table lists the
    outputs for (a, b) = 00, 01, 10, 11.

    Example:

    ```
    hardwire gates
    ```
    """
    from rich.table import Table

    from hardwire.gates import GATES

    output = Output(json)
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
            " " + "  ".join(str(value) for value in gate.truth_table),
        )
    output.console.print(table)
    output.line("A neuron is deployed as the gate with the largest logit; ties go to the lowest index.")
    output.document(list(GATES))
