"""Raw bytes against packed bits, and one image alone, on one core: our engine and our own C export at -O2, in one run.

    python benchmarks/circuit_encoder.py [--circuit FILE] [--width 2000] [--depth 4] [--levels 1] [--images 16384]

A random network (784 bytes an image) or a circuit file that reads bytes. Encoding, gates, class sums and argmax are
inside the time of raw bytes, packing inside that of bits. Printed last: one image, the engine's call against C.
"""

import argparse
import time

import numpy as np

from hardwire.bits import Encoder
from hardwire.circuit import Circuit
from hardwire.circuit.speed import measure_c, measure_engine, one_core, random_circuit

CALLS = 2_000


def native_call(circuit, words):
    """Microseconds of the engine for one packed image, without what Python does around it."""
    native, out, best = circuit.program.native, np.empty(1, np.int64), float("inf")
    for _ in range(9):
        start = time.process_time()
        for _ in range(CALLS):
            native.predict(words, out, circuit.program.lanes, 1, None)
        best = min(best, (time.process_time() - start) / CALLS)
    return best * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--circuit", help="a circuit file, instead of a random network")
    for name, default in (("width", 2000), ("depth", 4), ("levels", 1), ("images", 16_384)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    if options.circuit:
        circuit = Circuit.load(options.circuit)
    else:
        made = random_circuit(784 * options.levels, options.width, options.depth, 10)
        circuit = Circuit(made.simplify().netlist, 10, Encoder.uniform(784, options.levels, 255))
    raw = np.random.default_rng(0).integers(0, 256, (options.images, circuit.encoder.raw_features), np.uint8)
    words = circuit.encoder.encode(raw)
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, : circuit.inputs].astype(bool)
    print(f"{len(circuit.netlist.gate):,} gates, {circuit.encoder.levels} thresholds a byte")
    with one_core():
        lines = {
            "engine, packed bits": measure_engine(circuit, words),
            "engine, raw bytes": measure_engine(circuit, raw, raw=True),
            "C, bits as bytes": measure_c(circuit, bits),
            "C, raw bytes": measure_c(circuit, raw, raw="bytes"),
            "C in tables, raw bytes": measure_c(circuit, raw, form="tables", raw="bytes"),
        }
        alone = native_call(circuit, words[:1])
    for what, line in lines.items():
        print(f"{what:24} {line.images_per_second / 1e6:6.2f} million images/s   one image {line.latency:5.1f} µs")
    print(f"one image, the engine's call alone: {alone:.1f} µs; / C in tables: ", end="")
    print(f"{alone / lines['C in tables, raw bytes'].latency:.2f}; / C in code: ", end="")
    print(f"{alone / lines['C, bits as bytes'].latency:.2f}")


if __name__ == "__main__":
    main()
