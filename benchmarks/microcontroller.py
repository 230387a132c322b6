"""Circuits and forests on a Cortex-M0+ under qemu: bytes of flash and RAM, instructions of a prediction, accuracy.

    python benchmarks/microcontroller.py --only digits        # tables of scikit-learn: digits, breast_cancer, wine
    python benchmarks/microcontroller.py --tables FOLDER      # CSV files, the target in the last column
    python benchmarks/microcontroller.py --circuit digits-1k  # one circuit of digits, in every form
    python benchmarks/microcontroller.py --front --only digits  # more and more code beside tables, by --flash
    python benchmarks/microcontroller.py --out seen.json      # keeps what it measures beside what is there
    python benchmarks/microcontroller.py --figure front.svg --out seen.json  # draws what is kept

Needs gcc-arm-none-eabi, libnewlib-arm-none-eabi and qemu-system-arm; emlearn, m2cgen, tl2cgen and treelite are measured
where they are installed. Everything is compiled at -Os for a Cortex-M0+ and runs on an emulated Cortex-M3, which knows
the same instructions. Flash is what the linked program has beyond the same program with an empty function, functions of
libraries included. RAM is .data, .bss and the deepest stack, which is painted before the first row. Instructions are
counted by the timer of the board, as qemu (-icount) gives each the same time; shown is the mean over the rows.
"""

import argparse
import importlib.util
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hardwire as hw
from hardwire.circuit import Circuit
from hardwire.circuit.formats.c_words import TABLE_CODE
from hardwire.circuit.input_format import DTYPES, input_format_of
from hardwire.circuit.tools import run
from hardwire.errors import HardwireError
from hardwire.files.figure import save_figure

CROSS = "arm-none-eabi-"
FLAGS = (
    "-mcpu=cortex-m0plus",
    "-mthumb",
    "-Os",
    "-std=c99",
    "-ffunction-sections",
    "-fdata-sections",
    "-ffp-contract=off",
)
SHARES = (0, 0.25, 0.5, 0.75, 1)  # of the flash between tables and code
STRICT = ("-Wall", "-Wextra", "-Werror")
LINKER = """
MEMORY { FLASH (rx) : ORIGIN = 0, LENGTH = 4M   RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 64K }
ENTRY(start)
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } > FLASH
  .ARM.exidx : { *(.ARM.exidx*) } > FLASH
  .data : { *(.data*) } > RAM
  .bss (NOLOAD) : { *(.bss*) *(COMMON) . = ALIGN(4); end_of_data = .; end = .; } > RAM
}
"""
BOARD = """
#include <stdint.h>
#include <stddef.h>
#include "rows.h"

int net_predict(const TYPE *row);
extern uint32_t end_of_data;
static void start(void);
__attribute__((section(".vectors"), used)) static void *const vectors[] = {(void *)0x20010000, (void *)start};

static void semihosting(int number, const void *argument)
{
    register int r0 __asm__("r0") = number;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void print(unsigned value, char end)
{
    char text[12], *at = text + 11;
    *at = 0;
    *--at = end;
    do
        *--at = (char)('0' + value % 10);
    while (value /= 10);
    semihosting(4, at);
}

#define TIMER ((volatile uint32_t *)0xE000E010)
static unsigned ticks(void) { return 0xFFFFFF - TIMER[2]; }

__attribute__((noinline)) static int nothing(const TYPE *row) { __asm__ volatile("" : : "r"(row)); return 0; }
__attribute__((noinline)) static void thousand(void) { __asm__ volatile(".rept 1000\\n nop\\n .endr"); }
__attribute__((noinline)) static uint32_t *here(void) { return (uint32_t *)__builtin_frame_address(0); }

static unsigned timed(int (*function)(const TYPE *), const TYPE *row, int *answer)
{
    TIMER[2] = 0;
    const unsigned before = ticks();
    *answer = function(row);
    return (ticks() - before) & 0xFFFFFF;
}

static void start(void)
{
    uint32_t *const top = here(), *at;
    int answer;
    TIMER[1] = 0xFFFFFF;
    TIMER[0] = 5;
    const unsigned before = ticks();
    thousand();
    print((ticks() - before) & 0xFFFFFF, '\\n');
    print(timed(nothing, rows[0], &answer), '\\n');
    for (at = &end_of_data; at < top - 16; ++at)
        *(volatile uint32_t *)at = 0xA5A5A5A5;
    for (int i = 0; i < ROWS; ++i) {
        print(timed(net_predict, rows[i], &answer), ' ');
        print((unsigned)answer, '\\n');
    }
    for (at = &end_of_data; *at == 0xA5A5A5A5;)
        ++at;
    print((unsigned)((char *)top - (char *)at), '\\n');
    static const uint32_t done[] = {0x20026, 0};
    semihosting(0x18, (const void *)done[0]);
    for (;;)
        ;
}
"""
EMPTY = '#include "rows.h"\nint net_predict(const TYPE *row) { return (int)row[0]; }\n'


