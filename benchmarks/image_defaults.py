"""The default settings for images and variations of them, by accuracy on validation rows; the test set is not read.

    python benchmarks/image_defaults.py mnist@7 fashion-mnist@7 cifar10-binary@7     # the defaults
    python benchmarks/image_defaults.py mnist@3 --set iterations=4000 widths=4000,4000

One run with the defaults takes about 90 seconds of processor time for MNIST, and a fifth more for CIFAR-10.
"""

import argparse
import time

import torch

from hardwire.training import Settings
from hardwire.training.run_settings import train_network


def value_of(text: str) -> object:
    """A setting as typed: whole numbers, numbers, lists of widths, or text."""
    for kind in (int, float, lambda part: tuple(map(int, part.split(",")))):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings to replace")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    changed = {name: value_of(value) for name, _, value in (part.partition("=") for part in arguments.set)}
    for dataset in arguments.datasets:
        settings = Settings.for_dataset(dataset, validation=True, evaluate_every=10**6, **changed)
        data = settings.load()
        start = time.process_time()
        history = train_network(settings, settings.network(data), data)
        seconds = time.process_time() - start
        print(
            f"{dataset}: {history.final.deploy:.2%} of the validation rows, {seconds:.0f} s of processor time",
            flush=True,
        )


if __name__ == "__main__":
    main()
