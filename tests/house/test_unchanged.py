"""What an edition must not change: the bits that training ends with, and the files that earlier versions wrote."""

import json
import os
from pathlib import Path

import pytest
import training_digests
from cases import needs_native
from small_runs import digits

import hardwire as hw

FILES = Path(__file__).parents[1] / "files"
EXPECTED = json.loads(training_digests.EXPECTED.read_text())


def has(isa: str) -> bool:
    flags = Path("/proc/cpuinfo").read_text() if os.path.exists("/proc/cpuinfo") else ""
    return isa == "baseline" or {"avx2": "avx2", "avx512": "avx512dq"}[isa] in flags


@needs_native
@pytest.mark.parametrize("isa", training_digests.INSTRUCTION_SETS)
def test_60_training_steps_end_with_the_bits_that_they_always_ended_with(isa):
    if not has(isa):
        pytest.skip(f"needs a processor with {isa}")
    assert training_digests.in_process(isa) == EXPECTED[isa]


def test_60_training_steps_of_the_reference_engine_end_with_the_same_bits():
    assert training_digests.in_process("reference") == EXPECTED["reference"]


def test_a_circuit_file_loads_and_gives_the_same_scores():
    expected = json.loads((FILES / "circuit_scores.json").read_text())
    circuit = hw.Circuit.load(FILES / "circuit.hwc")
    assert circuit.scores(digits().raw("test")[:100], raw=True).tolist() == expected
