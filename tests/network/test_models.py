"""Model files: what goes in comes out, in any process, and nothing else ever comes out."""

import copy
import errno
import json
import os
import pickle
import subprocess
import sys

import pytest
import torch
from cases import needs_native
from safetensors.torch import load_file, save_file
from small_runs import METHOD_VARIANTS, digits, same_state, small_net, with_support
from torch import nn

import hardwire as hw
from hardwire import models
from hardwire.engine import MODES
from hardwire.files import tensors as tensorfile
from hardwire.temperature import TEMPERATURES, Cosine, Linear, Temperature, from_config


def saved(tmp_path, **arguments):
    path = tmp_path / "net.safetensors"
    net = small_net(**arguments)
    hw.save(net, path)
    return net, path


def rewritten(path, change):
    """The file again with its tensors and config changed, and a digest that fits."""
    tensors, fields = tensorfile.read(path, models.KIND, models.VERSION)
    config = json.loads(fields["config"])
    change(tensors, config)
    fields = {"config": json.dumps(config), "units": hw.Encoder([[1]]).units()}
    tensorfile.write(path, models.KIND, models.VERSION, tensors, fields)
    return path


@pytest.mark.parametrize("name", METHOD_VARIANTS)
def test_a_loaded_network_has_the_same_state_form_and_answers(name, tmp_path):
    data = digits()
    net = small_net(name, encoder=data.encoder, group_temperature=2.5)
    hw.fit(net, data, iterations=3, batch_size=20)
    path = tmp_path / "net.safetensors"
    hw.save(net, path)
    loaded = hw.load(path)
    assert not loaded.training and same_state(net, loaded)
    assert models.config_of(loaded) == models.config_of(net)
    assert (loaded.encoder.thresholds == net.encoder.thresholds).all()
    for mode in MODES:  # the method's own pass too: noise and temperature are in the file
        with torch.no_grad(), hw.selection_mode(net, mode), hw.selection_mode(loaded, mode):
            assert torch.equal(loaded(data.test.x), net(data.test.x))


@pytest.mark.parametrize("tau", [0.05, Linear(2.0, 0.1, 50), Cosine(1.5, 0.25, 7)])
def test_every_temperature_is_saved_with_its_arguments_and_state(tau, tmp_path):
    net = small_net("soft-mix", tau=tau)
    hw.fit(net, digits(), iterations=3, batch_size=20)
    hw.save(net, tmp_path / "net")
    loaded = hw.load(tmp_path / "net")
    assert same_state(net, loaded)
    assert repr(loaded.selector.temperature) == repr(net.selector.temperature)


def test_temperatures_come_back_from_their_config_and_bad_configs_are_refused():
    for temperature in (hw.CAGE(2.0, 0.25, 0.9, 7), Linear(2, 1, 5)):
        assert from_config(temperature.config()).config() == temperature.config()
    assert {from_config({"name": "constant", "tau": 0.5}).config()["name"]} <= set(TEMPERATURES)
    for config in ({"name": "warm"}, {}, {"name": "constant"}, {"name": "constant", "tau": "hot"}):
        with pytest.raises(hw.HardwireError, match="temperature"):
            from_config(config)

    class Own(Temperature):
        pass

    with pytest.raises(hw.HardwireError, match="Own is not registered, so it cannot be saved"):
        Own(1.0).config()


def test_a_network_in_double_precision_comes_back_in_double_precision(tmp_path):
    net = small_net().double()
    hw.save(net, tmp_path / "net")
    assert hw.load(tmp_path / "net").layers[0].logits.dtype == torch.float64
    assert same_state(hw.load(tmp_path / "net"), net)


def test_another_process_gives_identical_answers(tmp_path):
    data = digits()
    net, path = saved(tmp_path, method="gumbel-st", encoder=data.encoder)
    script = """
import sys, torch, hardwire as hw
from small_runs import digits
from safetensors.torch import save_file
net, x = hw.load(sys.argv[1]), digits().test.x
with torch.no_grad():
    save_file({"deployed": net(x).contiguous(), "noisy": net.train()(x).contiguous()}, sys.argv[2])
"""
    answers = tmp_path / "answers"
    subprocess.run(
        [sys.executable, "-c", script, path, answers],
        check=True,
        env=with_support(),
        timeout=600,
    )
    answers = load_file(answers)
    with torch.no_grad():
        assert torch.equal(answers["noisy"], net.train()(data.test.x))
        assert torch.equal(answers["deployed"], net.eval()(data.test.x))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
