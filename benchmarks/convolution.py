"""Convolutions of gate trees: the time per neuron and sample against a flat network's, one training step against
torchlogix on the same architecture, and the memory of a step of a large network. Ratios come last.

The architecture is that of LogicTreeNet for CIFAR-10 (Petersen et al., Convolutional Differentiable Logic Gate
Networks, 2024): four blocks of trees of depth 3 over 3x3 places with OR-pooling, k, 4k, 16k and 32k kernels, then three
flat layers; S has k = 32. A network of 7 million neurons a sample has k = 256.

    python benchmarks/convolution.py [--threads 2] [--steps 5] [--k 32] [--batch 128] [--memory] [--cpu-time]

Recipes, and trials of kernel_trials.py, are compared by name: time per neuron and sample, and memory. Kernels that
their training leaves alone are frozen here, too.

    python benchmarks/convolution.py --recipes two three cifar10-conv --threads 1 --cpu-time
    python benchmarks/convolution.py --recipes cifar10-conv-m --threads 1 --cpu-time
"""

import argparse
import resource
import time

import kernel_trials
import torch
from turns import Program, take_turns, torchlogix_layers

import hardwire as hw
from hardwire.recipes import Recipe
from hardwire.training.adam import Adam
from hardwire.training.recipe_settings import settings_of
from hardwire.training.run_settings import parameter_groups

CHANNELS, SIZE, CLASSES = 9, 32, 10  # three thresholds for each of three colours
KERNELS = (1, 4, 16, 32)  # of each block, in units of k
FLAT = (1280, 640, 320)  # widths of the flat layers, in units of k


def conv_layers(k):
    layers, shape = [], (CHANNELS, SIZE, SIZE)
    for number, kernels in enumerate(KERNELS):
        per_kernel = 2 if number else 1
        conv = hw.LogicConv2d(shape, kernels * k, padding=1, channels_per_kernel=per_kernel, seed=number)
        pool = hw.OrPool2d(shape=conv.output_shape)
        layers += [conv, pool]
        shape = pool.output_shape
    return layers


def our_network(k):
    layers = conv_layers(k)
    inputs = layers[-1].neurons
    for number, width in enumerate(FLAT):
        layers.append(hw.LogicLayer(inputs, width * k, seed=100 + number))
        inputs = width * k
    return hw.LogicNetwork(layers=layers, classes=CLASSES, method="hard-st", seed=0)


def torchlogix_network(k):
    layers = torchlogix_layers()
    if layers is None:
        return None
    modules, channels, size = [], CHANNELS, SIZE
    for number, kernels in enumerate(KERNELS):
        options = {"connections_kwargs": {"channel_group_size": 2 if number else 1}}
        conv = layers.LogicConv2d(
            size, channels, kernels * k, tree_depth=3, receptive_field_size=3, padding=1, **options
        )
        modules += [conv, layers.OrPooling2d(kernel_size=2, stride=2)]
        channels, size = kernels * k, size // 2
    modules.append(torch.nn.Flatten())
    inputs = channels * size * size
    for width in FLAT:
        modules.append(layers.LogicDense(inputs, width * k))
        inputs = width * k
    return torch.nn.Sequential(*modules, layers.GroupSum(CLASSES, 20.0))


def neurons_of(net):
    """(those that choose their gate, all of them with the fixed gates of pooling), for one sample."""
    levels = [part.level for part in net.parts()]
    return sum(level.neurons for level in levels if level.parameters()), sum(level.neurons for level in levels)


def batch(size, flat):
    bits = torch.rand(size, CHANNELS * SIZE * SIZE, generator=torch.Generator().manual_seed(0)) > 0.5
    y = torch.randint(CLASSES, (size,), generator=torch.Generator().manual_seed(1))
    return (hw.Bits.pack(bits) if flat else bits.float().view(size, CHANNELS, SIZE, SIZE)), y


