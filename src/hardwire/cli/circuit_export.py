"""`hardwire circuit export`: a circuit as C, WebAssembly, Verilog, AIGER, BLIF or a drawing."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardwire.cli.circuits import OutOption, Raw, dataset_for, open_circuit, output_path, simplify_and_report
from hardwire.cli.completion import datasets, exports
from hardwire.cli.options import Model
from hardwire.cli.output import Output
from hardwire.errors import HardwireError

if TYPE_CHECKING:
    from hardwire.circuit import Circuit

_C, _WASM, _VERILOG, _DRAWING = "C", "C and WebAssembly", "Verilog", "SVG and dot"


def export(
    file: Model,
    out: Annotated[
        Path | None,
        typer.Argument(
            help="The file to write; its suffix names the format: .c .wasm .v .aig .aag .blif .svg .dot .circuit",
            autocompletion=exports,
        ),
    ] = None,
    raw: Raw = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the C functions or the module. [default: that of the file]")
    ] = None,
    main: Annotated[
        bool, typer.Option("--main", help="Add a program that reads a file of images.", rich_help_panel=_C)
    ] = False,
    word: Annotated[
        int | None,
        typer.Option(help="Images at once: 64, 32, 8, or 1 for small machines. [default: 64]", rich_help_panel=_C),
    ] = None,
    flash: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="With --word 1: bytes of flash it may take: code if it fits, else as much code as fits beside tables, "
            "which are smaller and slower. [default: code up to 16,384, else tables]",
            rich_help_panel=_C,
        ),
    ] = None,
    package: Annotated[
        str | None,
        typer.Option(
            help="Write a folder for arduino, zephyr or micropython (also CircuitPython) in place of a file.",
            rich_help_panel=_C,
        ),
    ] = None,
    form: Annotated[
        str | None, typer.Option(help="code or tables. [default: code up to 20,000 gates]", rich_help_panel=_WASM)
    ] = None,
    simd: Annotated[
        bool, typer.Option("--simd/--no-simd", help="WebAssembly for runtimes with SIMD.", rich_help_panel=_WASM)
    ] = True,
    pipeline: Annotated[
        float | None,
        typer.Option(help="Put registers after this many levels of logic.", rich_help_panel=_VERILOG),
    ] = None,
    control: Annotated[
        bool,
        typer.Option(
            "--control", help="Add ports rst, ce, valid_in and valid_out to a pipeline.", rich_help_panel=_VERILOG
        ),
    ] = False,
    scores: Annotated[
        bool, typer.Option("--scores", help="Output the class sums as well.", rich_help_panel=_VERILOG)
    ] = False,
    stream: Annotated[
        int | None,
        typer.Option(
            help="Add a wrapper that reads an image in words of this many bits, 8 to 64.", rich_help_panel=_VERILOG
        ),
    ] = None,
    lut: Annotated[
        int | None,
        typer.Option(help="Class sums for look-up tables of 6 or 4 inputs. [default: 6]", rich_help_panel=_VERILOG),
    ] = None,
    reach: Annotated[
        float | None,
        typer.Option(help="Levels that a gate counts as in a pipeline. [default: 1]", rich_help_panel=_VERILOG),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="Add a testbench with images of this dataset; with --raw int8 to int32, fit its rows.",
            rich_help_panel=_VERILOG,
            autocompletion=datasets,
        ),
    ] = None,
    images: Annotated[
        int | None, typer.Option(min=1, help="Images of the testbench. [default: 100]", rich_help_panel=_VERILOG)
    ] = None,
    label: Annotated[
        int | None, typer.Option("--class", help="Draw only the cone of this class.", rich_help_panel=_DRAWING)
    ] = None,
    output: Annotated[
        int | None, typer.Option(help="Draw only this output of the class.", rich_help_panel=_DRAWING)
    ] = None,
    simplify: Annotated[
        bool | None,
        typer.Option("--simplify/--no-simplify", help="Simplify it first. [default: a model yes, a circuit no]"),
    ] = None,
    to: OutOption = None,
) -> None:
    """Write a circuit as C, WebAssembly, Verilog, AIGER, BLIF or a drawing, with encoder, class sums and argmax.

    A model is simplified on the way; a circuit file is written as it is.

    Example:

    ```
    hardwire circuit export digits.circuit digits.c --main
    hardwire circuit export digits.safetensors digits.c --word 1 --flash 16000
    hardwire circuit export digits.safetensors digits --package arduino
    ```
    """
    from hardwire.circuit.file import is_model_file

    target, circuit = output_path(out, to), open_circuit(file)
    if simplify or (simplify is None and is_model_file(file)):
        circuit = simplify_and_report(circuit, Output())
    options: dict[str, Any] = {"raw": raw, "name": name, "main": main or None, "form": form, "pipeline": pipeline}
    options |= {"control": control or None, "scores": scores or None, "stream": stream, "lut": lut, "reach": reach}
    options |= {"word": word, "flash": flash, "label": label, "output": output, "simd": None if simd else False}
    options |= _from_data(circuit, target, raw, data, images)
    given = {option: value for option, value in options.items() if value is not None}
    if package is not None:
        _only(given, ("raw", "name", "form", "flash", "values"), "--package")
        written = circuit.package(target, package, **given)
    else:
        written = circuit.export(target, **given)
    for path in written:
        typer.echo(f"wrote {path}")
    if "values" in given:
        rows = len(given["values"])
        typer.echo(f"{raw}: rounding moves no value of the {rows:,} training rows across a threshold; for other rows,")
        typer.echo(f"`hardwire circuit verify {file} {target}` compares the test set")


def _only(given: dict[str, Any], known: tuple[str, ...], who: str) -> None:
    """Raises an error for an option that does not go with another."""
    for option in given:
        if option not in known:
            flag = "class" if option == "label" else option
            raise HardwireError(f"--{flag} does not go with {who}; its options are: {', '.join(known[:-1])}")


def _from_data(
    circuit: "Circuit", target: Path, raw: str | None, data: str | None, images: int | None
) -> dict[str, Any]:
    """The options that come from a dataset: images for a testbench, values to fit whole numbers to."""
    from hardwire.circuit.verify import images_of

    fits, tests = (raw or "").startswith("int"), target.suffix == ".v" and data is not None
    if data is not None and not (fits or tests):
        raise HardwireError("--data is for the testbench of Verilog and for --raw int8, int16 and int32")
    if images is not None and not tests:
        raise HardwireError("--images is for the testbench of Verilog; give its --data too")
    options: dict[str, Any] = {}
    dataset = dataset_for(circuit, data) if fits or tests else None
    if tests and dataset is not None:
        options["images"] = images_of(circuit, dataset)[: images or 100]
    if fits and dataset is not None and circuit.encoder is not None:
        options["values"] = dataset.raw("train")
    return options
