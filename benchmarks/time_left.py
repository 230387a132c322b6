"""How right the time left is that a run shows, from its first line to its last, by processor time.

    python benchmarks/time_left.py mnist-conv --iterations 400 --choose 100

Trains the recipe as `hardwire records try` does, with fewer iterations, and compares each time left with the time that
the run did take from there.
"""

import argparse
import io
import re
import time
from dataclasses import replace

import torch
from rich.console import Console

import hardwire as hw
from hardwire.records import try_recipe
from hardwire.training import choosing, fit, progress


class Screen(io.StringIO):
    """Notes when each line was written."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[float, str]] = []

    def write(self, text: str) -> int:
        self.lines += [(time.process_time(), line) for line in text.splitlines() if line.strip()]
        return len(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("--iterations", type=int, default=400)
    parser.add_argument("--choose", type=int, default=100, help="iterations of each trial of a choice")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    recipe = hw.recipes.load(arguments.recipe, iterations=arguments.iterations)
    if recipe.choose:
        recipe = replace(recipe, choose=recipe.choose | {"iterations": arguments.choose})
    screen = Screen()
    for module in (choosing, fit, progress):
        if hasattr(module, "make_console"):
            module.make_console = lambda stderr=False: Console(file=screen, width=200)
    time.monotonic = time.process_time
    try_recipe(recipe, progress=True)
    end = time.process_time()
    for when, line in screen.lines:
        if shown := re.search(r"(\d+)/(\d+) .* (?:(\d+):)?(\d+):(\d+) left", line):
            hours, minutes, seconds = (int(part or 0) for part in shown.groups()[2:])
            left = 3600 * hours + 60 * minutes + seconds
            print(f"{shown[1]}/{shown[2]}: {left} s left, it took {end - when:.0f} s, "
                  f"{100 * (left / (end - when) - 1):+.0f}%")  # fmt: skip


if __name__ == "__main__":
    main()
