"""What an edition must not change: the bits that training ends with, and the files that earlier versions wrote."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small_runs import digits, small_net, with_support

import hardwire as hw
from hardwire import study

FILES = Path(__file__).parents[1] / "files" / "0.1.0"
DIGESTS = json.loads((FILES / "training_digests.json").read_text())
INSTRUCTION_SETS = ("baseline", "avx2", "avx512")


def has(isa: str) -> bool:
    flags = Path("/proc/cpuinfo").read_text() if os.path.exists("/proc/cpuinfo") else ""
    return isa == "baseline" or {"avx2": "avx2", "avx512": "avx512dq"}[isa] in flags


@pytest.mark.parametrize("isa", INSTRUCTION_SETS)
def test_200_training_steps_of_every_method_end_with_the_bits_of_0_1_0(isa):
    if not has(isa):
        pytest.skip(f"this machine has no {isa}")
    script = Path(__file__).parents[1] / "support" / "training_digests.py"
    environment = with_support() | {"HARDWIRE_ISA": isa}
    found = json.loads(subprocess.check_output([sys.executable, script, isa], env=environment, text=True))
    expected = {f"native/{name}": digest for name, digest in DIGESTS[isa].items()}
    if isa == "baseline":  # the reference engine is the same for all of them
        expected |= {f"reference/{name}": digest for name, digest in DIGESTS["reference"].items()}
    assert found == expected


def test_a_model_of_0_1_0_loads_and_deploys_as_it_did():
    expected = json.loads((FILES / "expected.json").read_text())
    net = hw.load(FILES / "network.safetensors")
    assert hw.measure_gap(net, digits().test).deploy == expected["final_deploy"]


def test_a_circuit_of_0_1_0_loads_and_gives_the_same_scores():
    expected = json.loads((FILES / "expected.json").read_text())
    circuit = hw.Circuit.load(FILES / "circuit.hwc")
    assert circuit.scores(digits().raw("test")[:100], raw=True).tolist() == expected["scores"]


def test_a_checkpoint_of_0_1_0_resumes_to_the_result_of_an_uninterrupted_run(tmp_path):
    path = shutil.copy(FILES / "checkpoint.safetensors", tmp_path / "checkpoint.safetensors")
    net = small_net("gumbel-st+cage")
    options = {"iterations": 200, "batch_size": 64, "evaluate_every": 50, "progress": False}
    history = hw.fit(net, digits(), **options, checkpoint=path)
    assert history.records[0].iteration == 50 and len(history) == 4
    assert history.final.deploy == json.loads((FILES / "expected.json").read_text())["final_deploy"]


def test_a_study_store_of_0_1_0_opens_with_all_its_runs(tmp_path):
    path = Path(shutil.copy(FILES / "study.sqlite", tmp_path / "study.sqlite"))
    before = path.read_bytes()
    with study.Store(path) as store:
        runs, facts = store.finished(), store.facts()
    assert len(runs) == 6 and all(run.final["iteration"] == 60 for run in runs)
    assert path.read_bytes() == before  # reading changes no file
    assert len(study.describe(FILES / "study.toml")) == 6 and "pixels digits" in facts
    with study.Store(path, create=True) as store:  # going on in it rewrites it, and loses nothing
        assert store.finished() == runs
    with study.Store(path) as store:
        assert store.finished() == runs and store.facts() == facts
    assert study.report(path, tmp_path / "report").exists()