@dataclass(frozen=True)
class Footprint:
    """flash and ram: bytes; instructions: mean of a prediction; classes: what the board said of all rows."""

    flash: int
    ram: int
    instructions: float
    classes: np.ndarray


def on_board(circuit: Circuit, images: np.ndarray, **options: Any) -> Footprint:
    """Measures an export; images: real values [n, values], quantized as the export reads them."""
    with tempfile.TemporaryDirectory() as name:
        circuit.export(Path(name) / "net.c", name="net", **options)
        kept = {option: value for option, value in options.items() if option in ("raw", "values")}
        input_format = input_format_of(circuit, kept.get("raw"), kept.get("values"))
        return run_board(Path(name), input_format.rows(circuit, images), STRICT)


def run_board(folder: Path, rows: np.ndarray, warnings: tuple[str, ...] = (), include: str = ".") -> Footprint:
    """Compiles net.c of a folder, which has `int net_predict(const TYPE *)`, and runs it on rows of that type."""
    type_ = {"f": {4: "float", 8: "double"}.get(rows.itemsize)}.get(rows.dtype.kind) or f"{rows.dtype.name}_t"
    text = ",\n".join("{" + ",".join(map(repr, row)) + "}" for row in rows.tolist())
    (folder / "rows.h").write_text(
        f"#include <stdint.h>\n#define TYPE {type_}\n#define ROWS {len(rows)}\n"
        f"#ifdef DATA\nstatic const TYPE rows[ROWS][{rows.shape[1]}] = {{\n{text}}};\n#endif\n"
    )
    (folder / "board.c").write_text("#define DATA\n" + BOARD)
    (folder / "board.ld").write_text(LINKER)
    (folder / "empty.c").write_text(EMPTY)
    for source, more in (("board", ()), ("empty", ()), ("net", warnings)):
        run([f"{CROSS}gcc", *FLAGS, *more, f"-I{include}", "-c", f"{source}.c"], "gcc", folder)
    sizes = [_linked(folder, program) for program in ("empty", "net")]
    emulator = ["qemu-system-arm", "-M", "mps2-an385", "-nographic", "-monitor", "none", "-serial", "none"]
    emulator += ["-icount", "shift=6", "-semihosting-config", "enable=on,target=native", "-kernel", "net.elf"]
    # semihosting prints to the standard error
    printed = [int(x) for x in re.findall(r"\d+", run(["sh", "-c", 'exec "$@" 2>&1', "sh", *emulator], "qemu", folder))]
    tick, nothing, stack = printed[0] / 1000, printed[1], printed[-1]
    ticks, classes = np.array(printed[2:-1]).reshape(-1, 2).T
    return Footprint(
        sizes[1][0] - sizes[0][0], sizes[1][1] - sizes[0][1] + stack, float((ticks.mean() - nothing) / tick), classes
    )


def _linked(folder: Path, program: str) -> tuple[int, int]:
    """Flash and RAM of a linked program, without its stack."""
    call = [
        f"{CROSS}gcc",
        *FLAGS,
        "-nostartfiles",
        "--specs=nosys.specs",
        "-Wl,--gc-sections",
        "-T",
        "board.ld",
        "board.o",
    ]
    run([*call, f"{program}.o", "-lm", "-o", f"{program}.elf"], "the linker", folder)
    text, data, bss = map(int, run([f"{CROSS}size", f"{program}.elf"], "size", folder).splitlines()[1].split()[:3])
    return text + data, data + bss


# -- others ------------------------------------------------------------------------------------------------------------
def emlearn(method: str) -> Callable[[Any, Path], tuple[np.dtype[Any], str]]:
    def write(forest: Any, folder: Path) -> tuple[np.dtype[Any], str]:
        import emlearn

        emlearn.convert(forest, method=method, dtype="int16_t").save(file=str(folder / "model.h"), name="model")
        text = (folder / "model.h").read_text()
        call = f"model_predict(row, {forest.n_features_in_})"
        (folder / "net.c").write_text(
            f'#include "rows.h"\n#include "model.h"\nint net_predict(const TYPE *row) {{ return {call}; }}\n'
        )
        assert "model_predict" in text
        return np.dtype(np.int16), emlearn.includedir

    return write


def m2cgen(forest: Any, folder: Path) -> tuple[np.dtype[Any], str]:
    import m2cgen

    text = m2cgen.export_to_c(forest)
    (folder / "net.c").write_text(
        f'#include "rows.h"\n{text}\n' + _argmax(forest.n_classes_, "score((double *)row, p)")
    )
    return np.dtype(np.float64), "."