@pytest.mark.parametrize("name", METHOD_VARIANTS)
def test_copies_train_on_exactly_like_the_original(name, copied):
    data = digits()
    net = small_net(name)
    hw.fit(net, data, iterations=2, batch_size=30)
    twin = copied(net)
    for each in (net, twin):
        hw.fit(each, data, iterations=2, batch_size=30, seed=1)
    assert same_state(net, twin)


def test_a_cut_file_is_one_clear_error_wherever_it_was_cut(tmp_path):
    _, path = saved(tmp_path)
    whole = path.read_bytes()
    for length in [0, 1, 7, 8, 9, 100, len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(hw.HardwireError, match=r"net\.safetensors"):
            hw.load(path)


def test_a_flipped_bit_is_noticed_wherever_it_is(tmp_path):
    _, path = saved(tmp_path)
    whole = path.read_bytes()
    for place in range(0, len(whole), len(whole) // 60):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(hw.HardwireError, match=r"net\.safetensors"):
            hw.load(path)


def test_other_kinds_of_files_are_refused_by_what_they_are(tmp_path):
    text, foreign, checkpoint = tmp_path / "a.txt", tmp_path / "b", tmp_path / "c"
    text.write_text("not a network at all, but long enough to be one\n" * 50)
    save_file({"x": torch.zeros(3)}, foreign)
    hw.fit(small_net(), digits(), iterations=1, batch_size=10, checkpoint=checkpoint)
    for path, message in [
        (text, "not a hardwire-network file"),
        (foreign, "another program"),
        (checkpoint, "is a hardwire-checkpoint, not a hardwire-network"),
        (tmp_path / "missing", "no file"),
        (tmp_path, "cannot read|not a hardwire-network"),
    ]:
        with pytest.raises(hw.HardwireError, match=message):
            hw.load(path)


def test_a_newer_version_says_to_upgrade(tmp_path):
    path = tmp_path / "net"
    tensorfile.write(path, models.KIND, models.VERSION + 1, {}, {})
    with pytest.raises(hw.HardwireError, match="upgrade hardwire"):
        hw.load(path)
    tensorfile.write(path, models.KIND, "one", {}, {})
    with pytest.raises(hw.HardwireError, match="version"):
        hw.load(path)


def _set(name, value):
    return lambda tensors, config: tensors.__setitem__(name, value)


def _configure(**changes):
    return lambda tensors, config: config.update(changes)


def _change_layer(**changes):
    return lambda tensors, config: config["layers"][0]["arguments"].update(changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensors, config: tensors.pop("layers.1.logits"), "layer 1 of its config holds 900 numbers, but .* 100"),
        (lambda tensors, config: tensors.pop("selector.steps"), "selector.steps is missing"),
        (_set("extra", torch.zeros(1)), "no such network has: extra"),
        (_set("layers.0.logits", torch.zeros(60, 17)), "do not fit 60 neurons"),
        (_set("layers.0.logits", torch.zeros(60, 16).double()), "float64"),
        (_set("layers.0.logits", torch.full((60, 16), torch.nan)), "layers.0.logits must be finite"),
        (_set("layers.0.wiring", torch.full((2, 60), 320, dtype=torch.int32)), "0 to 319"),
        (_set("layers.1.wiring", torch.full((2, 50), -1, dtype=torch.int32)), "0 to 59"),
        (_set("selector.temperature.tau", torch.tensor(0.0)), "tau must be above 0"),
        (_set("selector.temperature.tau", torch.tensor(torch.nan)), "finite"),
        (_set("selector.steps", torch.tensor(-1)), "selector.steps"),
        (_set("encoder.thresholds", torch.zeros(3, 3)), "9 bits"),
        (_set("encoder.thresholds", torch.full((64, 5), torch.inf)), "finite"),
        (_set("encoder.thresholds", torch.zeros(64, 5).double()), "float64"),
        (_change_layer(neurons=10**12), "holds 18,000,000,000,000 numbers, but the file has 1,080"),
        (_change_layer(neurons=-50), "neurons -50"),
        (_change_layer(inputs=10**12), "1,000,000,000,000 inputs of a layer are more than"),
        (_change_layer(candidates=3), "holds 1,680 numbers"),
        (_change_layer(wiring="knotted"), "unknown wiring"),
        (_change_layer(shape=[1, 2]), "takes no shape"),
        (_change_layer(start=["x"]), "unknown start"),
        (_change_layer(start="residual", bonus="much"), "could not convert"),
        (_change_layer(groups=None), "groups None"),
        (_configure(layers=[]), "layers .. leaves no layer"),
        (_configure(layers=[1]), "layer 0 of its config is 1"),
        (_configure(layers=[{"kind": "x", "arguments": {}}]), "unknown kind of layer"),
        (_configure(layers={"kind": "logic"}), "its config entry layers is"),
        (_configure(seed=10**19), "seed 10000000000000000000 is not"),
        (_configure(inputs=True), "inputs"),
        (_configure(inputs=10), "reads 320 inputs, but its config says 10"),
        (_configure(classes=7), "7 equal classes"),
        (_configure(method="softest"), "unknown method"),
        (_configure(temperature={"name": "constant", "tau": -1}), "tau -1"),
        (_configure(temperature={"name": []}), "unknown temperature"),
        (_configure(temperature={"name": "linear", "start": 1, "end": 1, "steps": float("nan")}), "steps nan"),
        (_configure(dtype="complex64"), "dtype"),
        (_configure(seed=-1), "seed -1"),
        (_configure(group_temperature=-1.0), "group temperature"),
        (_configure(group_temperature=10**400), "a number of 401 digits"),
        (_configure(surprise=1), "exactly the entries"),
    ],
)
def test_a_file_that_lies_is_refused(change, message, tmp_path):
    _, path = saved(tmp_path)
    with pytest.raises(hw.HardwireError, match=message):
        hw.load(rewritten(path, change))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ("[" * 100_000, "nested more than 60 deep"),
        ("[" * 70 + "]" * 70, "nested more than 60 deep"),
        ("9" * 5000, "a number of 5000 digits"),
        ('"\\ud800"', "surrogates not allowed"),
    ],
)
def test_a_config_that_is_not_moderate_json_is_refused(text, message, tmp_path):
    path = tmp_path / "net"
    tensorfile.write(path, models.KIND, models.VERSION, {}, {"config": text})
    with pytest.raises(hw.HardwireError, match=message):
        hw.load(path)


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(call, tmp_path, monkeypatch):
    net, path = saved(tmp_path)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, full)
    with pytest.raises(hw.HardwireError, match="No space left"):
        hw.save(small_net("soft-mix"), path)
    assert os.listdir(tmp_path) == [path.name]
    assert same_state(hw.load(path), net)


