"""One training step (forward, loss, backward, Adam) of the native engine against the reference engine, against
torch.compile of the reference engine, and against torchlogix where it is installed.

All programs of a row take turns step by step in one process, and the best step of each counts, so that a busy machine
slows all of them. The last lines are the ratios. Nothing here is asserted.

    python benchmarks/train_step.py [--threads 2] [--steps 7] [--no-compile] [--wide 64000]
"""

import argparse
import itertools
import time

import torch
from turns import Program, take_turns, torchlogix_layers

import hardwire as hw

INPUTS, CLASSES, BATCH, DEPTH, WIDTH = 784, 10, 512, 6, 8000
ROWS = {  # name: (network arguments, binary input)
    "hard-st, binary": ({"method": "hard-st"}, True),
    "hard-st + cage, binary": ({"method": "hard-st", "cage": True}, True),
    "gumbel-st, binary": ({"method": "gumbel-st"}, True),
    "gumbel-st + cage, binary": ({"method": "gumbel-st", "cage": True}, True),
    "soft-mix, binary": ({"method": "soft-mix"}, True),
    "soft-gumbel, binary": ({"method": "soft-gumbel"}, True),
    "hard-st, continuous": ({"method": "hard-st"}, False),
}


def batch(binary, rows=BATCH):
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(rows, INPUTS, generator=generator)
    y = torch.randint(CLASSES, (rows,), generator=generator)
    return (hw.Bits.pack(x > 0.5) if binary else x), y


def network(engine, width=WIDTH, **arguments):
    return hw.LogicNetwork(INPUTS, CLASSES, width, DEPTH, seed=0, engine=engine, **arguments)


def torchlogix_network():
    layers = torchlogix_layers()
    if layers is None:
        return None
    widths = [INPUTS, *[WIDTH] * DEPTH]
    dense = [layers.LogicDense(a, b) for a, b in itertools.pairwise(widths)]
    return torch.nn.Sequential(*dense, layers.GroupSum(CLASSES, 1.0))


def print_row(name, programs):
    native = programs["native"].best
    others = "  ".join(f"{key} {p.best * 1e3:8.1f} ms ({p.best / native:5.1f}x)" for key, p in programs.items())
    print(f"{name:26s} {others}", flush=True)


def training_rows(arguments):
    ratios = {}
    for name, (options, binary) in ROWS.items():
        x, y = batch(binary)
        programs = {engine: Program(network(engine, **options), x, y) for engine in ("native", "reference")}
        if arguments.compile:
            plain = x.unpack() if binary else x  # compiled code reads floats; unpacking first is to its advantage
            programs["compiled"] = Program(torch.compile(network("reference", **options)), plain, y)
        if name.startswith("soft-mix") and (net := torchlogix_network()):
            programs["torchlogix"] = Program(net, x.unpack(), y)
        take_turns(programs.values(), arguments.steps)
        print_row(name, programs)
        ratios[name] = programs["reference"].best / programs["native"].best
        if name == "hard-st, binary":
            narrow = programs["native"].best
    return ratios, narrow


def wide_row(arguments, narrow):
    """The time per gate of a wide network over that of the narrow one."""
    x, y = batch(True)
    program = {"native": Program(network("native", width=arguments.wide, method="hard-st"), x, y)}
    take_turns(program.values(), arguments.steps)
    print_row(f"hard-st, {arguments.wide} wide", program)
    return program["native"].best / narrow * WIDTH / arguments.wide


def sample_row(arguments):
    """The time of a step with noise for each sample over that of one with noise for the whole batch."""
    x, y = batch(True)
    kinds = {"native": "pass", "a draw a sample": "sample"}
    programs = {key: Program(network("native", method="gumbel-st", noise=kind), x, y) for key, kind in kinds.items()}
    take_turns(programs.values(), arguments.steps)
    print_row("gumbel-st, binary", programs)
    return programs["a draw a sample"].best / programs["native"].best


def copy_row(narrow, steps):
    """What it costs only to copy one float a gate and sample, the bytes that the gradient has."""
    source = torch.rand(DEPTH * WIDTH, BATCH)
    target = torch.empty_like(source)
    times = []
    for _ in range(steps + 2):
        start = time.perf_counter()
        target.copy_(source)
        times.append(time.perf_counter() - start)
    print(f"{'copy of the gradient':26s} copy {min(times) * 1e3:8.1f} ms")
    return narrow / min(times)


@torch.no_grad()
def eval_row(steps, rows=10_000):
    x, _ = batch(True, rows)
    best = {}
    for engine, repeats in (("native", steps), ("reference", 2)):
        net, times = network(engine, method="hard-st").eval(), []
        for _ in range(repeats + 1):
            start = time.perf_counter()
            for piece in [x] if engine == "native" else [x[i : i + 1000] for i in range(0, rows, 1000)]:
                net(piece)
            times.append(time.perf_counter() - start)
        best[engine] = min(times[1:])
    print(f"{'eval of 10,000, packed':26s} native {best['native'] * 1e3:8.1f} ms  "
          f"reference {best['reference'] * 1e3:8.1f} ms ({best['reference'] / best['native']:.0f}x)")  # fmt: skip
    return best["reference"] / best["native"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=7, help="measured steps of each program; the best counts")
    parser.add_argument("--wide", type=int, default=64_000)
    parser.add_argument("--no-compile", dest="compile", action="store_false", help="leave out torch.compile")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(f"{INPUTS}-{DEPTH}x{WIDTH}-{CLASSES}, batch {BATCH}, {arguments.threads} threads, "
          f"{hw.engine.native.instruction_set()}, Adam included")  # fmt: skip
    ratios, narrow = training_rows(arguments)
    wide = wide_row(arguments, narrow)
    sampled = sample_row(arguments)
    copies = copy_row(narrow, arguments.steps)
    evaluation = eval_row(arguments.steps)
    print(f"step over the bare copy: {copies:.1f}x; time per gate at {arguments.wide} wide: {wide:.2f}x; "
          f"a draw a sample: {sampled:.0f}x a draw a pass; eval: {evaluation:.0f}x the reference")  # fmt: skip
    print("ratio to the reference engine: " + "; ".join(f"{name} {ratio:.1f}x" for name, ratio in ratios.items()))


if __name__ == "__main__":
    main()