def tl2cgen(forest: Any, folder: Path) -> tuple[np.dtype[Any], str]:
    import tl2cgen
    import treelite

    tl2cgen.generate_c_code(treelite.sklearn.import_model(forest), str(folder / "made"), params={"parallel_comp": 0})
    text = "\n".join((folder / "made" / name).read_text() for name in ("header.h", "main.c"))
    text = text.replace('#include "header.h"', "")
    n = forest.n_features_in_
    entries = f"union Entry x[{n}]; for (int i = 0; i < {n}; ++i) x[i].fvalue = row[i];"
    (folder / "net.c").write_text(
        f'#include "rows.h"\n{text}\n' + _argmax(forest.n_classes_, f"{entries} predict(x, 0, p)")
    )
    return np.dtype(np.float32), "."


def _argmax(classes: int, call: str) -> str:
    return (
        f"int net_predict(const TYPE *row) {{ double p[{classes}] = {{0}}; int best = 0; {call};\n"
        f"for (int c = 1; c < {classes}; ++c) if (p[c] > p[best]) best = c;\nreturn best; }}\n"
    )


OTHERS = {
    "emlearn inline": emlearn("inline"),
    "emlearn loadable": emlearn("loadable"),
    "m2cgen": m2cgen,
    "tl2cgen": tl2cgen,
}


# -- tables ------------------------------------------------------------------------------------------------------------
def tables(folder: Path | None, only: list[str]) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yields name, whole numbers [rows, columns] and classes; columns with fractions are scaled to int16."""
    if folder is None:
        from sklearn import datasets

        for name in ("digits", "breast_cancer", "wine"):
            if not only or name in only:
                yield name, *_whole(*getattr(datasets, f"load_{name}")(return_X_y=True))
        return
    import pandas as pd

    for path in sorted(folder.glob("*.csv")):
        if not only or path.stem in only:
            frame = pd.read_csv(path)
            yield path.stem, *_whole(frame.iloc[:, :-1].to_numpy(float), pd.factorize(frame.iloc[:, -1], sort=True)[0])


def _whole(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scales columns with fractions to int16, so that every program reads the same whole numbers."""
    fractions = (x != np.round(x)).any(axis=0)
    scale = np.where(fractions, 30_000 / np.maximum(np.abs(x).max(axis=0), 1e-30), 1)
    return np.round(x * scale).astype(np.int32), y


