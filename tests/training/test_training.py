"""The loop itself: batches, records, resuming, stopping."""

import signal
import subprocess
import sys

import pytest
import torch
from small_runs import METHOD_VARIANTS, StopAt, digits, same_state, small_net, with_support
from torch import nn

import hardwire as hw
from hardwire.data import Dataset, Split
from hardwire.measure import Gap
from hardwire.training.checkpoint import flatten, unflatten
from hardwire.training.order import BatchOrder

RUN = {"iterations": 12, "batch_size": 24, "evaluate_every": 5}


def same_optimizer(a, b) -> bool:
    left, right = {}, {}
    same_form = flatten(a.state_dict(), left, "") == flatten(b.state_dict(), right, "")
    return same_form and all(torch.equal(left[name], right[name]) for name in left)


# Batches


def test_an_epoch_visits_every_row_once_and_the_next_epoch_in_another_order():
    order = BatchOrder(rows=10, batch_size=4, seed=0)
    stream = torch.cat([order.indices(i) for i in range(5)])
    assert sorted(stream[:10].tolist()) == sorted(stream[10:].tolist()) == list(range(10))
    assert stream[:10].tolist() != stream[10:].tolist()


def test_a_batch_is_a_function_of_seed_and_iteration_alone():
    forward = BatchOrder(10, 4, seed=7)
    batches = [forward.indices(i) for i in range(8)]
    for i in reversed(range(8)):
        assert torch.equal(BatchOrder(10, 4, seed=7).indices(i), batches[i])
        assert torch.equal(forward.indices(i), batches[i])
    assert any(not torch.equal(BatchOrder(10, 4, seed=8).indices(i), batches[i]) for i in range(8))


def test_a_batch_larger_than_the_dataset_runs_through_it_several_times():
    batch = BatchOrder(rows=3, batch_size=8, seed=0).indices(1)  # positions 8 to 15: the last row of epoch 2, then 3, 4
    assert len(batch) == 8 and sorted(batch[1:4].tolist()) == sorted(batch[4:7].tolist()) == [0, 1, 2]
    data = digits()
    few = Dataset("few", Split(*data.train.batch(slice(0, 3))), data.test, classes=10)
    assert len(hw.fit(small_net(), few, iterations=2, batch_size=8)) == 1


def test_a_batch_of_one_row_works():
    assert hw.fit(small_net("gumbel-st", cage=True), digits(), iterations=2, batch_size=1).final.iteration == 2


# Records


@pytest.mark.parametrize("name", METHOD_VARIANTS)
def test_training_is_repeatable_and_the_seed_matters(name):
    data = digits()
    nets = [small_net(name) for _ in range(3)]
    histories = [hw.fit(net, data, **RUN, seed=seed) for net, seed in zip(nets, (0, 0, 1), strict=True)]
    assert histories[0] == histories[1] and same_state(nets[0], nets[1])
    assert histories[0] != histories[2] and not same_state(nets[0], nets[2])


def test_hard_st_learns_the_digits_with_no_gap_at_any_evaluation():
    net = hw.LogicNetwork(320, 10, width=400, depth=2, method="hard-st", tau=0.5, seed=0)
    history = hw.fit(net, digits(), iterations=200, batch_size=100, lr=0.02, evaluate_every=40)
    assert history.final.deploy > 0.7
    assert history.column("total") == [0.0] * 5 == history.column("selection")
    assert history.column("iteration") == [40, 80, 120, 160, 200]


def test_the_step_is_plain_cross_entropy_and_adam():
    data = digits()
    fitted, manual = small_net("gumbel-st"), small_net("gumbel-st")
    hw.fit(fitted, data, iterations=3, batch_size=30, lr=0.02, seed=4)
    optimizer, order = torch.optim.Adam(manual.parameters(), lr=0.02, fused=True), BatchOrder(len(data.train), 30, 4)
    for i in range(3):
        x, y = data.train.batch(order.indices(i))
        optimizer.zero_grad()
        nn.functional.cross_entropy(manual(x), y).backward()
        optimizer.step()
    assert same_state(fitted, manual)


