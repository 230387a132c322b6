"""Mistakes that get one clear error, checkpoints of other runs, callbacks, the progress line, TensorBoard."""

import copy
import errno
import io
import os
import re
import sys

import pytest
import torch
from rich.console import Console
from small_runs import StopAt, digits, same_state, small_net
from torch import nn

import hardwire as hw
from hardwire.data import Dataset, Split
from hardwire.files import tensors as tensorfile
from hardwire.training.checkpoint import KIND, VERSION
from hardwire.training.progress import ProgressLine

RUN = {"iterations": 4, "batch_size": 24, "evaluate_every": 2}


def changed(data, **changes):
    """The dataset with other splits, unchecked: fit must notice by itself."""
    other = copy.copy(data)
    for name, value in changes.items():
        object.__setattr__(other, name, value)
    return other


def unchecked_split(x, y):
    split = copy.copy(digits().train)
    object.__setattr__(split, "x", x)
    object.__setattr__(split, "y", y)
    return split


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"iterations": 0}, "iterations 0 is not a whole number of at least 1"),
        ({"batch_size": 0}, "batch_size 0 is not a whole number of at least 1"),
        ({"batch_size": 2.5}, "batch_size 2.5 is not a whole number of at least 1"),
        ({"evaluate_every": 0}, "evaluate_every 0 is not a whole number of at least 1"),
        ({"eval_batch_size": -1}, "eval_batch_size -1 is not a whole number of at least 1"),
        ({"checkpoint_every": 0}, "checkpoint_every 0 is not a whole number of at least 1"),
        ({"seed": -1}, "seed -1 is not a whole number of at least 0"),
        ({"lr": 0}, "lr 0 must be"),
        ({"lr": float("nan")}, "lr nan must be"),
        ({"optimizer": torch.optim.SGD}, "optimizer is an instance"),
        ({"optimizer": torch.optim.SGD(nn.Linear(1, 1).parameters())}, "no parameter of this network"),
        ({"optimizer": torch.optim.LBFGS(nn.Linear(1, 1).parameters())}, "LBFGS"),
    ],
)
def test_arguments_out_of_range_are_refused_before_anything_happens(arguments, message):
    net = small_net()
    before = copy.deepcopy(net)
    with pytest.raises(hw.HardwireError, match=message):
        hw.fit(net, digits(), **{**RUN, **arguments})
    assert same_state(net, before)


def test_data_that_does_not_fit_the_network_is_refused():
    data = digits()
    x, y = data.train.x, data.train.y
    with pytest.raises(hw.HardwireError, match="320 features but the network reads 64; make it with inputs=320"):
        hw.fit(small_net(inputs=64), data, **RUN)
    with pytest.raises(hw.HardwireError, match="empty"):
        hw.fit(small_net(), changed(data, train=unchecked_split(x[:0], y[:0])), **RUN)
    with pytest.raises(hw.HardwireError, match="labels from 1 to 10 do not fit 10 classes"):
        hw.fit(small_net(), changed(data, train=unchecked_split(x, y + 1)), **RUN)
    with pytest.raises(hw.HardwireError, match="labels from 1 to 10 do not fit 10 classes"):
        hw.fit(small_net(), changed(data, test=unchecked_split(x, y + 1)), **RUN)
    with pytest.raises(hw.HardwireError, match="Linear holds no module that chooses"):
        hw.fit(nn.Linear(320, 10), data, **RUN)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("method", ["hard-st", "soft-mix", "gumbel-st+cage"])
def test_networks_of_other_precision_train_and_resume_to_the_same_bits(method, dtype, tmp_path):
    nets = [small_net(method).to(dtype) for _ in range(3)]
    expected = hw.fit(nets[0], digits(), **RUN)
    with pytest.raises(RuntimeError, match="crashed"):
        hw.fit(nets[1], digits(), **RUN, checkpoint=tmp_path / "c", callbacks=[StopAt(3)])
    assert hw.fit(nets[2], digits(), **RUN, checkpoint=tmp_path / "c") == expected
    assert nets[2].layers[0].logits.dtype == dtype and same_state(nets[0], nets[2])


def test_arrays_in_bfloat16_train_as_the_same_numbers_in_float32():
    x, y = torch.rand(40, 20), torch.arange(40) % 2
    nets = [hw.LogicNetwork(20, 2, widths=[12, 8], seed=0) for _ in range(2)]
    for net, dtype in zip(nets, (torch.bfloat16, torch.float32), strict=True):
        hw.fit(net, (x.bfloat16().to(dtype), y), iterations=2, batch_size=20, progress=False)
    assert same_state(*nets)


