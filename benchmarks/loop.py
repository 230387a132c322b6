"""One training step of a loop of T steps, against T training steps of the same levels run flat: hard-st, bits, Adam
included (once in a step of the loop, T times in T flat ones). Both print the best of their steps, in turns. The peak
memory of the process so far is printed too: it stays, because a pass keeps nothing of its steps but their input.

    python benchmarks/loop.py [--threads 1] [--steps 20] [--times 4 16 64] [--candidates 8] [--cpu-time]
"""

import argparse
import itertools
import resource
import time

import torch
from turns import Program, take_turns

import hardwire as hw

STATE, BITS, OUT, WIDTH, BATCH = 512, 64, 512, 1024, 512


class Flat(Program):
    """A network that makes `times` steps where another makes one."""

    def __init__(self, times, *arguments):
        super().__init__(*arguments)
        self.count = times

    def step(self):
        before = len(self.times)
        for _ in range(self.count):
            super().step()
        self.times[before:] = [sum(self.times[before:])]


def cell(candidates):
    wiring = {"wiring": "learned", "candidates": candidates} if candidates else {}
    sizes = [STATE + BITS, WIDTH, WIDTH, STATE + OUT]
    return [hw.LogicLayer(a, b, seed=i, **wiring) for i, (a, b) in enumerate(itertools.pairwise(sizes))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=20, help="measured steps of each program; the best counts")
    parser.add_argument("--times", type=int, nargs="+", default=[4, 16, 64])
    parser.add_argument("--candidates", type=int, default=0, help="of learned wires; 0 for fixed ones")
    parser.add_argument("--cpu-time", action="store_true", help="processor time, for machines with other work")
    arguments = parser.parse_args()
    if arguments.cpu_time:
        Program.clock = staticmethod(time.process_time)
    torch.set_num_threads(arguments.threads)
    y = torch.randint(2, (BATCH,), generator=torch.Generator().manual_seed(1))

    def bits(width):
        return hw.Bits.pack(torch.rand(BATCH, width, generator=torch.Generator().manual_seed(0)) > 0.5)

    for times in arguments.times:
        loop = hw.Recurrent(cell(arguments.candidates), times, STATE, seed=0)
        looped = hw.LogicNetwork(layers=[loop], classes=2, seed=0)
        flat = hw.LogicNetwork(layers=cell(arguments.candidates), classes=2, seed=0)
        programs = [Program(looped, bits(times * BITS), y), Flat(times, flat, bits(STATE + BITS), y)]
        take_turns(programs, arguments.steps)
        one, many = (1000 * program.best for program in programs)
        print(
            f"{times:3d} steps: the loop {one:8.1f} ms, flat {many:8.1f} ms, ratio {one / many:.2f}; "
            f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB",
            flush=True,
        )


if __name__ == "__main__":
    main()
