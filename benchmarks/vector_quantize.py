"""Our VectorQuantizer against vector-quantize-pytorch on the same vectors and codes: the same indices, and the time of
a training pass and of a lookup, as ratios. The two take turns and the best time of each counts, so that a
busy machine slows both. It needs the other library without letting it pull in another torch:

    pip install --no-deps vector-quantize-pytorch einops einx frozendict loguru torch-einops-utils
    python benchmarks/vector_quantize.py [--vectors 6272] [--features 32] [--codes 512] [--repeats 15] [--threads 1]
"""

import argparse
import time

import torch
from vector_quantize_pytorch import VectorQuantize

import hardwire as hw
from hardwire.systems import auxiliary_loss


def pair(codes: int, features: int):
    """Both quantisers with the same codebook, learnt by gradient, gradients copied to the input."""
    ours = hw.VectorQuantizer(codes, features, seed=0)
    theirs = VectorQuantize(
        dim=features, codebook_size=codes, learnable_codebook=True, ema_update=False, rotation_trick=False
    )
    theirs._codebook.embed.data.copy_(ours.codebook.detach()[None])
    return ours, theirs


def step_ours(ours, z):
    (ours(z).square().mean() + auxiliary_loss(ours)).backward()


def step_theirs(theirs, z):
    values, _, loss = theirs(z)
    (values.square().mean() + loss.sum()).backward()


def best_times(repeats: int, *programs) -> list[float]:
    times = [[] for _ in programs]
    for _ in range(repeats):
        for program, seconds in zip(programs, times, strict=True):
            start = time.perf_counter()
            program()
            seconds.append(time.perf_counter() - start)
    return [min(seconds) for seconds in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("vectors", 6272), ("features", 32), ("codes", 512), ("repeats", 15), ("threads", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    ours, theirs = pair(arguments.codes, arguments.features)
    z = torch.randn(1, arguments.vectors, arguments.features)
    same = (ours.codes(z) == theirs(z)[1]).sum().item()
    print(f"same codes: {same} of {arguments.vectors}")
    training = z.clone().requires_grad_()
    a, b = best_times(arguments.repeats, lambda: step_ours(ours, training), lambda: step_theirs(theirs, training))
    print(f"training step: ours {1e3 * a:.2f} ms, theirs {1e3 * b:.2f} ms, theirs / ours {b / a:.2f}")
    deployed, theirs = ours.deploy(), theirs.eval()
    with torch.no_grad():
        a, b = best_times(arguments.repeats, lambda: deployed(z), lambda: theirs(z))
    print(f"lookup: ours {1e3 * a:.2f} ms, theirs {1e3 * b:.2f} ms, theirs / ours {b / a:.2f}")


if __name__ == "__main__":
    main()
