"""Torch tensors in the files of `hardwire.files.arrays`, for models and checkpoints.

Surprising: numpy has no bfloat16, so such tensors are kept as float32, which holds their values exactly. Whoever reads
them knows the type they should have.
"""

from collections.abc import Mapping

import torch

from hardwire.files import arrays


def write(
    path: arrays.Path_, kind: str, version: int, tensors: Mapping[str, torch.Tensor], fields: Mapping[str, str]
) -> None:
    """Writes tensors and strings to `path`, whole or not at all."""
    on_cpu = {name: tensor.detach().cpu() for name, tensor in tensors.items()}
    plain = {name: t.float() if t.dtype == torch.bfloat16 else t for name, t in on_cpu.items()}
    arrays.write(path, kind, version, {name: tensor.numpy() for name, tensor in plain.items()}, fields)


def read(path: arrays.Path_, kind: str, version: int) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """Reads the tensors and strings of an undamaged file of this kind and version."""
    content, fields = arrays.read(path, kind, version)
    return {name: torch.from_numpy(array) for name, array in content.items()}, fields
