"""The `domains` experiment: trains every run for every seed and measures its gap; one JSON file each.

Surprising: a run that is done is never done again. `run_all` skips the files that exist, so a stopped experiment goes
on where it was; a file made with other settings is an error and not overwritten.
"""

import json
import math
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path

import torch
from torch import nn

from hardwire import temperature
from hardwire.errors import HardwireError, unknown_name, whole_number
from hardwire.files import write_whole
from hardwire.measure import measure_gap
from hardwire.systems.choice import Choice, auxiliary_loss, choice_usage, deploy
from hardwire.systems.experts import MixtureOfExperts, SoftMoE
from hardwire.systems.systems import RUNS, SYSTEMS, System
from hardwire.training.order import BatchOrder

_EVALUATION_BATCH = 1000
_CURVE_POINTS = 10  # measurements during training, so that a gap which closes again is seen
_CURVE_ROWS = 500


def run_all(
    out: str | os.PathLike,
    seeds: Iterable[int] = (0, 1, 2),
    names: Iterable[str] | None = None,
    iterations: int | None = None,
    on_step: Callable[[str, int, int, int], None] | None = None,
) -> list[Path]:
    """Does every run that has no file in `out` yet, and gives the files of all of them.

    names: runs by name, all if not given. iterations: instead of each system's own. on_step: called with run, seed,
    iteration and iterations, also once for a run that is skipped, at its end.
    """
    jobs = plan(out, seeds, names, iterations)
    Path(out).mkdir(parents=True, exist_ok=True)
    for name, seed, path in jobs:
        steps = iterations or SYSTEMS[RUNS[name].system].iterations
        report = _reporter(on_step, name, seed, steps)
        if path.exists():
            _check_same(path, name, seed, steps)
            report(steps)
        else:
            write_whole(path, json.dumps(run_one(name, seed, steps, report), indent=2) + "\n")
    return [path for _, _, path in jobs]


def plan(out, seeds=(0, 1, 2), names=None, iterations=None) -> list[tuple[str, int, Path]]:
    """(run, seed, file) of everything that `run_all` would do, checked."""
    if iterations is not None:
        whole_number("iterations", iterations)
    names = list(RUNS) if names is None else list(names)
    for name in names:
        if name not in RUNS:
            raise unknown_name("run", name, RUNS)
    return [
        (name, whole_number("seed", seed, least=0), result_file(out, name, seed)) for seed in seeds for name in names
    ]


def result_file(out, name: str, seed: int) -> Path:
    """Where the result of a run lies: SYSTEM--RUN--SEED.json."""
    return Path(out) / f"{RUNS[name].system}--{name}--{seed}.json"


def run_one(name: str, seed: int, iterations: int, on_step: Callable[[int], None] = lambda iteration: None) -> dict:
    """Trains one run and measures it: the record that its file holds."""
    run, began = RUNS[name], time.monotonic()
    system = SYSTEMS[run.system]
    train_rows, test_rows = system.load(system.data)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = system.build(seed=seed, **_settings(run.settings))
        curve = train(model, system, train_rows, test_rows, iterations, seed, run.logit_rate, on_step)
    return {
        **_identity(name, seed, iterations),
        "data": system.data,
        "curve": curve,
        **measure(model, system, test_rows),
        "seconds": round(time.monotonic() - began, 1),
    }


def train(model, system: System, rows, held_out, iterations, seed, logit_rate, on_step) -> list[dict]:
    """Adam on the system's loss and what its modules ask for; gives the gap at a few points on the way."""
    x, target = rows
    order = BatchOrder(len(x), system.batch_size, seed)
    with torch.no_grad():
        system.prepare(model, x[order.indices(0)])
    optimizer = _optimizer(model, system.lr, logit_rate)
    marks = {math.ceil(iterations * point / _CURVE_POINTS) for point in range(1, _CURVE_POINTS + 1)}
    curve = []
    model.train()
    for iteration in range(1, iterations + 1):
        batch = order.indices(iteration - 1)
        loss = system.loss(model(x[batch]), target[batch])
        if not math.isfinite(loss.item()):
            raise HardwireError(f"{system.title} diverged at iteration {iteration} of seed {seed}")
        optimizer.zero_grad()
        (loss + auxiliary_loss(model)).backward()
        optimizer.step()
        if iteration in marks:
            curve.append({"iteration": iteration, **_gap(model, system, [part[:_CURVE_ROWS] for part in held_out])})
        on_step(iteration)
    return curve


