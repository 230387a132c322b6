"""The optimizer of every run: torch's fused Adam, without the compiler that torch loads for it.

Surprising: torch.optim marks its methods as not to be compiled, and to say so it imports torch._dynamo, a second of
processor time before the first step of a process. Nothing here is compiled, so this class takes the unmarked methods.
"""

import inspect
from collections.abc import Iterable
from typing import Any

import torch
from torch import optim
from torch.optim import Optimizer


class Adam(optim.Adam):
    """`torch.optim.Adam(..., fused=True)`: one pass over memory, a third of the plain step's time.

    It computes the same bits, and its states are interchangeable with those of torch's. If a version of torch has no
    marks, these are torch's own methods.
    """

    def __init__(self, params: Iterable[Any], lr: float = 1e-3):
        super().__init__(params, lr=lr, fused=True)

    add_param_group = inspect.unwrap(Optimizer.add_param_group)
    zero_grad = inspect.unwrap(Optimizer.zero_grad)
    state_dict = inspect.unwrap(Optimizer.state_dict)
    load_state_dict = inspect.unwrap(Optimizer.load_state_dict)
    step = torch.no_grad()(inspect.unwrap(optim.Adam.step))  # it has no closure to differentiate
