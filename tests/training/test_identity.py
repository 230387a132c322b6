"""The identity of a run: a checkpoint is continued only by a run in which everything that decides its course agrees."""

import functools

import pytest
import torch
from small_runs import digits, small_net
from torch.nn import functional as F
from torch.optim import lr_scheduler

import hardwire as hw
from hardwire.training.identity import describe, first_difference

RUN = {"iterations": 4, "batch_size": 24, "evaluate_every": 2, "progress": False}


def grouped(net, first=0.01, second=0.01, **options):
    """An optimizer with a learning rate for each of the two layers."""
    groups = [{"params": net.layers[0].logits, "lr": first}, {"params": net.layers[1].logits, "lr": second}]
    return torch.optim.Adam(groups, lr=0.5, **options)


def learned():
    return hw.LogicNetwork(320, 10, widths=[60, 50], seed=3, wiring="learned", candidates=4)


def frozen(net):
    net.layers[0].logits.requires_grad_(False)
    return net


def scaled(factor):
    return lambda scores, y: factor * F.cross_entropy(scores, y)


def augmented(**options):
    return hw.data.augment(digits(), **options)


def redraw(**options):
    return {"net": learned(), "callbacks": [hw.RedrawWires(**{"every": 2, **options})]}


def with_optimizer(make):
    net = small_net()
    return {"net": net, "optimizer": make(net)}


def with_scheduler(make):
    net = small_net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    return {"net": net, "optimizer": optimizer, "scheduler": make(optimizer)}


def shared(make, *variants):
    return [functools.partial(make, variant) for variant in variants]