def measure(model: nn.Module, system: System, rows) -> dict:
    """The three passes, the deployed modules themselves, and how the choices are used, on the test rows."""
    choice = next(module for module in model.modules() if isinstance(module, Choice))
    (usage,) = choice_usage(model, rows[0])
    soft = any(_deploys_soft(module) for module in model.modules()) and not choice.selector.method.hard
    return {
        "gap": _gap(model, system, rows),
        "deployed": evaluate(deploy(model), system, rows),
        "deployed_soft": evaluate(_soft(model), system, rows) if soft else None,
        "usage": {"choices": choice.choices, "dead": usage.dead, "counts": usage.counts.tolist()},
        "confidence": usage.confidence,
        "tau": choice.selector.temperature.tau.item(),
    }


@torch.no_grad()
def evaluate(model: nn.Module, system: System, rows) -> float:
    """Accuracy or mean loss of a plain model."""
    x, target = rows
    total = 0.0
    for part, wanted in zip(x.split(_EVALUATION_BATCH), target.split(_EVALUATION_BATCH), strict=True):
        output = model(part)
        accuracy = system.metric == "accuracy"
        total += (
            int((output.argmax(-1) == wanted).sum()) if accuracy else float(system.loss(output, wanted)) * len(part)
        )
    return total / len(x)


def read_results(out: str | os.PathLike) -> list[dict]:
    """All records of a folder."""
    records = [_read(path) for path in sorted(Path(out).glob("*--*--*.json"))]
    if not records:
        raise HardwireError(f"{out} holds no results; make them with: hardwire domains run --out {out}")
    return records


def _settings(settings: dict) -> dict:
    tau = settings.get("tau")
    return {**settings, "tau": temperature.from_config(tau)} if isinstance(tau, dict) else settings


def _gap(model: nn.Module, system: System, rows) -> dict:
    return asdict(measure_gap(model, rows, _EVALUATION_BATCH, None if system.metric == "accuracy" else system.loss))


def _optimizer(model: nn.Module, lr: float, logit_rate: float) -> torch.optim.Optimizer:
    logits = [p for name, p in model.named_parameters() if name.endswith("logits")]
    others = [p for name, p in model.named_parameters() if not name.endswith("logits")]
    return torch.optim.Adam([{"params": others}, {"params": logits, "lr": logit_rate * lr}], lr=lr)


def _deploys_soft(module: nn.Module) -> bool:
    return isinstance(module, MixtureOfExperts | SoftMoE)


def _soft(model: nn.Sequential) -> nn.Sequential:
    parts = [module.deploy(soft=True) if _deploys_soft(module) else module for module in model]
    return nn.Sequential(*parts).eval()


def _identity(name: str, seed: int, iterations: int) -> dict:
    run = RUNS[name]
    settings = {**run.settings, "logit_rate": run.logit_rate}
    return {"run": name, "system": run.system, "settings": settings, "seed": seed, "iterations": iterations}


def _check_same(path: Path, name: str, seed: int, iterations: int) -> None:
    found, wanted = _read(path), _identity(name, seed, iterations)
    for key, value in wanted.items():
        if found[key] != value:
            raise HardwireError(
                f"{path} was made with {key} {found[key]}, not {value}; use another folder or delete the file"
            )


def _read(path: Path) -> dict:
    try:
        record = json.loads(path.read_text())
        _ = [record[key] for key in ("run", "system", "settings", "seed", "iterations", "gap", "curve", "usage")]
    except (ValueError, KeyError, TypeError) as error:
        raise HardwireError(f"{path} is not a result of the domains experiment; delete it and run again") from error
    return record


def _reporter(on_step, name, seed, steps) -> Callable[[int], None]:
    return lambda iteration: on_step(name, seed, iteration, steps) if on_step else None
