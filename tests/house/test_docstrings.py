"""The examples in docstrings run, and public names have a summary, their arguments and an example."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import hardwire as hw
from hardwire.layers import LAYERS
from hardwire.temperature import TEMPERATURES
from hardwire.wiring import WIRINGS

PACKAGES = ("data", "estimators", "recipes", "records", "zoo")
CORE = (
    "bits", "engine", "errors", "gates", "layers", "measure", "methods", "network", "noise", "randomness", "selection",
    "systems", "temperature", "training.redraw", "wiring",
)  # fmt: skip
CLASSES = (
    hw.Binarize, hw.Bits, hw.CAGE, hw.Choice, hw.Encoder, hw.ExpertChoice, hw.GroupSum, hw.LogicConv2d, hw.LogicLayer,
    hw.LogicNetwork, hw.MixtureOfExperts, hw.NumberSum, hw.OrPool2d, hw.RedrawWires, hw.SearchCell, hw.SearchNetwork,
    hw.SoftMoE, hw.TopExperts, hw.VectorQuantizer, hw.temperature.Cosine, hw.temperature.Linear,
)  # fmt: skip
WITH_EXAMPLE = (
    hw.HardwireError, hw.LogicClassifier, hw.LogicRegressor, hw.data.Dataset, hw.data.Images, hw.data.Split,
    hw.engine.Level, hw.engine.Stack, hw.gates.Gate,
)  # fmt: skip
FUNCTIONS = (
    hw.Encoder.fit, hw.Encoder.uniform, hw.commitment, hw.fuse, hw.gate_usage, hw.layers.register_layer,
    hw.loss_bound, hw.measure_gap, hw.node_gaps, hw.one_step, hw.select, hw.selection.selection_weights,
    hw.selection_mode, hw.systems.auxiliary_loss, hw.systems.choice_usage, hw.systems.deploy,
    hw.temperature.register_temperature, hw.wiring.candidate_wiring, hw.wiring.random_wiring,
    hw.wiring.register_wiring, hw.wiring.structured_wiring,
)  # fmt: skip


def modules(package):
    """A module, or a package and all modules in it."""
    parent = importlib.import_module(f"hardwire.{package}")
    yield parent
    for module in pkgutil.walk_packages(getattr(parent, "__path__", []), f"{parent.__name__}."):
        yield importlib.import_module(module.name)


@pytest.fixture
def registries():
    """Examples may register a layer, a wiring or a temperature; other tests do not see it."""
    before = [(registry, dict(registry)) for registry in (LAYERS, TEMPERATURES, WIRINGS)]
    yield
    for registry, entries in before:
        registry.clear()
        registry.update(entries)


@pytest.mark.parametrize("package", [*PACKAGES, *CORE])
def test_the_examples_of_docstrings_run(package, tmp_path, monkeypatch, registries):
    monkeypatch.chdir(tmp_path)
    finder = doctest.DocTestFinder()
    for module in modules(package):
        for test in finder.find(module):
            failures = []
            doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=failures.append)
            assert not failures, "".join(failures)


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_have_a_summary_their_arguments_and_an_example(package):
    parent = importlib.import_module(f"hardwire.{package}")
    for name in parent.__all__:
        value = getattr(parent, name)
        assert inspect.getdoc(value), name
        if inspect.isfunction(value):
            check_docstring(value)


@pytest.mark.parametrize("value", WITH_EXAMPLE, ids=lambda value: value.__name__)
def test_the_main_classes_have_an_example(value):
    assert "Example:" in inspect.getdoc(value)


@pytest.mark.parametrize("value", [*CLASSES, *FUNCTIONS], ids=lambda value: value.__name__)
def test_the_main_names_say_every_argument_and_have_an_example(value):
    check_docstring(value)


def check_docstring(value):
    text = inspect.getdoc(value) or ""
    assert "Example:" in text, value
    for parameter in inspect.signature(value).parameters.values():
        stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        names = (parameter.name, f"{stars}{parameter.name}")
        said = any(f"\n    {name}: " in text for name in names)
        assert said or parameter.name == "self", f"{value.__name__} does not say what {parameter.name} is"