def time_per_neuron(arguments):
    """The convolutions, class sums right behind them, against the flat network of the other benchmarks: 6x8000, 512."""
    x, y = batch(arguments.batch, flat=True)
    head = hw.LogicLayer(4 * KERNELS[-1] * arguments.k, 1280, seed=0)
    trees = hw.LogicNetwork(layers=[*conv_layers(arguments.k), head], classes=CLASSES, seed=0)
    flat = hw.LogicNetwork(CHANNELS * SIZE * SIZE, CLASSES, 8000, 6, seed=0)
    programs = {"convolutions": Program(trees, x, y), "flat": Program(flat, *batch(512, flat=True))}
    take_turns(programs.values(), arguments.steps)
    cost = {}
    for name, program in programs.items():
        learned, whole = neurons_of(program.net)
        cost[name] = program.best / learned / len(program.y)
        print(f"{name}: {learned:,} neurons a sample ({whole:,} with pooling), {program.best * 1e3:.1f} ms, "
              f"{cost[name] * 1e9:.3f} ns a neuron and sample")  # fmt: skip
    return cost["convolutions"] / cost["flat"]


def against_torchlogix(arguments):
    peer = torchlogix_network(arguments.k)
    if peer is None:
        return None
    ours = Program(our_network(arguments.k), *batch(arguments.batch, flat=True))
    theirs = Program(peer, *batch(arguments.batch, flat=False))
    take_turns([ours, theirs], 2, warm_up=1)
    print(f"k = {arguments.k}, batch {arguments.batch}: hardwire {ours.best * 1e3:.0f} ms, "
          f"torchlogix {theirs.best * 1e3:.0f} ms")  # fmt: skip
    return theirs.best / ours.best


class RecipeProgram(Program):
    """Training steps of a recipe, of the layers that learn there."""

    def __init__(self, name, size):
        if name in kernel_trials.TRIALS:
            title, entries = kernel_trials.TRIALS[name]
            recipe = Recipe(name=name, iterations=1, **entries(64_000) | {"title": title})
        else:
            recipe = hw.recipes.load(name)
        settings = settings_of(recipe)
        data = settings.load()
        super().__init__(settings.network(data), data.train.x[:size], data.train.y[:size])
        self.optimizer = Adam(parameter_groups(self.net, settings.lr, settings.rates))


def compare_recipes(arguments):
    """Each recipe in turn: the time of a step, and of a neuron and sample as a multiple of the first recipe's."""
    programs = {name: RecipeProgram(name, arguments.batch) for name in arguments.recipes}
    take_turns(programs.values(), arguments.steps)
    cost = {name: program.best / neurons_of(program.net)[1] / arguments.batch for name, program in programs.items()}
    for name, program in programs.items():
        print(f"{name}: {neurons_of(program.net)[1]:,} neurons with pooling, {program.best * 1e3:.0f} ms a step, "
              f"{cost[name] * 1e9:.3f} ns a neuron and sample, {cost[name] / cost[arguments.recipes[0]]:.2f} "
              f"times {arguments.recipes[0]}")  # fmt: skip
    print_peak()


def print_peak():
    print(f"peak memory of the whole process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def memory(arguments):
    program = Program(our_network(arguments.k), *batch(arguments.batch, flat=True))
    print(f"{neurons_of(program.net)[1]:,} neurons a sample", flush=True)
    for _ in range(2):
        program.step()
    print(f"a step {program.best:.1f} s")
    print_peak()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5, help="measured steps of each program; the best counts")
    parser.add_argument("--k", type=int, default=32)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--memory", action="store_true", help="only the memory of a step; use with --k 256")
    parser.add_argument("--cpu-time", action="store_true", help="measure CPU time instead; give --threads 1")
    parser.add_argument("--recipes", nargs="+", metavar="NAME", help="compare these recipes or trials instead")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if arguments.cpu_time:
        Program.clock = staticmethod(time.process_time)
    if arguments.recipes:
        compare_recipes(arguments)
        return
    if arguments.memory:
        memory(arguments)
        return
    per_neuron = time_per_neuron(arguments)
    ratio = against_torchlogix(arguments)
    if ratio is not None:
        print(f"torchlogix / hardwire: {ratio:.0f}")
    print(f"convolution / flat, time per neuron and sample: {per_neuron:.2f}")


if __name__ == "__main__":
    main()
