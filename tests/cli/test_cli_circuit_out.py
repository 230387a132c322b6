"""The file that a circuit command writes is named once: as an argument, or behind -o as everywhere else."""

import torch
from shell import fail, run

import hardwire as hw


def test_the_file_to_write_is_the_argument_or_stands_behind_o(tmp_path):
    hw.save(hw.LogicNetwork(6, 2, 8, 1, seed=0), tmp_path / "net.safetensors")
    model, circuit, code = (tmp_path / name for name in ("net.safetensors", "net.circuit", "net.c"))
    run("circuit", "build", model, "-o", circuit)
    run("circuit", "export", circuit, "--out", code)
    run("circuit", "simplify", circuit, tmp_path / "smaller.circuit")
    assert code.stat().st_size and (tmp_path / "smaller.circuit").stat().st_size
    x = torch.rand(5, 6).round()
    assert hw.Circuit.load(circuit).predict(x.bool().numpy()).tolist() == hw.load(model).predict(x).tolist()


def test_no_file_or_two_are_refused(tmp_path, capsys):
    hw.save(hw.LogicNetwork(6, 2, 8, 1, seed=0), tmp_path / "net.safetensors")
    for given in ([], [tmp_path / "a.circuit", "-o", tmp_path / "b.circuit"]):
        error = fail(capsys, "circuit", "build", tmp_path / "net.safetensors", *given)
        assert "name the file to write once" in error
    assert not list(tmp_path.glob("*.circuit"))


def test_a_model_is_simplified_on_the_way_and_a_circuit_is_written_as_it_is(tmp_path):
    hw.save(hw.LogicNetwork(6, 2, 40, 2, seed=0), tmp_path / "net.safetensors")
    run("circuit", "build", tmp_path / "net.safetensors", tmp_path / "net.circuit", "--no-simplify")
    sizes = {}
    for source, *options in (["safetensors"], ["safetensors", "--no-simplify"], ["circuit"], ["circuit", "--simplify"]):
        out = tmp_path / "net.c"
        run("circuit", "export", tmp_path / f"net.{source}", out, "--word", 1, "--flash", 9000, *options)
        sizes[source, *options] = out.stat().st_size
        assert hw.Circuit.load(tmp_path / f"net.{source}").verify(out).equal
    small, large = sizes["circuit", "--simplify"], sizes["circuit",]
    assert small < large
    assert sizes["safetensors",] == small and sizes["safetensors", "--no-simplify"] == large
