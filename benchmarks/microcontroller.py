"""A digits model on a Cortex-M0+: bytes of flash and RAM, and the classes of all test images under qemu.

    python benchmarks/microcontroller.py [--circuit FILE] [--width 1600] [--depth 3] [--word 1]

Trains a model on digits (or takes a circuit of it), exports C, compiles it with gcc-arm-none-eabi at -Os and runs it on
an emulated board with 16 KB of RAM (`qemu-system-arm -M microbit`). RAM is what the export has in .data and .bss, and
the stack that it was seen to use: the stack is painted before the first image and looked at after the last.
"""

import argparse
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hardwire.circuit import Circuit
from hardwire.circuit.tools import run

CROSS = "arm-none-eabi-"
FLAGS = ("-mcpu=cortex-m0plus", "-mthumb", "-Os", "-std=c99", "-Wall", "-Wextra", "-Werror", "-ffreestanding")
LINKER = """
MEMORY { FLASH (rx) : ORIGIN = 0, LENGTH = 256K   RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 16K }
ENTRY(start)
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } > FLASH
  .ARM.exidx : { *(.ARM.exidx*) } > FLASH
  .data : { *(.data*) } > RAM
  .bss (NOLOAD) : { *(.bss*) *(COMMON) . = ALIGN(4); end_of_data = .; } > RAM
}
"""
BOARD = """
#include "net.h"
#include "images.h"
#include <stddef.h>

extern uint32_t end_of_data;
static void start(void);
__attribute__((section(".vectors"), used)) static void *const vectors[] = {(void *)0x20004000, (void *)start};

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

/* What the linker asks for in place of a C library. */
void *memset(void *to, int value, size_t count)
{
    for (volatile char *at = to; count > 0; --count)
        *at++ = (char)value;
    return to;
}
void *memcpy(void *restrict to, const void *restrict from, size_t count)
{
    volatile char *at = to;
    for (const char *source = from; count > 0; --count)
        *at++ = *source++;
    return to;
}

__attribute__((noinline)) static uint32_t *here(void)
{
    return (uint32_t *)__builtin_frame_address(0);
}

static void start(void)
{
    static uint8_t classes[IMAGES];
    uint32_t *const top = here(), *at;
    for (at = &end_of_data; at < top - 8; ++at)
        *(volatile uint32_t *)at = 0xA5A5A5A5;
    for (int i = 0; i < IMAGES; ++i)
        classes[i] = (uint8_t)net_predict(images[i]);
    for (at = &end_of_data; *at == 0xA5A5A5A5;)
        ++at;
    print((unsigned)((char *)top - (char *)at), '\\n');
    for (int i = 0; i < IMAGES; ++i)
        print(classes[i], '\\n');
    static const uint32_t done[] = {0x20026, 0};
    semihosting(0x18, (const void *)done[0]);
    for (;;)
        ;
}
"""


@dataclass(frozen=True)
class Footprint:
    """text: bytes of the export in flash, constant tables among them; ram: of .data, .bss and the stack; classes: what
    the board said of all images."""

    text: int
    ram: int
    classes: np.ndarray


def on_board(circuit: Circuit, images: np.ndarray, **options) -> Footprint:
    """images: uint8 [n, values], few enough for 256 KB of flash."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        circuit.export(folder / "net.c", **options)
        rows = ",\n".join("{" + ",".join(map(str, row)) + "}" for row in images.tolist())
        values = f"static const uint8_t images[IMAGES][{images.shape[1]}] = {{\n{rows}}};\n"
        (folder / "images.h").write_text(f"#define IMAGES {len(images)}\n{values}")
        (folder / "board.c").write_text(BOARD)
        (folder / "board.ld").write_text(LINKER)
        for source in ("net", "board"):
            run([f"{CROSS}gcc", *FLAGS, "-c", f"{source}.c"], "gcc", folder)
        objects = ["board.o", "net.o", "-lgcc"]
        run([f"{CROSS}gcc", *FLAGS, "-nostdlib", "-T", "board.ld", *objects, "-o", "board.elf"], "the linker", folder)
        sizes = run([f"{CROSS}size", "net.o"], "size", folder).splitlines()[1].split()
        emulator = ["qemu-system-arm", "-M", "microbit", "-nographic", "-monitor", "none", "-serial", "none"]
        emulator += ["-semihosting-config", "enable=on,target=native", "-kernel", "board.elf"]
        printed = re.findall(r"\d+", _with_errors(emulator, folder))
    text, data, bss = map(int, sizes[:3])
    return Footprint(text, data + bss + int(printed[0]), np.array(printed[1:], np.int64))


def _with_errors(call: list[str], folder: Path) -> str:
    """What a program printed; semihosting prints to the standard error."""
    return run(["sh", "-c", 'exec "$@" 2>&1', "sh", *call], "qemu", folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--circuit", help="a circuit file of digits, instead of training one")
    for option, default in (("width", 1600), ("depth", 3), ("iterations", 600), ("word", 1)):
        parser.add_argument(f"--{option}", type=int, default=default)
    options = parser.parse_args()
    import hardwire as hw

    data = hw.data.load("digits")
    if options.circuit:
        circuit = Circuit.load(options.circuit)
    else:
        net = hw.LogicNetwork(
            data.inputs, data.classes, options.width, options.depth, method="hard-st+cage", seed=0, encoder=data.encoder
        )
        hw.fit(net, data, iterations=options.iterations, batch_size=100, lr=0.02, evaluate_every=options.iterations)
        circuit = Circuit.from_network(net).simplify()
    raw = data.raw("test")
    found = on_board(circuit, raw, word=options.word)
    same = int((found.classes == circuit.predict(raw, raw=True)).sum())
    accuracy = float((found.classes == data.test.y.numpy()).mean())
    print(f"{len(circuit.netlist.gate):,} gates, {100 * accuracy:.2f}% of the test set on the board")
    print(f"Cortex-M0+, -Os, --word {options.word}: {found.text:,} bytes of text, {found.ram:,} bytes of RAM")
    print(f"the same class on {same} of {len(raw)} test images")


if __name__ == "__main__":
    main()
