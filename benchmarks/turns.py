"""What the benchmarks of training share: programs that take turns step by step, so that a busy machine slows all of
them, and the best step of each counts; and torchlogix where it is installed (pip install --no-deps torchlogix).
"""

import sys
import time
import types

import torch
from torch.nn.functional import cross_entropy


class Program:
    """A network, its input and its optimizer; `step` times one training step by the clock of all programs."""

    clock = staticmethod(time.perf_counter)

    def __init__(self, net, x, y):
        self.net, self.x, self.y = net, x, y
        self.optimizer = torch.optim.Adam(net.parameters(), lr=0.01, fused=True)
        self.times = []

    def step(self):
        start = self.clock()
        loss = cross_entropy(self.net(self.x), self.y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.times.append(self.clock() - start)

    @property
    def best(self):
        return min(self.times)


def take_turns(programs, steps, warm_up=2):
    """`steps` measured steps of each of the programs."""
    for turn in range(steps + warm_up):
        for program in programs:
            program.step()
            if turn < warm_up:
                program.times.clear()


def torchlogix_layers():
    """torchlogix.layers, or None. Its compiler of circuits, which does not parse on Python 3.11, stays out."""
    try:
        circuit = types.ModuleType("torchlogix.circuit")
        circuit.Circuit = None
        sys.modules.setdefault("torchlogix.circuit", circuit)
        from torchlogix import layers
    except ImportError:
        print("torchlogix is not installed (pip install --no-deps torchlogix); its rows are left out")
        return None
    return layers
