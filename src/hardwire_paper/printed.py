"""The paper's own figures as data, each with the table or section where it stands: Youngsung Kim, "Align Forward, Adapt
Backward: Closing the Discretization Gap in Logic Gate Networks".

All gaps and accuracies are in percentage points, as printed. Surprising: the peak gaps of its selection gap table,
which it calls the maximum during training, are the maxima of its trajectory tables, which leave out the first fifth.
"""

import csv
import functools
from dataclasses import dataclass
from importlib import resources

TAUS = (0.05, 0.1, 0.5, 1.0, 2.0)
DEPTHS = (4, 5, 6)
DATASETS = ("mnist", "mnist-binary", "cifar10-binary")
SEEDS = 3
MAIN_DEPTH = 6  # of the main text


@dataclass(frozen=True)
class PaperScale:
    """Table "Training configuration"."""

    width: int
    iterations: int
    learning_rate: float
    batch_size: int = 512
    evaluate_every: int = 500

    def __str__(self) -> str:
        return (
            f"width {self.width:,}, {self.iterations:,} iterations, batch {self.batch_size}, "
            f"learning rate {self.learning_rate:g}, {SEEDS} seeds"
        )


_MNIST, _CIFAR = PaperScale(64_000, 50_000, 0.01), PaperScale(128_000, 60_000, 0.05)
SCALES = {"mnist": _MNIST, "mnist-binary": _MNIST, "cifar10-binary": _CIFAR}


@dataclass(frozen=True)
class Trajectory:
    """A cell `final [min, max]` of the gap trajectory tables, as printed."""

    final: str
    low: str
    high: str

    def __str__(self) -> str:
        flat = self.final == self.low == self.high
        return self.final if flat else f"{self.final} [{self.low}, {self.high}]"


@functools.cache
def trajectories() -> dict[tuple[str, str, int, float], Trajectory]:
    """(dataset, method, depth, tau) -> cell of tables "Gap trajectory on MNIST / MNIST-Binary / CIFAR-10-Binary"."""
    text = resources.files("hardwire_paper").joinpath("gap_trajectories.csv").read_text()
    return {
        (row["dataset"], row["method"], int(row["depth"]), float(row["tau"])): Trajectory(
            row["final"], row["min"], row["max"]
        )
        for row in csv.DictReader(text.splitlines())
    }


SELECTION_GAP = {  # table "Selection gap (%) on MNIST-Binary (L=6)", final / peak by tau; a dagger: training failure
    "soft-mix": ("0.0 / 0", "0.0 / 0", "0.0 / 0.1", "0.0 / 0.1", "0.6 / 24"),
    "soft-gumbel": ("0.7 / 2", "0.2 / 2", "0.2 / 7", "0.2 / 17", "2.1 / 40"),
    "hard-st": ("0 / 0",) * 5,
    "gumbel-st": ("-40†", "-59†", "0.0 / 0.1", "0.0 / 0.3", "0.0 / 1.1"),
    "hard-st+cage": ("0 / 0",) * 5,
    "gumbel-st+cage": ("0.0 / 4.5", "0.1 / 9", "0.0 / 3.5", "0.0 / 1.6", "0.0 / 2.2"),
}

ROBUSTNESS = {  # table "Temperature robustness": worst accuracy / range over tau at L=6
    "soft-mix": {"mnist": "97.1 / 1.4", "mnist-binary": "97.2 / 1.1", "cifar10-binary": "50.7 / 7.5"},
    "soft-gumbel": {"mnist": "85.9 / 12.0", "mnist-binary": "85.6 / 12.2", "cifar10-binary": "52.6 / 5.4"},
    "hard-st": {"mnist": "97.1 / 1.3", "mnist-binary": "97.1 / 1.1", "cifar10-binary": "50.9 / 7.2"},
    "gumbel-st": {"mnist": "52.1 / 46.3", "mnist-binary": "51.0 / 47.3", "cifar10-binary": "18.9 / 39.5"},
    "hard-st+cage": {"mnist": "98.4 / 0.1", "mnist-binary": "98.1 / 0.0", "cifar10-binary": "57.6 / 0.5"},
    "gumbel-st+cage": {"mnist": "98.4 / 0.1", "mnist-binary": "98.2 / 0.1", "cifar10-binary": "58.0 / 0.6"},
}

