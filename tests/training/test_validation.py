"""Validation: the rows on which things are chosen, stopping early, keeping the best; and what `fit` can be fed with."""

import numpy as np
import pytest
import torch
from small_runs import digits, same_state, small_net
from torch import nn
from torch.utils.data import DataLoader

import hardwire as hw
from hardwire.data import Split

RUN = {"iterations": 12, "batch_size": 24, "evaluate_every": 2}


class Scores(hw.Callback):
    """Measures that follow a script, whatever the network does."""

    best_by = "score"

    def __init__(self, *scores):
        self.scores = list(scores)

    def __call__(self, net, rows):
        return {"score": self.scores.pop(0)}


def test_validation_is_the_last_sixth_of_the_training_rows_and_is_not_trained_on():
    data = digits()
    rows = len(data.train)
    start = rows - rows // 6
    seen = []

    class Spy(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = small_net()

        def forward(self, x):
            if self.training:
                seen.append(x.words)
            return self.net(x)

    spy = Spy()
    history = hw.fit(spy, data, epochs=1, batch_size=50, validation=True)
    assert history.split == "validation"
    assert history.final.deploy == hw.measure_gap(spy, data.train.batch(slice(start, None))).deploy
    trained = {bytes(row) for row in torch.cat(seen)[:start].numpy()}
    assert trained == {bytes(row) for row in data.train.x.words[:start].numpy()}


def test_without_validation_all_of_train_is_trained_on_and_test_is_measured():
    data = digits()
    net = small_net()
    history = hw.fit(net, data, **RUN)
    assert history.split == "test" and history.final.deploy == hw.measure_gap(net, data.test).deploy
    with pytest.raises(hw.HardwireError, match="not selected"):
        _ = history.best


@pytest.mark.parametrize("selecting", [{"stop_early": 2}, {"keep_best": True}])
def test_selecting_without_validation_is_refused_with_the_way_out(selecting):
    (name,) = selecting
    with pytest.raises(hw.HardwireError, match=f"{name} selects .* nothing may be selected on the test rows.*=True"):
        hw.fit(small_net(), digits(), **RUN, **selecting)
    data = digits()
    with pytest.raises(hw.HardwireError, match="on the train rows"):
        hw.fit(small_net(), (data.train.x, data.train.y), **RUN, **selecting)


def test_the_test_set_is_refused_as_validation_rows():
    data = digits()
    pairs = (data.train.batch(slice(None)), data.test.batch(slice(None)))
    for given, rows in ((data, data.test), (pairs, pairs[1])):
        with pytest.raises(hw.HardwireError, match="the test set is not for validation"):
            hw.fit(small_net(), given, **RUN, validation=rows)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5, float("nan")])
def test_a_share_lies_between_none_and_all(share):
    with pytest.raises(hw.HardwireError, match="is not a share of the training rows"):
        hw.fit(small_net(), digits(), **RUN, validation=share)


def test_training_stops_after_so_many_evaluations_without_a_better_one_also_when_resumed(tmp_path):
    run = {**RUN, "validation": True, "stop_early": 2, "checkpoint": tmp_path / "c"}
    history = hw.fit(small_net(), digits(), **run, measures=Scores(0.1, 0.5, 0.5, 0.4, 0.9, 0.9))
    assert history.column("iteration") == [2, 4, 6, 8] and history.best.iteration == 4
    again = hw.fit(small_net(), digits(), **run, measures=Scores())
    assert again == history
    patient = hw.fit(small_net(), digits(), **{**run, "stop_early": 3}, measures=Scores(0.9, 0.1))
    assert patient.column("iteration") == [2, 4, 6, 8, 10, 12] and patient.best.iteration == 10


def test_the_best_state_is_kept_also_when_resumed_and_the_run_can_still_be_prolonged(tmp_path):
    data = digits()
    at_four = small_net("gumbel-st")
    hw.fit(at_four, data, **{**RUN, "iterations": 4}, validation=True)
    run = {**RUN, "validation": True, "keep_best": True}
    kept = small_net("gumbel-st")
    history = hw.fit(kept, data, **run, measures=Scores(0.1, 0.5, 0.2, 0.3, 0.4, 0.5))
    assert history.best.iteration == 4 and same_state(kept, at_four)

    class StopAt(hw.Callback):
        def on_step(self, run):
            if run.iteration == 7:
                raise RuntimeError("crashed")

    with pytest.raises(RuntimeError, match="crashed"):
        path = tmp_path / "c"
        stopping = Scores(0.1, 0.5, 0.2)
        hw.fit(small_net("gumbel-st"), data, **run, measures=stopping, checkpoint=path, callbacks=[StopAt()])
    resumed = small_net("gumbel-st")
    assert hw.fit(resumed, data, **run, measures=Scores(0.3, 0.4, 0.5), checkpoint=path) == history
    assert same_state(resumed, at_four)

    longer, whole = small_net("gumbel-st"), small_net("gumbel-st")
    hw.fit(longer, data, **{**run, "iterations": 14}, measures=Scores(0.9), checkpoint=path)
    hw.fit(whole, data, **{**RUN, "iterations": 14}, validation=True)
    assert same_state(longer, whole)
    with pytest.raises(hw.HardwireError, match="its keep_best is True, here it is False"):
        hw.fit(small_net("gumbel-st"), data, **{**RUN, "iterations": 14}, validation=True, checkpoint=path)