def test_a_network_without_values_is_refused():
    with pytest.raises(hw.HardwireError, match=r"layers.0.logits have no values: they are on the meta device"):
        hw.fit(small_net().to("meta"), digits(), **RUN)


def test_a_network_that_is_already_broken_is_refused():
    net = small_net()
    with torch.no_grad():
        net.layers[0].logits[3, 3] = torch.nan
    with pytest.raises(hw.HardwireError, match=r"layers\.0\.logits holds NaN or infinity before the first step"):
        hw.fit(net, digits(), **RUN)


# Checkpoints


def other_data():
    data = digits()
    y = data.train.y.clone()
    y[5] = (y[5] + 1) % 10
    return Dataset("other", Split(data.train.x, y), data.test, classes=10)


@pytest.mark.parametrize(
    ("difference", "message"),
    [
        ({"net": lambda: small_net("soft-mix")}, r"its network.method is hard-st, here it is soft-mix"),
        ({"net": lambda: small_net(tau=0.5)}, "network.temperature.tau is 1.0, here it is 0.5"),
        ({"net": lambda: hw.LogicNetwork(320, 10, widths=[60, 50], seed=4)}, "network.seed is 3, here it is 4"),
        (
            {"net": lambda: hw.LogicNetwork(320, 10, widths=[60, 60], seed=3)},
            "layers.1.arguments.neurons is 50",
        ),
        ({"batch_size": 25}, "batch_size is 24, here it is 25"),
        ({"seed": 1}, "seed is 0, here it is 1"),
        ({"lr": 0.5}, r"optimizer.groups.0.lr is 0.01, here it is 0.5"),
        ({"data": other_data}, "training data.digest"),
        ({"validation": lambda: digits().train}, "evaluation data.rows is 450, here it is 1347"),
    ],
)
def test_the_checkpoint_of_another_run_is_refused_and_kept(difference, message, tmp_path):
    path = tmp_path / "run"
    hw.fit(small_net(), digits(), **RUN, checkpoint=path)
    before = path.read_bytes()
    difference = {name: value() if callable(value) else value for name, value in difference.items()}
    arguments = {"net": small_net(), "data": digits(), **RUN, **difference}
    with pytest.raises(hw.HardwireError, match=f"belongs to another run: .*{message}"):
        hw.fit(**arguments, checkpoint=path)
    assert path.read_bytes() == before


