"""A run of the kind `systems`: train one model with `fit`, measure its gap on the way and everything at its end.

Surprising: on the way only 500 test rows are measured. A gap that closes again is seen on them, and all rows, ten times
over, would take longer than the training.
"""

import functools
import math
from typing import Any

import torch
from torch import nn

import hardwire as hw
from hardwire import temperature
from hardwire.study.config import Config
from hardwire.study.kinds import Cost, Outcome, StudyJob
from hardwire.systems import Choice, choice_usage, deploy
from hardwire.systems.experts import MixtureOfExperts, SoftMoE
from hardwire.systems.sparse import ExpertChoice, TopExperts
from hardwire.training import GapMeasures
from hardwire.training.order import BatchOrder
from hardwire_paper.progress import ProgressCallback, record_dict
from hardwire_paper.systems.catalog import RUNS, SYSTEMS, Rows, System
from hardwire_paper.systems.two_levels import TwoLevels, again, retrain

_EVALUATION_BATCH = 1000
_EVALUATIONS = 10  # during training, so that a gap which closes again is seen
_CURVE_ROWS = 500


def run(job: StudyJob) -> Outcome:
    """Does a run, or what its checkpoint leaves of it; torch's generator is as before afterwards."""
    config = job.config
    experiment, seed = RUNS[config.text("run")], config.whole("seed")
    system = SYSTEMS[experiment.system]
    iterations = iterations_of(config)
    train_rows, test_rows = load(experiment.system)
    levels = TwoLevels(system, train_rows, seed) if experiment.two_levels else None
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = build(config)
        with torch.no_grad():
            system.prepare(model, train_rows[0][BatchOrder(len(train_rows[0]), system.batch_size, seed).indices(0)])
        history = hw.fit(
            model,
            (levels.weight_rows if levels else train_rows, tuple(part[:_CURVE_ROWS] for part in test_rows)),
            iterations,
            system.batch_size,
            evaluate_every=math.ceil(iterations / _EVALUATIONS),
            optimizer=optimizer_of(model, system.lr, experiment.logit_rate),
            loss=system.loss,
            measures=GapMeasures(_EVALUATION_BATCH, _judging_loss(system)),
            seed=seed,
            checkpoint=job.checkpoint,
            callbacks=[*([levels] if levels else []), ProgressCallback(job)],
            progress=False,
        )
        measured = measure(model, system, test_rows)
        if levels:
            fresh = retrain(deploy(model), system, train_rows, iterations, seed, again(job.checkpoint))
            measured["deployed_retrained"] = evaluate(fresh, system, test_rows)
    return Outcome([record_dict(record) for record in history.records], measured, history.final.seconds)


def iterations_of(config: Config) -> int:
    given, experiment = config["iterations"], RUNS[config.text("run")]
    return given if isinstance(given, int) else experiment.iterations or SYSTEMS[experiment.system].iterations


def build(config: Config) -> nn.Module:
    """The model of a run, from torch's generator and its seed."""
    experiment = RUNS[config.text("run")]
    settings = dict(experiment.settings)
    if isinstance(settings.get("tau"), dict):
        settings["tau"] = temperature.from_config(settings["tau"])
    return SYSTEMS[experiment.system].build(seed=config.whole("seed"), **settings)


@functools.lru_cache(maxsize=2)
def load(system: str) -> tuple[Rows, Rows]:
    """Training and test rows; the latest two stay in memory."""
    return SYSTEMS[system].load(SYSTEMS[system].data)


def measure(model: nn.Module, system: System, rows: Rows) -> dict[str, float]:
    """The three passes, the deployed modules themselves, and how the choices are used, on all test rows."""
    choice = next(module for module in model.modules() if isinstance(module, Choice))
    (usage,) = choice_usage(model, rows[0])
    gap = hw.measure_gap(model, rows, _EVALUATION_BATCH, _judging_loss(system))
    results = {f"gap.{name}": getattr(gap, name) for name in ("method", "argmax", "deploy")}
    results |= {"deployed": evaluate(deploy(model), system, rows)}
    if any(_deploys_soft(module) for module in model.modules()) and not choice.selector.method.hard:
        results["deployed_soft"] = evaluate(_soft(model), system, rows)
    if any(_depends_on_batch(module) for module in model.modules()):
        results["deployed_alone"] = evaluate(deploy(model), system, rows, batch=1)
    return results | {
        "choices": choice.choices,
        "dead": usage.dead,
        "confidence": usage.confidence,
        "tau": choice.selector.temperature.tau.item(),
    }


@torch.no_grad()
def evaluate(model: nn.Module, system: System, rows: Rows, batch: int = _EVALUATION_BATCH) -> float:
    """Accuracy or mean loss of a plain model."""
    x, target = rows
    total = 0.0
    for part, wanted in zip(x.split(batch), target.split(batch), strict=True):
        output = model(part)
        accuracy = system.metric == "accuracy"
        total += (
            int((output.argmax(-1) == wanted).sum()) if accuracy else float(system.loss(output, wanted)) * len(part)
        )
    return total / len(x)


def optimizer_of(model: nn.Module, lr: float, logit_rate: float) -> torch.optim.Optimizer:
    logits = [p for name, p in model.named_parameters() if name.endswith("logits")]
    others = [p for name, p in model.named_parameters() if not name.endswith("logits")]
    groups: list[dict[str, Any]] = [{"params": others}, {"params": logits, "lr": logit_rate * lr}]
    return torch.optim.Adam(groups, lr=lr)


def estimate(config: Config, threads: int) -> Cost:
    """From a few real steps on random images."""
    step = _step_time(Config.of(config.kind, {"run": config["run"], "seed": 0}), threads)
    # evaluations and what is measured at the end: about a third of the training again
    passes = 3.3 if RUNS[config.text("run")].two_levels else 1.3
    return Cost(passes * iterations_of(config) * step + 2.0, 1e9, step, config.text("run"))


@functools.cache
def _step_time(config: Config, threads: int) -> float:
    from hardwire_paper.networks.estimate import best_time

    system = SYSTEMS[RUNS[config.text("run")].system]
    side = 8 if system.data == "digits" else 28
    with torch.random.fork_rng(devices=[]):
        model, x = build(config), torch.rand(system.batch_size, 1, side, side)
        y: Any = torch.zeros(len(x), dtype=torch.int64) if system.metric == "accuracy" else x
        return best_time(lambda: system.loss(model(x), y).backward(), 0.1)


def _judging_loss(system: System) -> Any:
    return None if system.metric == "accuracy" else system.loss


def _deploys_soft(module: nn.Module) -> bool:
    return isinstance(module, MixtureOfExperts | SoftMoE)


def _depends_on_batch(module: nn.Module) -> bool:
    return isinstance(module, ExpertChoice) or (isinstance(module, TopExperts) and module.capacity is not None)


def _soft(model: nn.Module) -> nn.Module:
    assert isinstance(model, nn.Sequential)
    parts = [module.deploy(soft=True) if isinstance(module, MixtureOfExperts | SoftMoE) else module for module in model]
    return nn.Sequential(*parts).eval()
