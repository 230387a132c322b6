"""Images per second of look-up tables beside two-input gates of about the same accuracy, on one core, in one run.

    python benchmarks/circuit_tables.py [--tables 2000] [--arity 6] [--gates 8000] [--inputs 2352] [--images 65536]

Random tables in one layer, their two-input view, and random gates in two layers (as mnist-8k: a quarter, then the rest)
take turns on random packed images; class sums and argmax are inside the time. The ratios are printed last.
"""

import argparse

import numpy as np

from hardwire.bits import pack
from hardwire.circuit.speed import measure_engine, one_core, random_circuit, random_tables

TURNS = 3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (
        ("tables", 2000),
        ("arity", 6),
        ("gates", 8000),
        ("inputs", 2352),
        ("classes", 10),
        ("images", 65_536),
        ("seed", 0),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    tables = random_tables(options.inputs, options.tables, options.classes, options.arity, options.seed)
    widths = (options.gates // 4, options.gates - options.gates // 4)
    circuits = {
        f"{options.tables:,} tables of {options.arity} inputs": tables,
        f"the same as {tables.gates.size:,} gates": tables.as_gates(),
        f"{options.gates:,} gates": random_circuit(options.inputs, widths, None, options.classes, options.seed),
    }
    images = pack(np.random.default_rng(options.seed).integers(0, 2, (options.images, options.inputs), np.uint8))
    with one_core():
        turns = [[measure_engine(circuit, images) for circuit in circuits.values()] for _ in range(TURNS)]
    rates = [max(speed.images_per_second for speed in same) for same in zip(*turns, strict=True)]
    alone = [min(speed.latency for speed in same) for same in zip(*turns, strict=True)]
    for name, rate, latency in zip(circuits, rates, alone, strict=True):
        print(f"{name:32} {rate / 1e6:6.2f} million images/s   one image {latency:6.1f} µs")
    print(f"images/s, tables / the same as gates: {rates[0] / rates[1]:.2f}; tables / gates: {rates[0] / rates[2]:.2f}")
    print(
        f"time of one image, tables / the same as gates: {alone[0] / alone[1]:.2f}; / gates: {alone[0] / alone[2]:.2f}"
    )


if __name__ == "__main__":
    main()
