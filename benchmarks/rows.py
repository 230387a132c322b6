"""MNIST read row by row, 28 steps of 28 bits, by a recurrent cell of 4,000 gates; beside it a flat network of as many
gates that sees all 784 bits at once, and a GRU whose float32 parameters take as many bytes as the cell.

    python benchmarks/rows.py [--iterations 400] [--seed 0] [--only loop] [--outputs sum]

The cell learns from the 2 rows in the middle of an image first, then from 4, 8, 14, 20 and all 28 of them, so many
iterations each; the other two take as many iterations in all. The last 5,000 training rows choose the best state of
each; test images are read once, at the end. A gate is counted as the bits that name its two inputs and its function.
"""

import argparse
import math
import time

import torch
from torch import nn

import hardwire as hw

STATE, STEPS, BITS, WIDTHS, VALIDATION, BATCH, RATE = 1000, 28, 28, (1400, 1200, 1400), 1 / 12, 256, 0.03
CANDIDATES, EVERY, ROWS = 8, 100, (2, 4, 8, 14, 20, 28)


def layer(inputs, neurons, seed):
    return hw.LogicLayer(
        inputs, neurons, wiring="learned", candidates=CANDIDATES, start="residual", bonus=2.0, seed=seed
    )


def looped(seed, outputs="last"):
    sizes = [STATE + BITS, *WIDTHS]
    cell = [layer(a, b, 10 * seed + number) for number, (a, b) in enumerate(zip(sizes, WIDTHS, strict=False))]
    loop = hw.Recurrent(cell, STEPS, STATE, outputs=outputs, seed=seed)
    return hw.LogicNetwork(layers=[loop], classes=10, method="hard-st+cage", seed=seed)


def flat(seed):
    layers = [layer(784, 2000, 10 * seed), layer(2000, 2000, 10 * seed + 1)]
    return hw.LogicNetwork(layers=layers, classes=10, method="hard-st+cage", seed=seed)


def bytes_of(cell):
    """Bytes of the gates of a cell: two wires and one of 16 functions each."""
    return sum(size.neurons * (2 * math.ceil(math.log2(size.inputs)) + 4) for size in cell) / 8


class GRU(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.gru, self.head = nn.GRU(BITS, hidden, batch_first=True), nn.Linear(hidden, 10)

    def forward(self, x):
        return self.head(self.gru(x.view(-1, STEPS, BITS))[0][:, -1])


def parameters(net):
    return sum(tensor.numel() for tensor in net.parameters())


def bits(split):
    return split.x.unpack().float(), split.y


def middle_rows(split):
    x, y = bits(split)
    x = x.view(-1, STEPS, BITS).bool()
    return lambda count: (hw.Bits.pack(x[:, 14 - count // 2 :][:, :count].flatten(1)), y)


def accuracy(net, x, y):
    with torch.no_grad():
        return float((net(x).argmax(1) == y).float().mean())


def train_gru(data, hidden, iterations, seed):
    torch.manual_seed(seed)
    net, best, kept = GRU(hidden), 0.0, None
    (x, y), count = bits(data.train), round(len(data.train.y) * VALIDATION)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.003)
    for iteration in range(iterations):
        rows = torch.randint(len(y) - count, (BATCH,))
        loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (iteration + 1) % EVERY == 0 and (score := accuracy(net, x[-count:], y[-count:])) > best:
            best, kept = score, {name: tensor.clone() for name, tensor in net.state_dict().items()}
    if kept is not None:
        net.load_state_dict(kept)
    return net, best


def report(name, start, validation, test, size):
    seconds = time.process_time() - start
    print(f"{name}: validation {100 * validation:.2f}%, test {100 * test:.2f}%; {size}; {seconds:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=400, help="for each number of rows")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--outputs", default="last", choices=["last", "sum"], help="whose votes count in the loop")
    parser.add_argument("--only", choices=["loop", "flat", "gru"], help="train one of the three")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    data = hw.data.load("mnist-binary")
    chosen, all_of_them = (
        {"loop": looped(arguments.seed, arguments.outputs), "flat": flat(arguments.seed)},
        arguments.iterations * len(ROWS),
    )
    size = bytes_of(chosen["loop"].layers[0].cell)
    for name, net in chosen.items():
        if arguments.only not in (None, name):
            continue
        start = time.process_time()
        options = {
            "batch_size": BATCH, "evaluate_every": EVERY, "validation": VALIDATION, "keep_best": True,
            "seed": arguments.seed, "progress": False,
        }  # fmt: skip
        if name == "flat":
            history = hw.fit(net, data, all_of_them, lr=RATE, **options)
        else:
            rates = [RATE * max(0.4, 1 - 0.12 * number) for number in range(len(ROWS))]
            trained = hw.curriculum(
                net, middle_rows(data.train), ROWS, arguments.iterations, lr=rates, until=None, **options
            )
            history = trained.histories[STEPS]
            print({rows: round(max(h.scores()), 4) for rows, h in trained.histories.items()})
        gap = hw.measure_gap(net, data.test)
        gates = f"{sum(WIDTHS):,} gates, {size / 1000:.1f} kB" if name == "loop" else "4,000 gates"
        report(name, start, max(history.scores()), gap.deploy, f"{gates}, gap {100 * gap.total:.2f} points")
    if arguments.only in (None, "gru"):
        hidden = max(h for h in range(1, 200) if 4 * parameters(GRU(h)) <= size)
        start = time.process_time()
        net, best = train_gru(data, hidden, all_of_them, arguments.seed)
        told = f"{hidden} hidden units, {4 * parameters(net) / 1000:.1f} kB"
        report("gru", start, best, accuracy(net, *bits(data.test)), told)


if __name__ == "__main__":
    main()
