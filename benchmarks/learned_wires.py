"""One training step with learned wires, each input choosing among 16, against the same network with fixed wires and
against torchlogix with learnable connections: 784-2x8000-10, batch 512, hard-st, bits, Adam included. Ratios come last.

    python benchmarks/learned_wires.py [--threads 2] [--steps 40] [--cpu-time] [--candidates 16]
"""

import argparse
import itertools
import time

import torch
from turns import Program, take_turns, torchlogix_layers

import hardwire as hw

INPUTS, CLASSES, WIDTH, DEPTH, BATCH = 784, 10, 8000, 2, 512


def torchlogix_network(candidates):
    layers = torchlogix_layers()
    if layers is None:
        return None
    options = {"connections": "learnable", "connections_kwargs": {"num_candidates": candidates}}
    sizes = [INPUTS, *[WIDTH] * DEPTH]
    dense = [layers.LogicDense(a, b, **options) for a, b in itertools.pairwise(sizes)]
    return torch.nn.Sequential(*dense, layers.GroupSum(CLASSES, 1.0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=40, help="measured steps of each program; the best counts")
    parser.add_argument("--cpu-time", action="store_true", help="measure CPU time instead; give --threads 1")
    parser.add_argument("--candidates", type=int, default=16)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if arguments.cpu_time:
        Program.clock = staticmethod(time.process_time)
    bits = torch.rand(BATCH, INPUTS, generator=torch.Generator().manual_seed(0)) > 0.5
    y = torch.randint(CLASSES, (BATCH,), generator=torch.Generator().manual_seed(1))
    x = hw.Bits.pack(bits)

    def network(**options):
        return hw.LogicNetwork(INPUTS, CLASSES, WIDTH, DEPTH, method="hard-st", seed=0, **options)

    fixed = Program(network(), x, y)
    learned = Program(network(wiring="learned", candidates=arguments.candidates), x, y)
    take_turns([fixed, learned], arguments.steps)
    ratio = learned.best / fixed.best  # before other turns, after which caches are another program's
    print(f"fixed wires {fixed.best * 1e3:.2f} ms, learned among {arguments.candidates} {learned.best * 1e3:.2f} ms")
    peer = torchlogix_network(arguments.candidates)
    if peer is not None:
        torchlogix = Program(peer, bits.float(), y)
        take_turns([learned, torchlogix], 3, warm_up=1)
        print(f"torchlogix, learnable connections {torchlogix.best * 1e3:.0f} ms")
        print(f"torchlogix / learned: {torchlogix.best / learned.best:.0f}")
    print(f"learned / fixed: {ratio:.2f}")


if __name__ == "__main__":
    main()