DIFFERENCES = {
    "learning rate of a group": (
        *shared(with_optimizer, grouped, functools.partial(grouped, second=0.9)),
        "optimizer.groups.1.lr is 0.01, here it is 0.9",
    ),
    "option of an optimizer": (
        *shared(with_optimizer, grouped, functools.partial(grouped, betas=(0.8, 0.999))),
        "optimizer.groups.0.betas.0 is 0.9, here it is 0.8",
    ),
    "weight decay": (
        *shared(with_optimizer, grouped, functools.partial(grouped, weight_decay=0.1)),
        "weight_decay is 0, here it is 0.1",
    ),
    "parameters of a group": (
        *shared(with_optimizer, grouped, lambda net: torch.optim.Adam([{"params": net.parameters(), "lr": 0.01}])),
        r"optimizer.groups.0.parameters",
    ),
    "kind of optimizer": (
        *shared(with_optimizer, grouped, lambda net: torch.optim.AdamW(grouped(net).param_groups)),
        "optimizer.class is Adam, here it is AdamW",
    ),
    "steps of a schedule": (
        *shared(with_scheduler, lambda o: lr_scheduler.StepLR(o, 3), lambda o: lr_scheduler.StepLR(o, 4)),
        "scheduler.step_size is 3, here it is 4",
    ),
    "length of a cosine": (
        *shared(
            with_scheduler,
            lambda o: lr_scheduler.CosineAnnealingLR(o, 100),
            lambda o: lr_scheduler.CosineAnnealingLR(o, 200),
        ),
        "scheduler.T_max is 100, here it is 200",
    ),
    "lambda of a schedule": (
        *shared(
            with_scheduler,
            lambda o: lr_scheduler.LambdaLR(o, lambda i: 0.9**i),
            lambda o: lr_scheduler.LambdaLR(o, lambda i: 0.8**i),
        ),
        r"scheduler.lr_lambdas.0.code",
    ),
    "schedule within a schedule": (
        *shared(
            with_scheduler,
            lambda o: lr_scheduler.ChainedScheduler([lr_scheduler.ExponentialLR(o, 0.9)]),
            lambda o: lr_scheduler.ChainedScheduler([lr_scheduler.ExponentialLR(o, 0.8)]),
        ),
        r"gamma is 0.9, here it is 0.8",
    ),
    "value in a loss": (
        lambda: {"loss": scaled(1.0)},
        lambda: {"loss": scaled(2.0)},
        "loss.closure.0 is 1.0, here it is 2.0",
    ),
    "module as a loss": (
        lambda: {"loss": torch.nn.CrossEntropyLoss()},
        lambda: {"loss": torch.nn.CrossEntropyLoss(label_smoothing=0.1)},
        "loss.label_smoothing is not set, here it is 0.1",
    ),
    "weights of a loss": (
        lambda: {"loss": torch.nn.CrossEntropyLoss(torch.ones(10))},
        lambda: {"loss": torch.nn.CrossEntropyLoss(2 * torch.ones(10))},
        "loss._buffers.weight",
    ),
    "augmentation": (
        lambda: {"data": augmented(shift=1)},
        lambda: {"data": augmented(shift=2)},
        "training data.augmentation.shift is 1, here it is 2",
    ),
    "redrawn wires": (redraw, lambda: redraw(share=0.25), "RedrawWires.share is 0.5, here it is 0.25"),
    "no callback": (redraw, lambda: {"net": learned()}, r"callbacks.RedrawWires.every is 2, here it is not set"),
    "length of a run that redraws": (
        redraw,
        lambda: redraw() | {"iterations": 8},
        "RedrawWires.last is 2, here it is 4",
    ),
    "frozen parameter": (
        lambda: {"net": small_net()},
        lambda: {"net": frozen(small_net())},
        "frozen.0 is not set, here it is layers.0.logits",
    ),
    "evaluations that choose": (
        lambda: {"validation": True, "keep_best": True},
        lambda: {"validation": True, "keep_best": True, "evaluate_every": 1},
        "evaluate_every is 2, here it is 1",
    ),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_run_that_differs_is_refused_by_name_and_the_same_one_goes_on(name, tmp_path):
    first, other, message = DIFFERENCES[name]
    arguments = {"net": small_net(), "data": digits(), **RUN}
    path = tmp_path / "c"
    history = hw.fit(**arguments | first(), checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(hw.HardwireError, match=f"belongs to another run: its .*{message}"):
        hw.fit(**arguments | {"net": small_net()} | other(), checkpoint=path)
    assert path.read_bytes() == before
    assert hw.fit(**arguments | {"net": small_net()} | first(), checkpoint=path) == history


def test_a_row_in_the_middle_of_the_data_counts(tmp_path):
    data = digits()
    hw.fit(small_net(), data, **RUN, checkpoint=tmp_path / "c")
    other = digits()
    other.train.x.words[701] ^= 1
    with pytest.raises(hw.HardwireError, match=r"training data.digest"):
        hw.fit(small_net(), other, **RUN, checkpoint=tmp_path / "c")


def test_callbacks_that_only_observe_may_differ(tmp_path):
    class Watch(hw.Callback):
        def __init__(self):
            self.losses = []

        def on_step(self, run):
            self.losses.append(run.loss)

    history = hw.fit(small_net(), digits(), **RUN, checkpoint=tmp_path / "c", callbacks=[Watch()])
    assert hw.fit(small_net(), digits(), **RUN, checkpoint=tmp_path / "c") == history


def test_the_description_of_functions_sees_their_code_and_values_but_not_their_address():
    def outer(scale, shift=1):
        return lambda x: scale * x + shift

    assert describe(outer(2)) == describe(outer(2)) != describe(outer(3))
    assert describe(lambda x: x + 1) != describe(lambda x: x - 1)
    assert describe(functools.partial(F.cross_entropy, reduction="sum"))["reduction"] == "sum"
    assert describe(F.mse_loss) == "mse_loss"
    assert describe(torch.tensor([1.0])) != describe(torch.tensor([2.0]))
    assert describe(torch.tensor(0.5)) == 0.5 and describe(float("nan")) == "nan"


def test_an_object_that_holds_itself_is_described():
    class Loop:
        def __init__(self):
            self.loop, self.value = self, 3

    assert describe(Loop())["value"] == 3


def test_the_first_difference_is_named_with_both_values():
    assert first_difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}) is None
    assert first_difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}) == "its a.1.b is 2, here it is 3"
    assert first_difference({}, {"a": 1}) == "its a is not set, here it is 1"
    assert "..." in first_difference({"a": "x" * 500}, {"a": 1})
    assert first_difference("damaged", {"a": 1}) is not None