def test_a_record_holds_what_measuring_gives_and_the_mean_loss_since_the_last():
    seen = []

    class Losses(hw.Callback):
        def on_step(self, run):
            seen.append(run.loss)

    data = digits()
    net = small_net("soft-gumbel", tau=0.7)
    final = hw.fit(net, data, **RUN, callbacks=[Losses()]).final
    gap = hw.measure_gap(net, data.test)
    assert Gap(final.method, final.argmax, final.deploy, len(data.test)) == gap
    assert (final.selection, final.computation, final.total) == (gap.selection, gap.computation, gap.total)
    assert final.loss == pytest.approx(sum(seen[-2:]) / 2)  # evaluated at 5, 10 and 12
    assert final.commitment == hw.commitment(net) and final.gate_usage == hw.gate_usage(net).tolist()
    assert final.confidence == pytest.approx((60 * final.commitment[0] + 50 * final.commitment[1]) / 110)
    assert final.tau == pytest.approx(0.7)
    nodes = hw.node_gaps(net, data.test.x[:32])
    assert final.node_actual == [node.actual_mean for node in nodes]
    assert final.node_bound == [node.bound_mean for node in nodes]


def test_layers_in_a_sequential_train_and_resume_dropout_included(tmp_path):
    def model():
        torch.manual_seed(5)
        return nn.Sequential(
            hw.LogicLayer(320, 60, "gumbel-st", cage=True, seed=0),
            hw.LogicLayer(60, 50, "soft-mix", tau=0.5, seed=1),
            nn.Dropout(0.2),
            hw.GroupSum(10),
        )

    data = digits()
    whole, cut = model(), model()
    torch.manual_seed(9)
    expected = hw.fit(whole, data, **RUN)
    torch.manual_seed(9)
    with pytest.raises(RuntimeError):
        hw.fit(cut, data, **RUN, checkpoint=tmp_path / "c", callbacks=[StopAt(8)])
    torch.manual_seed(1)
    fresh = model()
    assert hw.fit(fresh, data, **RUN, checkpoint=tmp_path / "c") == expected
    assert same_state(fresh, whole)
    assert len(expected.final.commitment) == 2


def test_continuous_data_trains_and_has_a_computation_gap():
    history = hw.fit(small_net("hard-st", inputs=64), digits(binary=False), iterations=100, batch_size=100, lr=0.05)
    assert history.final.selection == 0.0 and history.final.computation != 0.0


def test_fit_gives_the_network_the_datasets_encoder_and_keeps_its_mode():
    data = digits()
    net = small_net().eval()
    hw.fit(net, data, iterations=1, batch_size=10)
    assert net.encoder is data.encoder and not net.training
    own = hw.Encoder.uniform(64, 5, 255)
    net = small_net(encoder=own)
    hw.fit(net, data, iterations=1, batch_size=10)
    assert net.encoder is own and net.training


def test_another_split_can_be_evaluated():
    data = digits()
    net = small_net()
    history = hw.fit(net, data, iterations=2, batch_size=10, validation=data.train)
    assert history.final.deploy == hw.measure_gap(net, data.train).deploy


# Resuming


@pytest.mark.parametrize("name", METHOD_VARIANTS)
@pytest.mark.parametrize("crash", [3, 8])
def test_a_resumed_run_equals_an_uninterrupted_one_bit_for_bit(name, crash, tmp_path):
    data = digits()
    whole, cut, resumed = small_net(name), small_net(name), small_net(name)
    optimizers = [torch.optim.Adam(net.parameters(), lr=0.05) for net in (whole, cut, resumed)]
    expected = hw.fit(whole, data, **RUN, optimizer=optimizers[0])
    checkpoint = {"checkpoint": tmp_path / "run", "checkpoint_every": 7}
    with pytest.raises(RuntimeError, match="crashed"):
        hw.fit(cut, data, **RUN, optimizer=optimizers[1], **checkpoint, callbacks=[StopAt(crash)])
    history = hw.fit(resumed, data, **RUN, optimizer=optimizers[2], **checkpoint)
    assert history == expected and len(history) == 3
    assert same_state(resumed, whole) and same_optimizer(optimizers[2], optimizers[0])


