"""One training step of a layer of look-up tables with learned wires against a layer of two-input gates with as many
wires, and against the same tables in plain torch: 2,000 tables of 6 inputs and 6,000 gates, 2,352 bits, each input
choosing among 16 wires, batch 512, hard-st, Adam included. Programs take turns, and the best step of each counts.
Ratios come last. On a machine with other work, CPU time of one thread says more than the wall clock.

    python benchmarks/tables_step.py [--threads 2] [--steps 40] [--cpu-time] [--tables 2000] [--arity 6]
        [--candidates 16]
"""

import argparse
import time

import torch
from torch import nn
from turns import Program, take_turns

import hardwire as hw

INPUTS, CLASSES, BATCH = 2352, 10, 512


class PlainTables(nn.Module):
    """The same layer by autograd alone: one-hot choices forward, the softmax and the sigmoid backward."""

    def __init__(self, net):
        super().__init__()
        (layer,) = net.layers
        self.register_buffer("wiring", layer.wiring.long())  # [n, tables, K]
        self.logits = nn.Parameter(layer.logits.detach().clone())
        self.wire_logits = nn.Parameter(layer.wire_logits.detach().clone())
        self.temperature = net.head().temperature

    def forward(self, x):
        soft = torch.softmax(self.wire_logits, -1)
        hard = nn.functional.one_hot(soft.argmax(-1), soft.shape[-1]).float()
        weights = hard + soft - soft.detach()
        p = torch.sigmoid(self.logits)
        values = (self.logits > 0).float() + p - p.detach()  # [tables, 2**n]
        for wires, over in zip(self.wiring.flip(0), weights.flip(0), strict=True):  # the last input first
            read = (x[:, wires] * over).sum(-1, keepdim=True)  # [batch, tables, 1]
            low, high = values.chunk(2, dim=-1)
            values = low + read * (high - low)
        return values.squeeze(-1).unflatten(1, (CLASSES, -1)).sum(-1) / self.temperature


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=40, help="measured steps of each native program")
    parser.add_argument("--cpu-time", action="store_true", help="measure CPU time instead; give --threads 1")
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--arity", type=int, default=6)
    parser.add_argument("--candidates", type=int, default=16)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if arguments.cpu_time:
        Program.clock = staticmethod(time.process_time)
    bits = torch.rand(BATCH, INPUTS, generator=torch.Generator().manual_seed(0)) > 0.5
    y = torch.randint(CLASSES, (BATCH,), generator=torch.Generator().manual_seed(1))
    x = hw.Bits.pack(bits)
    gates = arguments.tables * arguments.arity // 2

    def network(width, **options):
        options |= {"wiring": "learned", "candidates": arguments.candidates, "seed": 0}
        return hw.LogicNetwork(INPUTS, CLASSES, width, 1, method="hard-st", **options)

    net = network(arguments.tables, arity=arguments.arity)
    tables, two_inputs = Program(net, x, y), Program(network(gates), x, y)
    plain = Program(PlainTables(net), bits.float(), y)
    plain_scores, native_scores = plain.net(plain.x).detach(), net(x).detach()
    torch.testing.assert_close(plain_scores, native_scores, rtol=1e-4, atol=1e-4)  # the same function
    take_turns([tables, two_inputs], arguments.steps)
    ratio = tables.best / two_inputs.best  # before other turns, after which caches are another program's
    take_turns([tables, plain], 3, warm_up=1)
    print(f"{gates:,} gates {two_inputs.best * 1e3:.2f} ms")
    print(f"{arguments.tables:,} tables of {arguments.arity} inputs {tables.best * 1e3:.2f} ms")
    print(f"the same in plain torch {plain.best * 1e3:.0f} ms")
    print(f"plain torch / tables: {plain.best / tables.best:.0f}")
    print(f"tables / gates: {ratio:.2f}")


if __name__ == "__main__":
    main()
