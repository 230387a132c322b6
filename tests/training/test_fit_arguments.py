"""One loop for everything that trains: losses, measures, schedulers and accumulation are arguments."""

import pytest
import torch
from small_runs import StopAt, digits, same_state, small_net
from torch import nn
from torch.nn import functional as F
from torch.optim import lr_scheduler

import hardwire as hw
from hardwire.systems.choice import auxiliary_loss
from hardwire.training.order import BatchOrder

RUN = {"iterations": 6, "batch_size": 24, "evaluate_every": 2}


def images() -> tuple[torch.Tensor, torch.Tensor]:
    """The digits as images [rows, 1, 8, 8] in [0, 1], and their labels."""
    data = hw.data.load("digits")
    return torch.from_numpy(data.raw("train")).float().view(-1, 1, 8, 8) / 16, data.train.y


def experts(method="hard-st", **settings):
    torch.manual_seed(2)
    parts = [nn.Sequential(nn.Linear(32, 32), nn.ReLU()) for _ in range(4)]
    mixture = hw.MixtureOfExperts(32, parts, method, seed=1, balance=0.1, **settings)
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), mixture, nn.Linear(32, 10))


def autoencoder():
    torch.manual_seed(2)
    quantizer = hw.VectorQuantizer(8, 4, axis=1, seed=1)
    return nn.Sequential(nn.Conv2d(1, 4, 2, stride=2), quantizer, nn.ConvTranspose2d(4, 1, 2, stride=2))


def soft_moe():
    torch.manual_seed(2)
    parts = [nn.Linear(8, 8) for _ in range(3)]
    return nn.Sequential(nn.Flatten(1, 2), hw.SoftMoE(8, parts, seed=1), nn.Flatten(), nn.Linear(64, 10))


def search():
    torch.manual_seed(2)
    return hw.SearchNetwork(1, 10, channels=4, cells=1, nodes=1, method="gumbel-st", cage=True, seed=1)


@pytest.mark.parametrize("make", [experts, soft_moe, search])
def test_classifiers_that_choose_among_other_things_than_gates_train_and_resume_to_the_same_bits(make, tmp_path):
    x, y = images()
    data = (x[:1000], y[:1000]), (x[1000:], y[1000:])
    whole, resumed = make(), make()
    expected = hw.fit(whole, data, **RUN)
    assert expected.split == "test" and expected.column("iteration") == [2, 4, 6]
    assert expected.final.deploy == hw.measure_gap(whole, data[1]).deploy
    assert "commitment" not in vars(expected.final)  # that is for gates
    with pytest.raises(RuntimeError, match="crashed"):
        hw.fit(make(), data, **RUN, checkpoint=tmp_path / "c", callbacks=[StopAt(5)])
    assert hw.fit(resumed, data, **RUN, checkpoint=tmp_path / "c") == expected
    assert same_state(resumed, whole)


def test_a_step_of_a_mixture_adds_its_auxiliary_loss():
    x, y = images()
    fitted, manual = experts(), experts()
    seen = []

    class Losses(hw.Callback):
        def on_step(self, run):
            seen.append(run.loss)

    hw.fit(fitted, (x, y), iterations=3, batch_size=30, lr=0.02, seed=4, callbacks=[Losses()])
    optimizer, order = torch.optim.Adam(manual.parameters(), lr=0.02, fused=True), BatchOrder(len(y), 30, 4)
    for i in range(3):
        batch = order.indices(i)
        loss = F.cross_entropy(manual(x[batch]), y[batch])
        assert loss.item() == seen[i]  # without what the modules ask for
        optimizer.zero_grad()
        (loss + auxiliary_loss(manual)).backward()
        optimizer.step()
    assert same_state(fitted, manual)