@pytest.mark.parametrize(
    "make",
    [
        lambda p: torch.optim.SGD(p, lr=0.5, momentum=0.9, nesterov=True),
        lambda p: torch.optim.AdamW(p, lr=0.01, amsgrad=True),
        lambda p: torch.optim.Adagrad(p, lr=0.05),
        lambda p: torch.optim.RMSprop(p, lr=0.01, centered=True),
        lambda p: torch.optim.Rprop(p),
        lambda p: torch.optim.Adam([{"params": [next(p)], "lr": 0.1}, {"params": list(p), "betas": (0.5, 0.9)}]),
    ],
)
def test_any_torch_optimizer_resumes(make, tmp_path):
    data = digits()
    nets = [small_net("soft-mix") for _ in range(3)]
    optimizers = [make(net.parameters()) for net in nets]
    expected = hw.fit(nets[0], data, **RUN, optimizer=optimizers[0])
    with pytest.raises(RuntimeError):
        hw.fit(nets[1], data, **RUN, optimizer=optimizers[1], checkpoint=tmp_path / "c", callbacks=[StopAt(7)])
    assert hw.fit(nets[2], data, **RUN, optimizer=optimizers[2], checkpoint=tmp_path / "c") == expected
    assert same_state(nets[2], nets[0]) and same_optimizer(optimizers[2], optimizers[0])


def test_a_nested_state_is_taken_apart_and_put_together_again():
    state = {0: {"a": (1, None, [True, "x"]), "t": torch.arange(3)}, "inf": float("inf"), "deep": [[torch.ones(())]]}
    tensors = {}
    again = unflatten(flatten(state, tensors, "s"), tensors)
    assert repr(again) == repr(state) and sorted(tensors) == ["s.0.t", "s.deep.0.0"]
    with pytest.raises(hw.HardwireError, match=r"s\.f is a function"):
        flatten({"f": test_a_nested_state_is_taken_apart_and_put_together_again}, {}, "s")


def test_a_killed_process_leaves_a_checkpoint_that_resumes_to_the_same_result(tmp_path):
    script = """
import sys, time, torch, hardwire as hw
from small_runs import digits, small_net
RUN = {"iterations": 12, "batch_size": 24, "evaluate_every": 5}

class Wait(hw.Callback):
    def on_step(self, run):
        if run.iteration == 8:
            print("waiting", flush=True)
            time.sleep(600)

torch.set_num_threads(1)
hw.fit(small_net("gumbel-st+cage"), digits(), **RUN, checkpoint=sys.argv[1], callbacks=[Wait()])
"""
    command = [sys.executable, "-c", script, tmp_path / "run"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=with_support()) as process:
        assert process.stdout.readline() == b"waiting\n"
        process.send_signal(signal.SIGKILL)
    whole, resumed = small_net("gumbel-st+cage"), small_net("gumbel-st+cage")
    expected = hw.fit(whole, digits(), **RUN)
    assert hw.fit(resumed, digits(), **RUN, checkpoint=tmp_path / "run") == expected
    assert same_state(resumed, whole)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_end_between_two_steps_with_a_checkpoint_that_resumes(number, tmp_path):
    class Press(hw.Callback):
        def on_step(self, run):
            if run.iteration == 7:
                signal.raise_signal(number)

    data = digits()
    whole, resumed = small_net("gumbel-st"), small_net("gumbel-st")
    expected = hw.fit(whole, data, **RUN)
    handler = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt):
        hw.fit(small_net("gumbel-st"), data, **RUN, checkpoint=tmp_path / "c", callbacks=[Press()])
    assert signal.getsignal(number) is handler
    started = []

    class Start(hw.Callback):
        def on_start(self, run):
            started.append(run.iteration)

    assert hw.fit(resumed, data, **RUN, checkpoint=tmp_path / "c", callbacks=[Start()]) == expected
    assert started == [7] and same_state(resumed, whole)


