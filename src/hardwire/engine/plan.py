"""What a forward pass needs besides tensors: which pass, which method, at which temperature, with which noise."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardwire.noise import NoiseKey
from hardwire.selection import Method

if TYPE_CHECKING:
    from hardwire.temperature import Temperature

MODES = ("method", "argmax", "deploy")


@dataclass(frozen=True)
class Plan:
    """One forward pass.

    mode: "method", the method's own pass (A^M); "argmax", the argmax gate with its soft formula (A^soft); or
    "deploy", the argmax gate with hard inputs (A^hard).
    advance: this is a training step, so the engine moves `temperature` by the confidence of the logits, once.
    """

    mode: str
    method: Method
    temperature: "Temperature"
    noise: NoiseKey | None = None
    advance: bool = False