def compare(name: str, x: np.ndarray, y: np.ndarray, width: int, trees: int, rows: int) -> dict[str, list[float]]:
    """Prints a line for every program on one table; returns the flash and the instructions of each."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split

    x, x_test, y, y_test = train_test_split(x, y, test_size=0.2, random_state=0, stratify=y)
    x_test, y_test = x_test[:rows], y_test[:rows]
    model = hw.LogicClassifier(width=width, depth=1, random_state=0).fit(x, y)
    circuit = model.circuit_.simplify()
    given = _given(circuit, x)
    gates = len(circuit.netlist.gate)
    print(f"\n{name}: {gates} gates, {given['raw']}, {len(x):,} rows to train, {len(x_test)} to run")
    print("| program | accuracy | flash, bytes | RAM, bytes | instructions |\n|---|---|---|---|---|")
    measured = {}
    for title, flash in zip(("tables", "half code", "code"), flashes(circuit, given, (0, 0.5, 1)), strict=True):
        measured[f"hardwire, {title}"] = on_board(circuit, x_test, **given, flash=flash)
        show(f"hardwire, {title}", measured[f"hardwire, {title}"], y_test)
    forest = RandomForestClassifier(trees, min_samples_leaf=5, random_state=0).fit(x, y)
    for title, write in OTHERS.items():
        if importlib.util.find_spec(title.split()[0]) is None:
            print(f"| {title} | not installed | | | |")
            continue
        with tempfile.TemporaryDirectory() as folder:
            dtype, include = write(forest, Path(folder))
            measured[title] = run_board(Path(folder), x_test.astype(dtype), include=include)
            show(f"{title}, {trees} trees", measured[title], y_test)
    return {title: [seen.flash, seen.instructions] for title, seen in measured.items()}


def front(name: str, x: np.ndarray, y: np.ndarray, width: int, rows: int) -> None:
    """Prints a line for every one of some sizes of flash, from tables alone to code alone."""
    from sklearn.model_selection import train_test_split

    x, x_test, y, y_test = train_test_split(x, y, test_size=0.2, random_state=0, stratify=y)
    circuit = hw.LogicClassifier(width=width, depth=1, random_state=0).fit(x, y).circuit_.simplify()
    given = _given(circuit, x)
    print(f"\n{name}: {len(circuit.netlist.gate)} gates, {given['raw']}, {len(x_test[:rows])} rows to run")
    print("| `--flash` | accuracy | flash, bytes | RAM, bytes | instructions |\n|---|---|---|---|---|")
    for flash in flashes(circuit, given, SHARES):
        show(f"{flash:,}", on_board(circuit, x_test[:rows], **given, flash=flash), y_test[:rows])


def flashes(circuit: Circuit, given: dict[str, Any], shares: tuple[float, ...]) -> list[int]:
    """Bytes of flash, from what tables take (share 0) to what code takes (share 1)."""
    least, most = (_stated(circuit, **given, form=form) for form in ("tables", "code"))
    return [round(least + share * (most - least)) for share in shares]


def draw(results: dict[str, dict[str, list[float]]], path: Path) -> None:
    """Flash against instructions, a panel a table; our three forms are joined by a line."""
    from matplotlib.figure import Figure

    figure = Figure((10, 4), layout="constrained")
    panels = figure.subplots(1, len(results), sharex=True, sharey=True, squeeze=False)[0]
    for axes, (name, measured) in zip(panels, results.items(), strict=True):
        ours = [measured[title] for title in measured if title.startswith("hardwire")]
        axes.plot(*zip(*ours, strict=True), "o-", color="black", label="hardwire")
        others = [title for title in OTHERS if title in measured]
        for title, marker in zip(others, "sD^v", strict=False):
            axes.plot(*measured[title], marker, markersize=8, label=title)
        axes.set(title=name.replace("_", " "), xscale="log", yscale="log", xlabel="flash, bytes")
        axes.grid(color="0.9")
    panels[0].set_ylabel("instructions of a prediction")
    figure.legend(*panels[-1].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    save_figure(figure, path)


def _given(circuit: Circuit, x: np.ndarray) -> dict[str, Any]:
    """The options of an export that reads whole numbers."""
    kind = next(kind for kind in ("bytes", "int8", "int16", "int32") if _reads(circuit, kind, x))
    return {"word": 1, "raw": kind, "values": x}


def _stated(circuit: Circuit, **options: Any) -> int:
    """The bytes of flash that an export expects to take."""
    with tempfile.TemporaryDirectory() as folder:
        circuit.export(Path(folder) / "net.c", **options)
        header = (Path(folder) / "net.h").read_text()
    found = re.search(r"NET_(CODE|TABLE)_BYTES (\d+)", header)
    assert found is not None
    return int(found[2]) + TABLE_CODE * (found[1] == "TABLE")


def _reads(circuit: Circuit, kind: str, x: np.ndarray) -> bool:
    try:
        input_format_of(circuit, kind, x)
    except HardwireError:
        return False
    return bool(x.min() >= np.iinfo(DTYPES[kind]).min and x.max() <= np.iinfo(DTYPES[kind]).max) or kind == "int8"


def show(title: str, footprint: Footprint, y: np.ndarray) -> None:
    """Prints one line of a table."""
    accuracy = 100 * float((footprint.classes == y).mean())
    print(
        f"| {title} | {accuracy:.1f}% | {footprint.flash:,} | {footprint.ram:,} | {footprint.instructions:,.0f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--circuit", help="a circuit of digits: measured in every form, nothing is trained")
    parser.add_argument("--front", action="store_true", help="one circuit a table, with different sizes of flash")
    parser.add_argument("--tables", type=Path, help="a folder of CSV files, the target in the last column")
    parser.add_argument("--only", default="", help="names of tables, divided by commas")
    for option, default in (("width", 500), ("trees", 10), ("rows", 200)):
        parser.add_argument(f"--{option}", type=int, default=default)
    parser.add_argument("--out", type=Path, help="a .json of what was measured, to which this run is added")
    parser.add_argument("--figure", type=Path, help="draw what --out holds, and measure nothing")
    options = parser.parse_args()
    kept = json.loads(options.out.read_text()) if options.out and options.out.exists() else {}
    if options.figure:
        draw(kept, options.figure)
        return
    if options.circuit:
        circuit, data = hw.zoo.load_circuit(options.circuit), hw.data.load("digits")
        raw, labels = data.raw("test")[: options.rows], data.test.y.numpy()[: options.rows]
        print("| form | accuracy | flash, bytes | RAM, bytes | instructions |\n|---|---|---|---|---|")
        for word, form in ((1, "code"), (1, "tables"), (8, None), (32, None), (64, None)):
            given = {} if form is None else {"form": form}
            show(f"`word={word}`" + (f", {form}" if form else ""), on_board(circuit, raw, word=word, **given), labels)
        return
    for name, x, y in tables(options.tables, [name for name in options.only.split(",") if name]):
        if options.front:
            front(name, x, y, options.width, options.rows)
        else:
            kept[name] = compare(name, x, y, options.width, options.trees, options.rows)
            if options.out:
                options.out.write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