def test_a_path_that_cannot_be_written_is_one_error(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "net", tmp_path / "missing" / "net", tmp_path):
        with pytest.raises(hw.HardwireError, match="cannot write"):
            hw.save(small_net(), path)
    with pytest.raises(hw.HardwireError, match="name a file"):
        hw.save(small_net(), "")
    assert os.listdir(tmp_path) == ["file"]


def test_what_cannot_be_saved_is_refused_before_a_file_is_made(tmp_path):
    with pytest.raises(hw.HardwireError, match="Linear is not a network of gates"):
        hw.save(nn.Linear(2, 2), tmp_path / "net")
    net = small_net()
    with torch.no_grad():
        net.layers[0].logits[0, 0] = torch.inf
    with pytest.raises(hw.HardwireError, match=r"layers\.0\.logits"):
        hw.save(net, tmp_path / "net")
    assert os.listdir(tmp_path) == []


@needs_native
def test_what_wires_learn_from_is_an_argument_and_stays_with_the_model(tmp_path):
    def made(**options):
        return hw.LogicNetwork(20, 2, widths=[12, 8], wiring="learned", candidates=4, seed=0, **options)

    x = (torch.rand(64, 20, generator=torch.Generator().manual_seed(0)) > 0.5).float()
    gradients = {}
    for name in ("chosen", "mixture"):
        for engine in ("native", "reference"):
            net = made(wire_gradient=name, engine=engine)
            torch.nn.functional.cross_entropy(net(x), torch.arange(64) % 2).backward()
            gradients[name, engine] = torch.cat([layer.wire_logits.grad.flatten() for layer in net.layers])
        assert torch.allclose(gradients[name, "native"], gradients[name, "reference"], atol=1e-6)
    assert not torch.allclose(gradients["chosen", "native"], gradients["mixture", "native"], atol=1e-4)
    hw.save(made(wire_gradient="mixture"), tmp_path / "net.safetensors")
    assert hw.load(tmp_path / "net.safetensors").selector.wire_gradient == "mixture"
    with pytest.raises(hw.HardwireError, match="wire_gradient"):
        made(wire_gradient="mixtur")


