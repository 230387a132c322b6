"""Images per second of a circuit on one core: our engine against our own C export at -O2, in one run.

    python benchmarks/circuit_speed.py [--circuit FILE] [--width 8000] [--depth 6] [--images 65536] [--seed 0]

A circuit, or a random network (784 inputs, 10 classes) that our own passes simplify, runs on random images given as
booleans: packing, gates, class sums and argmax are all inside the time. The ratios of the two are printed last, of one
image alone with the call from Python inside the engine's time; --images 64 measures little else.
"""

import argparse
import time

import numpy as np

from hardwire.circuit import Circuit
from hardwire.circuit.speed import measure_c, measure_engine, one_core, random_circuit


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (
        ("inputs", 784),
        ("width", 8000),
        ("depth", 6),
        ("classes", 10),
        ("images", 65_536),
        ("seed", 0),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--circuit", help="a circuit or model file, instead of a random network")
    options = parser.parse_args()
    sizes = (options.inputs, options.width, options.depth, options.classes)
    built = Circuit.load(options.circuit) if options.circuit else random_circuit(*sizes, options.seed)
    start = time.perf_counter()
    circuit = built.simplify()
    seconds = time.perf_counter() - start
    print(f"{len(built.netlist.gate):,} gates, {len(circuit.netlist.gate):,} simplified in {seconds:.2f} s")
    images = np.random.default_rng(options.seed).random((options.images, circuit.inputs)) < 0.5
    with one_core():
        forms = ("code", "tables")
        turns = [
            [measure_engine(circuit, images), *(measure_c(circuit, images, form) for form in forms)] for _ in "123"
        ]
    lines = [max(same, key=lambda line: line.images_per_second) for same in zip(*turns, strict=True)]
    engine, *programs = (min(line.latency for line in same) for same in zip(*turns, strict=True))
    for speed in lines:
        print(
            f"{speed.what:22} {speed.images_per_second / 1e6:6.2f} million images/s   one image {speed.latency:6.1f} µs"
            f"   ready after {speed.preparation:.2f} s"
        )
    print(
        f"images/s, engine / C export: {lines[0].images_per_second / max(s.images_per_second for s in lines[1:]):.2f}"
    )
    print(f"time of one image, engine / C export: {engine / min(programs):.2f}")


if __name__ == "__main__":
    main()
