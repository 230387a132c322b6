"""Peak memory of the whole process (Python, torch, parameters, gradients, Adam's state and the engine) in training
steps at the paper's width: 784-6x64000-10, batch 512, hard-st, binary input. Prints megabytes last.

    python benchmarks/train_memory.py [--width 64000] [--depth 6] [--batch 512] [--method hard-st]
"""

import argparse
import resource

import torch

import hardwire as hw


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--width", type=int, default=64_000)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--method", default="hard-st")
    arguments = parser.parse_args()
    net = hw.LogicNetwork(784, 10, arguments.width, arguments.depth, method=arguments.method, seed=0)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01, fused=True)
    x = hw.Bits.pack(torch.rand(arguments.batch, 784) > 0.5)
    y = torch.randint(10, (arguments.batch,))
    for step in range(3):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"after step {step + 1}: {peak:.0f} MB", flush=True)
    print(f"peak memory: {peak:.0f} MB")


if __name__ == "__main__":
    main()