def test_lower_is_better_where_the_name_has_a_minus_sign():
    scores = Scores(0.5, 0.2, 0.3, 0.4, 0.1, 0.1)
    history = hw.fit(small_net(), digits(), **RUN, validation=True, stop_early=2, best_by="-score", measures=scores)
    assert history.column("score") == [0.5, 0.2, 0.3, 0.4] and history.best.score == 0.2


# What fit is fed with


def test_arrays_of_numpy_and_tensors_train_like_the_dataset_they_come_from():
    data = digits(binary=False)
    runs = []
    for given in (
        data,
        ((data.train.x, data.train.y), (data.test.x, data.test.y)),
        ((data.train.x.numpy().astype(float), data.train.y.numpy()), (data.test.x.numpy(), data.test.y.numpy())),
    ):
        net = small_net(inputs=64)
        runs.append((hw.fit(net, given, **RUN), net))
    assert all(history == runs[0][0] and same_state(net, runs[0][1]) for history, net in runs)


def test_one_pair_of_arrays_is_measured_on_itself_or_on_a_share_that_is_split_off():
    data = digits(binary=False)
    x, y = data.train.x.numpy(), data.train.y.numpy()
    net = small_net(inputs=64)
    history = hw.fit(net, (x, y), **RUN)
    assert history.split == "train" and history.final.deploy == hw.measure_gap(net, data.train).deploy
    net = small_net(inputs=64)
    history = hw.fit(net, (x, y), **RUN, validation=0.25)
    assert history.split == "validation"
    assert history.final.deploy == hw.measure_gap(net, data.train.batch(slice(len(y) - len(y) // 4, None))).deploy


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("digits", "fit trains on a dataset, a pair"),
        ((np.zeros((3, 64)),), "fit trains on a dataset, a pair"),
        ((np.zeros((3, 64)), np.zeros(2, int)), "x_train: 3 rows of x but 2 labels"),
        ((np.zeros((0, 64)), np.zeros(0, int)), r"x_train of shape \[0, 64\] is empty"),
        ((np.zeros((3, 64)), np.zeros(3)), "y_train must be one integer per row"),
        ((np.zeros((3, 64)), np.zeros((3, 1), int)), "y_train must be one integer per row"),
        ((np.zeros((3, 64)), np.array([0, 1, 10])), "labels from 0 to 10 do not fit 10 classes"),
        ((np.full((3, 64), 9), np.zeros(3, int)), "x_train is int64 up to 9; .*thresholds"),
        (((np.zeros((3, 64)), np.zeros(3, int)), (np.zeros((3, 8)), np.zeros(3, int))), "not the same"),
        ((np.zeros((3, 8)), np.zeros(3, int)), "8 features but the network reads 64"),
    ],
)
def test_data_of_another_form_is_refused(data, message):
    with pytest.raises(hw.HardwireError, match=message):
        hw.fit(small_net(inputs=64), data, **RUN)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.zeros((3, 64)), np.zeros(2, int), "3 rows of x but 2 of y"),
        (np.zeros((0, 64)), np.zeros(0, int), "the dataset is empty"),
        (np.zeros((3, 64)), np.zeros(3), "labels are whole numbers"),
        (np.zeros((3, 64)), np.zeros((3, 1), int), "labels are whole numbers"),
    ],
)
def test_data_of_another_form_is_refused_for_other_modules_too(x, y, message):
    with pytest.raises(hw.HardwireError, match=message):
        hw.fit(nn.Sequential(hw.LogicLayer(64, 20, seed=0), hw.GroupSum(10)), (x, y), **RUN)


def test_arrays_for_a_network_of_gates_are_encoded_like_files():
    data = hw.data.load("digits")
    bits, y = data.train.x.unpack(torch.uint8).numpy().reshape(-1, 64, 5), data.train.y.numpy()
    packed, plain = small_net(), small_net()
    expected = hw.fit(packed, (data.train.x, data.train.y), **RUN)
    assert hw.fit(plain, (bits, y), **RUN) == expected and same_state(plain, packed)
    assert plain.encoder.thresholds.tolist() == [[0.5]] * 320
    images = (data.raw("train") * 15).astype(np.uint8)
    net = small_net(inputs=64)
    hw.fit(net, (images, y), **RUN)
    assert net.encoder.thresholds.tolist() == [[127.5]] * 64


def test_a_dataloader_yields_the_batches_and_needs_evaluation_rows():
    data = digits(binary=False)
    rows = list(zip(data.train.x, data.train.y, strict=True))[:100]
    loader = DataLoader(rows, batch_size=30, shuffle=True)
    with pytest.raises(hw.HardwireError, match="no evaluation rows"):
        hw.fit(small_net(inputs=64), loader, **RUN)
    torch.manual_seed(0)
    net = small_net(inputs=64)
    history = hw.fit(net, loader, epochs=3, validation=Split(data.test.x, data.test.y), stop_early=9)
    assert history.column("iteration") == [4, 8, 12] and history.split == "validation"
    torch.manual_seed(0)
    manual = small_net(inputs=64)
    optimizer = torch.optim.Adam(manual.parameters(), lr=0.01, fused=True)
    for _ in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(manual(x), y).backward()
            optimizer.step()
    assert same_state(net, manual)
    with pytest.raises(hw.HardwireError, match="the DataLoader is empty"):
        hw.fit(net, DataLoader([], batch_size=2), iterations=1, validation=data.train)