CROSS_DATASET = {  # table "Cross-dataset summary (L=6)": peak gap; its accuracy ranges are those of ROBUSTNESS
    "soft-mix": {"mnist": "23", "mnist-binary": "24", "cifar10-binary": "9"},
    "soft-gumbel": {"mnist": "40", "mnist-binary": "40", "cifar10-binary": "3.5"},
    "hard-st": {"mnist": "0.4", "mnist-binary": "0", "cifar10-binary": "0"},
    "gumbel-st": {"mnist": "62†", "mnist-binary": "61†", "cifar10-binary": "16†"},
    "hard-st+cage": {"mnist": "0.3", "mnist-binary": "0", "cifar10-binary": "0"},
    "gumbel-st+cage": {"mnist": "9", "mnist-binary": "9", "cifar10-binary": "0.7"},
}

FACTORIAL = {"soft-mix": "24", "soft-gumbel": "40", "hard-st": "0", "gumbel-st": "1"}  # figure 1: peak gap at tau 2.0

STATISTICS = {  # table "Statistical significance of key claims": t, p, d, stars, practically significant
    "gumbel-fails": ("-36.16", "<.001", "31.21", "***", "yes"),
    "hard-robust": ("-14.53", ".005", "16.26", "**", "no"),
    "cage-fixes": ("-38.81", "<.001", "31.28", "***", "yes"),
    "hard-zero-gap": ("-6.30", ".024", "5.15", "*", "yes"),
    "forward-decides": ("3.05", ".093", "2.61", "ns", "yes"),
}

STATISTICS_BY_DATASET = {  # table "Cross-dataset verification of key claims"
    "gumbel-fails": {"mnist": "***", "mnist-binary": "***", "cifar10-binary": "***"},
    "hard-robust": {"mnist": "**", "mnist-binary": "**", "cifar10-binary": "***"},
    "cage-fixes": {"mnist": "***", "mnist-binary": "***", "cifar10-binary": "***"},
}

CONVERGENCE = {"hard-st": "~500", "soft-gumbel": "15,000 to 38,000"}  # section "Convergence Speed", any tau
COMMITMENT = {  # section "Gate Commitment Explains Hedging", range over layers, percent
    "hard-st": "84 to 93",
    "soft-gumbel": "45 to 66",
    "soft-mix": "75 to 96",
    "gumbel-st": "72 to 90",
}
CAGE_TAU_MIN, CAGE_TAU_MAX = 0.5, 3.0  # section "Setup"
CAGE_START_TAU, CAGE_START_CONFIDENCE = "~2.4", "~0.25"  # section "CAGE Eliminates Temperature Sensitivity"
CAGE_END = {"hard-st+cage": ("~0.7", "~0.9"), "gumbel-st+cage": ("~0.8", "~0.85")}  # tau, confidence at the end

COMPUTATION_GAP = {  # table "Computation gap for representative gates under different input distributions", percent
    "binary": {"unary": "0", "and/or": "0", "xor": "0"},
    "mnist": {"unary": "~2", "and/or": "~3", "xor": "~5"},
    "uniform": {"unary": "25", "and/or": "21.9", "xor": "16.7"},
    "boundary": {"unary": "50", "and/or": "75", "xor": "50"},
}
PIXELS = {  # table "MNIST pixel value distribution", percent: range -> (MNIST, MNIST-Binary)
    "exactly 0": ("80.9", "86.7"),
    "(0, 0.1)": ("1.7", "0.0"),
    "[0.1, 0.9]": ("8.7", "0.0"),
    "(0.9, 1]": ("8.8", "13.3"),
    "binary-like (< 0.1 or > 0.9)": ("91.3", "100.0"),
}
GROUPSUM_ALPHA = {10: "0.49", 100: "0.27", 1000: "0.19"}  # appendix "GroupSum Temperature Derivation"
GROUPSUM_STD, GROUPSUM_SIGMA = "0.71", "0.66"  # Std[difference] / sqrt(k) and the sigma_max aimed at
CONVERGENCE_EXPONENT = "1"  # proposition "Convergence Scaling": steps are linear in tau_b
