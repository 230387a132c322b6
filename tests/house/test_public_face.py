"""What `import hardwire` offers, and what it does when it is imported: little, quickly, and without torch."""

import ast
import importlib.metadata
import os
import re
import subprocess
import sys
from importlib.resources import files

import pytest

import hardwire as hw
from hardwire import build
from hardwire.errors import PACKAGES_OF_EXTRAS


def in_a_new_process(code: str, **environment: str) -> str:
    """What `code` prints; OMP_WAIT_POLICY is as `environment` says."""
    inherited = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    return subprocess.check_output([sys.executable, "-c", code], text=True, env=inherited | environment).strip()


def without(*packages: str) -> str:
    """The beginning of a program on a machine where these packages are not installed."""
    return "import sys\n" + "".join(f"sys.modules[{name!r}] = None\n" for name in packages)


@pytest.mark.parametrize("name", hw.__all__)
def test_every_public_name_exists(name):
    assert getattr(hw, name) is not None
    assert name in dir(hw)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = hw.nothing


def test_the_stub_lists_every_public_name():
    stub = ast.parse(files("hardwire").joinpath("__init__.pyi").read_text())
    shown = [alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert sorted([*shown, "__version__"]) == sorted(hw.__all__)


def test_the_package_says_that_it_is_typed():
    assert files("hardwire").joinpath("py.typed").is_file()


def test_importing_hardwire_and_its_torch_free_modules_does_not_import_torch():
    code = "import sys, hardwire; hardwire.GATES, hardwire.Encoder, hardwire.Circuit; print('torch' in sys.modules)"
    assert in_a_new_process(code) == "False"


POLICY = "import os, hardwire; print(os.environ.get('OMP_WAIT_POLICY'))"


def test_waiting_threads_sleep_by_default():
    assert in_a_new_process(POLICY) == "PASSIVE"


def test_the_wait_policy_of_the_user_is_kept():
    assert in_a_new_process(POLICY, OMP_WAIT_POLICY="ACTIVE") == "ACTIVE"


def test_the_wait_policy_is_not_set_if_torch_has_read_it_already():
    assert in_a_new_process("import torch; " + POLICY) == "None"


CPU_BUILD = (
    " (without a GPU first install PyTorch's CPU build as its own page says; otherwise pip fetches gigabytes of CUDA)"
    if sys.platform == "linux"
    else ""
)


def test_without_torch_a_name_that_needs_it_says_what_to_install():
    code = without("torch") + (
        "import hardwire as hw\n"
        "try:\n    hw.LogicNetwork\n"
        "except ImportError as error:\n    print(isinstance(error, hw.HardwireError), error)"
    )
    message = "True hardwire.LogicNetwork needs torch, which is not installed; run: pip install 'hardwire[train]'"
    assert in_a_new_process(code) == message + CPU_BUILD


def test_a_missing_module_of_no_extra_keeps_its_own_error():
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
    expected = (
        f"error: this command needs torch, which is not installed; run: pip install 'hardwire[train]'{CPU_BUILD}\n"
    )
    assert (result.returncode, result.stderr) == (2, expected)


def test_the_base_install_answers_version_with_what_it_has():
    code = RUNTIME + "from hardwire.__main__ import main\nsys.argv[1:] = ['--version']\nmain()"
    version, engine, extras, missing = in_a_new_process(code).splitlines()
    assert version == f"hardwire {hw.__version__}"
    assert engine == f"engine: native, {build.native.instruction_set()}" if build.native else "slower" in engine
    assert "cli" not in extras and missing.startswith("not installed: cli, train")
    assert missing.endswith("(pip install 'hardwire[cli]')")


def test_without_the_native_module_the_version_says_why_and_the_way_out():
    reason = "there was no C++ compiler; install one (apt install g++ python3-dev) and install hardwire again"
    code = without("hardwire._native") + (
        "import types\nsys.modules['hardwire._no_native'] = types.SimpleNamespace(REASON=" + repr(reason) + ")\n"
        "from hardwire.build import version_text\nprint(version_text())"
    )
    assert in_a_new_process(code).splitlines()[1] == f"engine: plain torch and numpy, slower: {reason}"


def test_a_native_module_that_does_not_load_is_named_as_the_reason():
    code = without("hardwire._native", "hardwire._no_native") + (
        "from hardwire.build import why_no_native\nprint(why_no_native())"
    )
    assert "hardwire._native" in in_a_new_process(code)


def test_the_native_module_is_missing_only_where_it_could_not_be_built():
    """Tests that need it are skipped without it, which must not hide that it no longer loads."""
    if build.native is None:
        import hardwire._no_native as reason

        assert build.why_no_native() == reason.REASON


def test_the_extras_are_those_of_the_package():
    """Every package that an extra's error names is one that the extra brings."""
    brings = {}
    for requirement in importlib.metadata.requires("hardwire"):
        name, _, extra = re.fullmatch(r"([\w-]+)[^;]*(;.*extra == ['\"](\w+)['\"])?", requirement).groups()
        brings.setdefault(extra, set()).add(name.lower().replace("-", "_"))
    for extra, packages in PACKAGES_OF_EXTRAS.items():
        assert {package.replace("sklearn", "scikit_learn") for package in packages} <= brings[extra], extra


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