def test_what_goes_down_to_a_gates_inputs_is_an_argument_and_stays_with_the_model(tmp_path):
    """The straight-through estimator behind a neuron's output: hard forwards, and backwards the mixture's gradient."""
    options = {"method": "hard-st", "tau": 1.3, "group_temperature": 2.0, "input_gradient": "mixture"}
    net = hw.LogicNetwork(20, 2, widths=[12, 8], seed=0, **options)
    x = (torch.rand(64, 20, generator=torch.Generator().manual_seed(0)) > 0.5).float()
    scores = net(x)
    torch.nn.functional.cross_entropy(scores, torch.arange(64) % 2).backward()
    h, coefficients, copies = x, torch.tensor(hw.gates.COEFFICIENTS), []
    for layer in net.layers:
        z = layer.logits.detach().clone().requires_grad_()
        a, b = (h[:, wires.long()] for wires in layer.wiring)
        features = torch.stack([torch.ones_like(a), a, b, a * b], -1)
        soft = (features * (torch.softmax(z / 1.3, 1) @ coefficients)).sum(-1)
        h = (features * coefficients[z.argmax(1)]).sum(-1).detach() + soft - soft.detach()
        copies.append(z)
    expected = h.view(64, 2, 4).sum(2) / 2.0
    assert torch.allclose(scores, expected, atol=1e-6)
    torch.nn.functional.cross_entropy(expected, torch.arange(64) % 2).backward()
    for layer, z in zip(net.layers, copies, strict=True):
        assert torch.allclose(layer.logits.grad, z.grad, atol=1e-6)
    hw.save(net, tmp_path / "net.safetensors")
    assert hw.load(tmp_path / "net.safetensors").selector.input_gradient == "mixture"
    with pytest.raises(hw.HardwireError, match="unknown input_gradient 'mixtur'"):
        hw.LogicNetwork(20, 2, widths=[8], input_gradient="mixtur")


@pytest.mark.parametrize("name", [None, *hw.selection.STRAIGHT_THROUGH])
def test_the_straight_through_estimator_stays_with_the_model(tmp_path, name):
    net = hw.LogicNetwork(20, 2, widths=[8], method="gumbel-st", seed=0, straight_through=name)
    hw.save(net, tmp_path / "net.safetensors")
    loaded = hw.load(tmp_path / "net.safetensors").selector
    assert (loaded.surrogate, loaded.input_gradient) == (net.selector.surrogate, net.selector.input_gradient)


def test_one_network_always_makes_the_same_bytes(tmp_path):
    data = digits()
    net = small_net("gumbel-st", encoder=data.encoder)
    contents = set()
    for number in range(20):
        hw.save(net, tmp_path / str(number), dataset="digits", settings={"b": 1, "a": [2.5]})
        contents.add((tmp_path / str(number)).read_bytes())
    assert len(contents) == 1


def test_a_tensor_that_is_not_contiguous_keeps_its_values(tmp_path):
    values = torch.arange(24.0).view(4, 6)
    tensors = {"turned": values.T, "part": values[::2, 1:3], "number": torch.tensor(3)}
    tensorfile.write(tmp_path / "t", "kind", 1, tensors, {})
    back, _ = tensorfile.read(tmp_path / "t", "kind", 1)
    assert all(torch.equal(back[name], tensor) for name, tensor in tensors.items())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_a_network_keeps_its_precision(dtype, tmp_path):
    net = small_net(wiring="learned", candidates=3).to(dtype)
    hw.save(net, tmp_path / "net")
    loaded = hw.load(tmp_path / "net")
    assert loaded.layers[0].logits.dtype == dtype and same_state(loaded, net)


def test_the_inputs_that_a_layer_may_read_stay_with_the_model(tmp_path):
    subset = list(range(0, 320, 3))
    net = hw.LogicNetwork(320, 10, widths=[60, 50], seed=3, wiring="learned", candidates=4, input_subset=subset)
    hw.save(net, tmp_path / "net")
    loaded = hw.load(tmp_path / "net")
    assert loaded.layers[0].input_subset.tolist() == subset and loaded.layers[1].input_subset is None
    assert same_state(loaded, net)


def test_a_network_without_values_is_refused(tmp_path):
    with pytest.raises(hw.HardwireError, match=r"the numbers of .* have no values"):
        hw.save(small_net().to("meta"), tmp_path / "net")


def test_a_pipe_or_a_device_is_refused_without_waiting_for_it(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(hw.HardwireError, match="not a regular file"):
            hw.load(path)
