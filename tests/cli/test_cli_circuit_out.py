"""The file that a circuit command writes is named once: as an argument, or behind -o as everywhere else."""

import torch
from typer.testing import CliRunner

import hardwire as hw
from hardwire.cli import app

run = CliRunner()


def test_the_file_to_write_is_the_argument_or_stands_behind_o(tmp_path):
    hw.save(hw.LogicNetwork(6, 2, 8, 1, seed=0), tmp_path / "net.safetensors")
    model, circuit, code = (str(tmp_path / name) for name in ("net.safetensors", "net.circuit", "net.c"))
    assert run.invoke(app, ["circuit", "build", model, "-o", circuit]).exit_code == 0
    assert run.invoke(app, ["circuit", "export", circuit, "--out", code]).exit_code == 0
    assert run.invoke(app, ["circuit", "simplify", circuit, str(tmp_path / "smaller.circuit")]).exit_code == 0
    x = torch.rand(5, 6).round()
    assert hw.Circuit.load(circuit).predict(x.bool().numpy()).tolist() == hw.load(model).predict(x).tolist()


def test_no_file_or_two_are_refused(tmp_path):
    hw.save(hw.LogicNetwork(6, 2, 8, 1, seed=0), tmp_path / "net.safetensors")
    for given in ([], [str(tmp_path / "a.circuit"), "-o", str(tmp_path / "b.circuit")]):
        result = run.invoke(app, ["circuit", "build", str(tmp_path / "net.safetensors"), *given])
        assert result.exit_code and "name the file to write once" in str(result.exception or result.output)
    assert not list(tmp_path.glob("*.circuit"))
