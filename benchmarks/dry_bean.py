"""Dry Bean (16 columns, 7 kinds, https://archive.ics.uci.edu/dataset/602) in a few hundred look-up tables, all of them
counted: comparisons with thresholds, tables, class sums and argmax.

    python benchmarks/dry_bean.py dry_bean.csv [--seeds 3] [--test] [--save FOLDER] [--tables 70] [--price 5e-4] ...

Columns become bytes on a line from a low to a high quantile of the training rows, clipped, so the circuit reads 16
bytes of fixed point. Settings are judged on validation
rows, the last sixth of the training rows. With --test all training rows are used, and the test rows are read once for
each seed. Look-up tables are those of yosys, of six inputs and of four.
"""

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
import torch

import hardwire as hw
from hardwire.circuit.estimate import estimate
from hardwire.training import Settings
from hardwire.training.run_settings import train_network

OUTSIDE = 0.002  # the share of rows beyond each end


def as_bytes(raw, training):
    """Each column in fixed point: 0 and 255 are the quantiles of training rows next to its ends."""
    low, high = np.quantile(training, (OUTSIDE, 1 - OUTSIDE), axis=0)
    return np.clip(np.rint((raw - low) / (high - low) * 255), 0, 255).astype(np.uint8)


def dataset(path, bits, validation):
    table = hw.data.load(f"{path}#Class")
    raw = {split: table.raw(split) for split in ("train", "test")}
    x = {split: as_bytes(rows, raw["train"]) for split, rows in raw.items()}
    encoder = hw.Encoder.fit(x["train"], bits)
    parts = [(x[split], getattr(table, split).y.numpy()) for split in ("train", "test")]
    if validation:
        (rows, labels), held = parts[0], len(parts[0][0]) // 6
        parts = [(rows[:-held], labels[:-held]), (rows[-held:], labels[-held:])]
    return hw.data.from_arrays(*parts, thresholds=encoder.thresholds, name="dry-bean")


def train(data, arguments, seed):
    settings = Settings(
        "dry-bean", widths=(arguments.tables,), arity=arguments.arity, wiring="learned", method="hard-st",
        candidates=arguments.candidates, iterations=arguments.iterations, batch_size=256, lr=arguments.lr,
        schedule="cosine", redraw={"every": 50, "until": 0.8}, options={"input_gradient": "mixture"},
        area={"thresholds": arguments.price} if arguments.price else None, seed=seed, kind="bits",
        evaluate_every=arguments.iterations,
    )  # fmt: skip
    net = settings.network(data)
    return net, train_network(settings, net, data, progress=False).final.deploy


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path")
    parser.add_argument("--test", action="store_true", help="train on validation rows too, and read the test rows")
    parser.add_argument("--save", type=Path, help="write the circuit of each seed to this folder")
    for name, default in (("seeds", 1), ("tables", 70), ("arity", 6), ("bits", 31), ("candidates", 16),
                          ("iterations", 4000)):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=default)
    for name, default in (("price", 5e-4), ("lr", 0.2)):
        parser.add_argument(f"--{name}", type=float, default=default)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    data = dataset(arguments.path, arguments.bits, validation=not arguments.test)
    accuracies = []
    for seed in range(arguments.seeds):
        started = time.process_time()
        net, accuracy = train(data, arguments, seed)
        seconds = time.process_time() - started
        circuit = hw.Circuit.from_network(net).simplify()
        if arguments.save is not None:
            circuit.save(arguments.save / f"dry-bean-{seed}.circuit")
        counts = [{part.part: part.luts for part in estimate(circuit, lut=lut)} for lut in (6, 4)]
        split = ", ".join(f"{part} {luts}" for part, luts in counts[0].items())
        print(f"seed {seed}: {100 * accuracy:.2f}%; LUT6: {split}; LUT4: all {counts[1]['all']}; {seconds:.0f} CPU s")
        accuracies.append(100 * accuracy)
    spread = statistics.stdev(accuracies) if len(accuracies) > 1 else 0.0
    print(f"{'test' if arguments.test else 'validation'} {statistics.fmean(accuracies):.2f}% +- {spread:.2f}")


if __name__ == "__main__":
    main()
