"""C on a small machine: the digits model compiled for a Cortex-M0+ and run by an emulator, with what it takes."""

import importlib.util
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import hardwire as hw
from hardwire.circuit import Circuit

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "microcontroller.py"


@pytest.fixture(scope="module")
def digits():
    data = hw.data.load("digits")
    net = hw.LogicNetwork(data.inputs, data.classes, 250, 2, method="hard-st+cage", seed=0, encoder=data.encoder)
    hw.fit(net, data, iterations=100, batch_size=100, lr=0.02, evaluate_every=100)
    return Circuit.from_network(net).simplify().tested(data), data.raw("test")


@pytest.mark.program
@pytest.mark.skipif(
    not (shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm")),
    reason="needs a Cortex-M compiler and emulator: apt install gcc-arm-none-eabi qemu-system-arm",
)
def test_the_digits_model_fits_a_small_machine_and_says_the_same_classes_there(digits):
    circuit, raw = digits
    specification = importlib.util.spec_from_file_location("microcontroller", BENCHMARK)
    microcontroller = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(microcontroller)
    images, classes = raw[:60], circuit.predict(raw[:60], raw=True)
    runs = {form: microcontroller.on_board(circuit, images, word=1, form=form) for form in ("code", "tables")}
    assert all(np.array_equal(one.classes, classes) for one in runs.values())
    code, tables = runs["code"], runs["tables"]
    assert tables.flash < code.flash < 8 * 1024 and tables.ram < code.ram < 1024
    assert code.instructions < 8 * len(circuit.netlist.gate) < tables.instructions / 4


def test_the_header_says_flash_and_ram_in_bytes_and_where_the_model_comes_from(digits, tmp_path):
    circuit, _ = digits
    for word in (1, 8):
        circuit.export(tmp_path / "net.c", word=word, form="tables" if word == 1 else None)
        header, source = (tmp_path / "net.h").read_text(), (tmp_path / "net.c").read_text()
        said = dict(re.findall(r"#define NET_(\w+) (.*)", header))
        assert said["WORD"] == str(word)
        assert said["DIGEST"] == f'"{circuit.digest}"' and said["VERSION"] == f'"{hw.__version__}"'
        assert float(said["ACCURACY"]) == circuit.provenance.accuracy
        assert int(said["STACK_BYTES"]) == int(re.search(r"#define SLOTS (\d+)", source)[1])
        assert int(said["TABLE_BYTES"]) == constant_bytes(source, circuit)
        assert "uint64_t v" not in source and "float" not in source


def constant_bytes(source, circuit):
    """The bytes of the tables, counted in the source."""
    total = 0
    for kind, body in re.findall(r"static const (u?int\d+)_t \w+(?:\[.*?\])+ = \{(.*?)\};", source, flags=re.DOTALL):
        total += np.dtype(kind).itemsize * len(re.findall(r"-?\d+", body))
    return total


def test_another_number_of_images_at_once_is_refused(digits, tmp_path):
    with pytest.raises(hw.HardwireError, match="16 images at once are not supported; choose 64, 32, 8 or 1"):
        digits[0].export(tmp_path / "net.c", word=16)