def test_a_damaged_checkpoint_is_refused(tmp_path):
    path = tmp_path / "run"
    hw.fit(small_net(), digits(), **RUN, checkpoint=path)
    whole = path.read_bytes()
    for bad in (whole[: len(whole) // 2], whole[:-5] + b"\0\1\0\1\0", b"text"):
        path.write_bytes(bad)
        with pytest.raises(hw.HardwireError, match="run"):
            hw.fit(small_net(), digits(), **RUN, checkpoint=path)
    for leave_out in ("history", "net.layers.0.logits", "optimizer"):
        path.write_bytes(whole)
        tensors, fields = tensorfile.read(path, KIND, VERSION)
        (tensors if leave_out in tensors else fields).pop(leave_out)
        tensorfile.write(path, KIND, VERSION, tensors, fields)
        with pytest.raises(hw.HardwireError, match="not a checkpoint of this run"):
            hw.fit(small_net(), digits(), **RUN, checkpoint=path)
    hw.save(small_net(), path)
    with pytest.raises(hw.HardwireError, match="is a hardwire-network, not a hardwire-checkpoint"):
        hw.fit(small_net(), digits(), **RUN, checkpoint=path)


def test_a_checkpoint_path_that_cannot_be_written_fails_before_training(tmp_path):
    (tmp_path / "file").write_text("")
    steps = []

    class Count(hw.Callback):
        def on_step(self, run):
            steps.append(run.iteration)

    for path in (tmp_path / "file" / "run", tmp_path / "missing" / "run"):
        with pytest.raises(hw.HardwireError, match="cannot write"):
            hw.fit(small_net(), digits(), **RUN, checkpoint=path, callbacks=[Count()])
    assert steps == []


def test_a_disk_that_fills_up_during_training_leaves_the_last_good_checkpoint(tmp_path, monkeypatch):
    replace = os.replace

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    class Fill(hw.Callback):
        def on_evaluation(self, run, record):
            monkeypatch.setattr(os, "replace", full)

    data = digits()
    whole, resumed = small_net(), small_net()
    expected = hw.fit(whole, data, **RUN)
    with pytest.raises(hw.HardwireError, match="No space left"):
        hw.fit(small_net(), data, **RUN, checkpoint=tmp_path / "run", callbacks=[Fill()])
    assert os.listdir(tmp_path) == ["run"]
    monkeypatch.setattr(os, "replace", replace)
    assert hw.fit(resumed, data, **RUN, checkpoint=tmp_path / "run") == expected
    assert same_state(resumed, whole)


# Callbacks


class Diary(hw.Callback):
    def __init__(self):
        self.events = []

    def on_start(self, run):
        self.events.append("start")

    def on_step(self, run):
        self.events.append(run.iteration)

    def on_evaluation(self, run, record):
        assert run.history.final is record
        self.events.append(f"evaluation {record.iteration}")

    def on_end(self, run):
        self.events.append("end")


def test_callbacks_are_called_in_order_also_when_the_run_breaks_off():
    diary = Diary()
    hw.fit(small_net(), digits(), iterations=3, batch_size=5, evaluate_every=2, callbacks=[diary])
    assert diary.events == ["start", 1, 2, "evaluation 2", 3, "evaluation 3", "end"]

    class Crash(hw.Callback):
        def on_step(self, run):
            raise RuntimeError("crashed")

    diary = Diary()
    with pytest.raises(RuntimeError, match="crashed"):
        hw.fit(small_net(), digits(), **RUN, callbacks=[diary, Crash()])
    assert diary.events == ["start", 1, "end"]


def test_a_learning_rate_schedule_is_a_callback():
    class Halve(hw.Callback):
        def on_step(self, run):
            for group in run.optimizer.param_groups:
                group["lr"] = 0.01 * 0.5**run.iteration

    net = small_net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    hw.fit(net, digits(), **RUN, optimizer=optimizer, callbacks=[Halve()])
    assert optimizer.param_groups[0]["lr"] == 0.01 / 16


def test_the_live_line_shows_everything_and_is_not_redrawn_at_every_step():
    screen = io.StringIO()
    line = ProgressLine(Console(file=screen, force_terminal=True, width=200))
    hw.fit(small_net(), digits(), iterations=60, batch_size=5, evaluate_every=50, callbacks=[line])
    shown = screen.getvalue()
    for part in ("60/60", "loss ", "method ", "argmax ", "deployed ", "gap +0.00", "tau 1", "confidence 0.", "it/s"):
        assert part in shown
    assert shown.count("it/s") < 30


def test_on_80_columns_the_live_line_shows_iteration_accuracy_speed_and_time_left():
    class Stop(hw.Callback):
        def on_step(self, run):
            if run.iteration == 50:
                raise RuntimeError("stopped")

    screen = io.StringIO()
    line = ProgressLine(Console(file=screen, force_terminal=True, width=80))
    net = small_net("gumbel-st+cage")
    with pytest.raises(RuntimeError, match="stopped"):
        hw.fit(net, digits(), iterations=60_000, batch_size=5, evaluate_every=40, callbacks=[line, Stop()])
    lines = [part for part in re.split(r"[\r\n]|\x1b\[\d*[A-Za-z]", screen.getvalue()) if "it/s" in part]
    assert lines and max(map(len, lines)) <= 80
    last = lines[-1]
    assert re.match(r"50/60000  [\d.]+ it/s  [\d:]+ left  deployed [\d.]+%  gap [-+][\d.]+  loss ", last), last


def test_without_a_terminal_progress_is_one_line_for_each_evaluation(capsys):
    hw.fit(small_net(), digits(), **RUN, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 and re.match(r"2/4  [\d.]+ it/s  0:00 left  deployed [\d.]+%  gap \+0.00  loss ", lines[0])
    assert re.match(r"4/4  [\d.]+ it/s  deployed ", lines[1])
    hw.fit(small_net(), digits(), **RUN)
    assert capsys.readouterr().err == ""


def test_tensorboard_gets_every_evaluation(tmp_path):
    pytest.importorskip("tensorboard", reason="needs tensorboard: pip install 'hardwire[tensorboard]'")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    history = hw.fit(small_net("soft-mix"), digits(), **RUN, callbacks=[hw.TensorBoard(tmp_path)])
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    for tag, name in {"accuracy/deploy": "deploy", "gap/selection": "selection", "loss/train": "loss"}.items():
        scalars = events.Scalars(tag)
        assert [event.step for event in scalars] == [2, 4]
        assert [event.value for event in scalars] == pytest.approx(history.column(name))
    layer = events.Scalars("commitment/layer 1")
    assert layer[-1].value == pytest.approx(history.final.commitment[1])


def test_without_tensorboard_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(hw.HardwireError, match=r"pip install 'hardwire\[tensorboard\]'"):
        hw.TensorBoard(tmp_path)
