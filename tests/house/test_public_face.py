"""What `import hardwire` offers, and what it does on the way: little, quickly, and without torch."""

import ast
import os
import subprocess
import sys
from importlib.resources import files

import pytest

import hardwire as hw


def in_a_new_process(code: str, **environment: str) -> str:
    """What `code` prints; OMP_WAIT_POLICY is as `environment` says."""
    inherited = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    return subprocess.check_output([sys.executable, "-c", code], text=True, env=inherited | environment).strip()


def without(*packages: str) -> str:
    """The beginning of a program on a machine where these packages are not installed."""
    return "import sys\n" + "".join(f"sys.modules[{name!r}] = None\n" for name in packages)


@pytest.mark.parametrize("name", hw.__all__)
def test_every_public_name_is_there(name):
    assert getattr(hw, name) is not None
    assert name in dir(hw)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = hw.nothing


def test_editors_see_every_name_that_there_is():
    stub = ast.parse(files("hardwire").joinpath("__init__.pyi").read_text())
    shown = [alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert sorted([*shown, "__version__"]) == sorted(hw.__all__)


def test_the_package_says_that_it_is_typed():
    assert files("hardwire").joinpath("py.typed").is_file()


def test_importing_hardwire_and_its_torch_free_rooms_does_not_import_torch():
    code = "import sys, hardwire; hardwire.GATES, hardwire.Encoder, hardwire.Circuit; print('torch' in sys.modules)"
    assert in_a_new_process(code) == "False"


POLICY = "import os, hardwire; print(os.environ.get('OMP_WAIT_POLICY'))"


def test_waiting_threads_sleep_where_nobody_said_otherwise():
    assert in_a_new_process(POLICY) == "PASSIVE"


def test_the_wait_policy_of_the_user_stays():
    assert in_a_new_process(POLICY, OMP_WAIT_POLICY="ACTIVE") == "ACTIVE"


def test_the_wait_policy_is_left_alone_where_torch_has_read_it_already():
    assert in_a_new_process("import torch; " + POLICY) == "None"


def test_without_torch_a_name_that_needs_it_says_what_to_install():
    code = without("torch") + (
        "import hardwire as hw\n"
        "try:\n    hw.LogicNetwork\n"
        "except ImportError as error:\n    print(isinstance(error, hw.HardwireError), error)"
    )
    message = "True hardwire.LogicNetwork needs torch, which is not installed; run: pip install 'hardwire[train]'"
    assert in_a_new_process(code) == message


def test_a_module_that_no_extra_brings_stays_its_own_error():
    code = without("hardwire.layers.base") + (
        "import hardwire as hw\ntry:\n    hw.LogicLayer\nexcept ModuleNotFoundError as error:\n    print(error.name)"
    )
    assert in_a_new_process(code) == "hardwire.layers.base"


def test_without_its_packages_the_program_says_what_to_install():
    code = without("typer") + "from hardwire.__main__ import main\nmain()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    expected = "error: the command line needs typer, which is not installed; run: pip install 'hardwire[cli]'\n"
    assert (result.returncode, result.stderr) == (2, expected)


def test_without_torch_a_command_that_needs_it_says_what_to_install():
    code = without("torch") + "from hardwire.__main__ import main\nsys.argv[1:] = ['train', 'digits']\nmain()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    expected = "error: this command needs torch, which is not installed; run: pip install 'hardwire[train]'\n"
    assert (result.returncode, result.stderr) == (2, expected)


RUNTIME = without("torch", "scipy", "sklearn", "matplotlib", "rich", "typer", "jinja2", "pooch", "filelock")


def test_a_saved_circuit_runs_with_numpy_and_safetensors_alone(tmp_path):
    data = hw.data.load("digits")
    net = hw.LogicNetwork(data.inputs, data.classes, width=100, depth=2, encoder=data.encoder, seed=0)
    circuit = hw.Circuit.from_network(net).simplify()
    circuit.save(tmp_path / "digits.circuit")
    images = data.raw("test")[:50]
    images.tofile(tmp_path / "images")
    code = RUNTIME + (
        "import numpy as np, hardwire as hw\n"
        f"images = np.fromfile({str(tmp_path / 'images')!r}, np.uint8).reshape(50, 64)\n"
        f"print(hw.Circuit.load({str(tmp_path / 'digits.circuit')!r}).predict(images, raw=True).tolist())"
    )
    assert in_a_new_process(code) == str(circuit.predict(images, raw=True).tolist())