def test_an_autoencoder_trains_with_its_own_loss_and_is_judged_by_it(tmp_path):
    x, _ = images()
    data, rows = (x[:1000], x[:1000]), (x[1000:], x[1000:])
    run = {**RUN, "loss": F.mse_loss, "validation": rows}
    net = autoencoder()
    history = hw.fit(net, data, **run, checkpoint=tmp_path / "c")
    gap = hw.measure_gap(net, rows, loss=F.mse_loss)
    assert (history.final.deploy, history.final.total) == (gap.deploy, gap.total)
    assert history.best_by == "-deploy" and history.best.deploy == min(history.column("deploy"))
    assert hw.fit(autoencoder(), data, **run, checkpoint=tmp_path / "c") == history
    with pytest.raises(hw.HardwireError, match="its loss is mse_loss, here it is l1_loss"):
        hw.fit(autoencoder(), data, **{**run, "loss": F.l1_loss}, checkpoint=tmp_path / "c")


class TwoHeads(nn.Module):
    """Gates that name the class, and a linear part that paints the image again."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.net, self.paint = small_net(inputs=64), nn.Linear(64, 64)

    def forward(self, x):
        return self.net(x), self.paint(x)


def two_losses(outputs, targets):
    scores, painted = outputs
    return F.cross_entropy(scores, targets[:, 0].long()) + F.mse_loss(painted, targets[:, 1:])


def measure_both(net, rows):
    with torch.no_grad():
        scores, painted = net.eval()(rows.x)
        net.train()
    right = (scores.argmax(1) == rows.y[:, 0]).double().mean().item()
    return {"accuracy": right, "mse": F.mse_loss(painted, rows.y[:, 1:]).item()}


def test_a_network_of_two_outputs_trains_with_a_loss_and_measures_of_its_own(tmp_path):
    x, y = images()
    x = x.flatten(1)
    data = (x, torch.cat([y[:, None].float(), x], 1))
    run = {
        **RUN,
        "loss": two_losses,
        "measures": measure_both,
        "validation": 0.25,
        "best_by": "-mse",
        "keep_best": True,
    }
    net, again = TwoHeads(), TwoHeads()
    history = hw.fit(net, data, **run, checkpoint=tmp_path / "c")
    assert set(vars(history.final)) == {"iteration", "loss", "accuracy", "mse", "seconds"}
    assert history.best.mse == min(history.column("mse")) and "loss" in repr(history)
    assert hw.fit(again, data, **run, checkpoint=tmp_path / "c") == history and same_state(again, net)


def test_any_module_trains_with_measures_of_its_own():
    x, y = images()
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    measured = []

    def measures(net, rows):
        measured.append(len(rows))
        return {"rows": len(rows), "list": [1.0, 2.0]}

    history = hw.fit(net, (x, y), **RUN, measures=measures, validation=(x[:7], y[:7]), progress=True)
    assert measured == [7, 7, 7] and history.column("rows") == [7, 7, 7] and history.column("list")[0] == [1.0, 2.0]
    with pytest.raises(hw.HardwireError, match="measures returned loss, a name that every record has"):
        hw.fit(net, (x, y), **RUN, measures=lambda net, rows: {"loss": 1.0})


# Length


@pytest.mark.parametrize(("epochs", "iterations", "evaluated"), [(2, 27, [14, 27]), (0.5, 7, [7]), (1, 14, [14])])
def test_epochs_are_passes_over_the_training_rows_with_an_evaluation_after_each(epochs, iterations, evaluated):
    history = hw.fit(small_net(), digits(), epochs=epochs, batch_size=100)  # 1,347 rows
    assert history.column("iteration") == evaluated and history.final.iteration == iterations


def test_epochs_and_iterations_cannot_be_given_together():
    for arguments, message in [
        ({"epochs": 1, "iterations": 5}, "either iterations or epochs"),
        ({"epochs": 0}, "epochs 0 is not a positive number"),
        ({"epochs": float("inf")}, "epochs inf is not a positive number"),
    ]:
        with pytest.raises(hw.HardwireError, match=message):
            hw.fit(small_net(), digits(), **arguments)


# Schedulers


SCHEDULERS = {
    "cosine": lambda o: lr_scheduler.CosineAnnealingLR(o, 12),
    "one cycle": lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=12),
    "steps": lambda o: lr_scheduler.MultiStepLR(o, [3, 9]),
    "function": lambda o: lr_scheduler.LambdaLR(o, lambda step: 0.9**step),
    "two after each other": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.LinearLR(o, total_iters=4), lr_scheduler.ExponentialLR(o, 0.8)], milestones=[4]
    ),
}


@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_scheduler_moves_after_every_step_and_resumes(name, tmp_path):
    data, rates = digits(), []

    class Rates(hw.Callback):
        def on_step(self, run):
            rates.append(run.optimizer.param_groups[0]["lr"])

    run = {"iterations": 12, "batch_size": 24, "evaluate_every": 4, "scheduler": SCHEDULERS[name]}
    whole, resumed = small_net(), small_net()
    expected = hw.fit(whole, data, **run, callbacks=[Rates()])
    alone = SCHEDULERS[name](torch.optim.SGD(small_net().parameters(), lr=0.01, momentum=0.9))
    for rate in rates:
        alone.optimizer.step()
        alone.step()
        assert rate == alone.get_last_lr()[0]
    with pytest.raises(RuntimeError, match="crashed"):
        hw.fit(small_net(), data, **run, checkpoint=tmp_path / "c", callbacks=[StopAt(6)])
    assert hw.fit(resumed, data, **run, checkpoint=tmp_path / "c") == expected
    assert same_state(resumed, whole)


def test_a_plateau_is_judged_by_the_validation_rows_at_evaluations():
    net = small_net()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-9)  # nothing gets better
    plateau = lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", factor=0.1, patience=0, eps=0)
    run = {**RUN, "optimizer": optimizer, "scheduler": plateau}
    with pytest.raises(hw.HardwireError, match=r"ReduceLROnPlateau selects by evaluations.*on the test rows"):
        hw.fit(net, digits(), **run)
    hw.fit(net, digits(), **run, validation=True)
    assert optimizer.param_groups[0]["lr"] == pytest.approx(1e-11)  # three evaluations, two without a better one


def test_a_scheduler_of_another_optimizer_is_refused():
    other = torch.optim.SGD(small_net().parameters(), lr=0.1)
    with pytest.raises(hw.HardwireError, match="changes another optimizer"):
        hw.fit(small_net(), digits(), **RUN, scheduler=lr_scheduler.ExponentialLR(other, 0.9))
    with pytest.raises(hw.HardwireError, match=r"a scheduler is one of torch\.optim\.lr_scheduler, not float"):
        hw.fit(small_net(), digits(), **RUN, scheduler=lambda optimizer: 0.1)


# Accumulation


def test_the_gradient_of_accumulated_batches_is_that_of_one_large_batch():
    data = digits()
    large, small = small_net("soft-mix"), small_net("soft-mix")
    optimizers = [torch.optim.SGD(net.parameters(), lr=10.0) for net in (large, small)]
    expected = hw.fit(large, data, iterations=4, batch_size=48, optimizer=optimizers[0])
    history = hw.fit(small, data, iterations=4, batch_size=12, accumulate=4, optimizer=optimizers[1])
    assert history.final.loss == pytest.approx(expected.final.loss, rel=1e-5)
    for a, b in zip(large.parameters(), small.parameters(), strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("method", ["gumbel-st+cage", "soft-gumbel"])
def test_accumulated_batches_count_as_one_step_and_resume(method, tmp_path):
    data, run = digits(), {**RUN, "accumulate": 3}
    whole, resumed = small_net(method), small_net(method)
    expected = hw.fit(whole, data, **run)
    assert whole.selector.steps == RUN["iterations"]
    with pytest.raises(RuntimeError, match="crashed"):
        hw.fit(small_net(method), data, **run, checkpoint=tmp_path / "c", callbacks=[StopAt(5)])
    assert hw.fit(resumed, data, **run, checkpoint=tmp_path / "c") == expected and same_state(resumed, whole)
    with pytest.raises(hw.HardwireError, match="its accumulate is 3, here it is 1"):
        hw.fit(small_net(method), data, **RUN, checkpoint=tmp_path / "c")