def test_a_finished_run_is_not_run_again_and_can_be_prolonged(tmp_path):
    data = digits()
    net = small_net()
    first = hw.fit(net, data, iterations=10, batch_size=24, evaluate_every=5, checkpoint=tmp_path / "c")
    again = small_net()
    assert hw.fit(again, data, iterations=10, batch_size=24, evaluate_every=5, checkpoint=tmp_path / "c") == first
    assert same_state(net, again)
    longer, whole = small_net(), small_net()
    prolonged = hw.fit(longer, data, iterations=15, batch_size=24, evaluate_every=5, checkpoint=tmp_path / "c")
    assert prolonged == hw.fit(whole, data, iterations=15, batch_size=24, evaluate_every=5)
    assert same_state(longer, whole)
    with pytest.raises(hw.HardwireError, match="already at iteration 15, past the 10"):
        hw.fit(small_net(), data, iterations=10, batch_size=24, checkpoint=tmp_path / "c")
    fresh = small_net()
    restarted = hw.fit(
        fresh, data, iterations=10, batch_size=24, evaluate_every=5, checkpoint=tmp_path / "c", resume=False
    )
    assert restarted == first


def test_a_run_that_stopped_between_evaluations_is_still_evaluated_at_its_end(tmp_path):
    data = digits()
    with pytest.raises(RuntimeError):
        hw.fit(small_net(), data, **RUN, checkpoint=tmp_path / "c", checkpoint_every=7, callbacks=[StopAt(9)])
    history = hw.fit(small_net(), data, iterations=7, batch_size=24, evaluate_every=5, checkpoint=tmp_path / "c")
    assert history.column("iteration") == [5, 7]


# Stopping


def test_nan_gradients_stop_the_run_and_are_named_and_the_checkpoint_stays_good(tmp_path):
    data = digits()
    net = small_net()

    class Poison(hw.Callback):
        def on_start(self, run):
            self.hook = net.layers[1].logits.register_hook(lambda g: g * torch.nan if run.iteration == 6 else g)

        def on_end(self, run):
            self.hook.remove()

    with pytest.raises(hw.TrainingDiverged, match=r"iteration 8: the gradient of layers\.1\.logits"):
        hw.fit(net, data, **RUN, checkpoint=tmp_path / "c", callbacks=[Poison()])
    good = small_net()
    hw.fit(good, data, **RUN, checkpoint=tmp_path / "c")
    assert torch.isfinite(good.layers[1].logits).all()


@pytest.mark.parametrize("iterations", [1, 5])
def test_a_step_far_too_large_says_which_logits_went_first_also_at_the_very_end(iterations):
    net = small_net("soft-mix")
    for layer in net.layers:
        layer.logits.register_hook(lambda gradient: gradient * 1e9)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e38)
    with pytest.raises(hw.TrainingDiverged, match=r"iteration [12]: layers\.0\.logits .* finite gradients"):
        hw.fit(net, digits(), iterations=iterations, batch_size=10, optimizer=optimizer)


def test_infinite_scores_stop_the_run():
    class Blown(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = small_net()

        def forward(self, x):
            return self.net(x) * (torch.inf if self.training else 1.0)

    with pytest.raises(hw.TrainingDiverged, match="iteration 1: the class scores are not finite"):
        hw.fit(Blown(), digits(), iterations=3, batch_size=10)
