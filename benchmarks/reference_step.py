"""One training step of the reference engine against the same network written with 16 gate outputs stacked, the way the
first libraries for logic gate networks write it. Each runs in a process of its own, so that peak memory is its own;
the two take turns, so that a busy machine slows both. Prints the ratios of time and of peak memory last.

    python benchmarks/reference_step.py [--width 8000] [--depth 6] [--batch 512] [--steps 5]
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import torch
from torch import nn

import hardwire as hw

INPUTS, CLASSES = 784, 10


class StackedLayer(nn.Module):
    """Soft gates as a stack [batch, neurons, 16], weighted by softmax in the forward pass."""

    def __init__(self, layer):
        super().__init__()
        self.logits, self.wiring = layer.logits, layer.wiring.long()

    def forward(self, x):
        a, b = x[:, self.wiring[0]], x[:, self.wiring[1]]
        zero, one, ab = torch.zeros_like(a), torch.ones_like(a), a * b
        gates = [zero, ab, a - ab, a, b - ab, b, a + b - 2 * ab, a + b - ab]
        gates += [1 - gate for gate in reversed(gates[1:])] + [one]
        return (torch.stack(gates, dim=-1) * torch.softmax(self.logits, dim=-1)).sum(-1)


def networks(arguments):
    net = hw.LogicNetwork(
        INPUTS, CLASSES, arguments.width, arguments.depth, method="soft-mix", seed=0, engine="reference"
    )
    stacked = nn.Sequential(*(StackedLayer(layer) for layer in net.layers), hw.GroupSum(CLASSES))
    return {"hardwire": net, "stacked": stacked}


def worker(arguments):
    """Answers each line of standard input with the time of one step, then with the peak memory at the end."""
    torch.manual_seed(0)
    torch.set_num_threads(2)
    net = networks(arguments)[arguments.worker]
    x = (torch.rand(arguments.batch, INPUTS) > 0.5).float()
    y = torch.randint(CLASSES, (arguments.batch,))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    warm_up = torch.rand(4, 4, requires_grad=True)
    (warm_up @ warm_up).sum().backward()  # loads what torch loads late, which is nobody's working memory
    idle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in sys.stdin:
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - idle
        print(json.dumps({"seconds": seconds, "peak_mb": peak / 1024, "loss": loss.item()}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--width", type=int, default=8000)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--worker", choices=["hardwire", "stacked"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return worker(arguments)
    workers = {
        name: subprocess.Popen(
            [sys.executable, __file__, *sys.argv[1:], "--worker", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("stacked", "hardwire")
    }
    results = {name: [] for name in workers}
    for step in range(arguments.steps + 1):
        for name, process in workers.items():
            process.stdin.write("step\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            if step:  # the first step warms up
                results[name].append(answer)
    for process in workers.values():
        process.stdin.close()
        process.wait()
    best = {name: min(r["seconds"] for r in rows) for name, rows in results.items()}
    peak = {name: rows[-1]["peak_mb"] for name, rows in results.items()}
    for name, rows in results.items():
        milliseconds, loss = best[name] * 1000, rows[-1]["loss"]
        print(f"{name:10s} {milliseconds:8.1f} ms a step  {peak[name]:8.0f} MB over idle  loss {loss:.6f}")
    faster, smaller = best["stacked"] / best["hardwire"], peak["stacked"] / peak["hardwire"]
    print(f"ratio: {faster:.1f}x the speed, 1/{smaller:.1f} the memory")


if __name__ == "__main__":
    main()
