"""The table of the README: a circuit beside an MLP and gradient boosting on MNIST, each with its default settings.

    OMP_NUM_THREADS=1 python benchmarks/readme_table.py    # six minutes of processor time; prints the table
    python benchmarks/readme_table.py --write              # also writes it, and our numbers into docs/index.md

Accuracy is on the 10,000 test images. Training is processor time, summed over the cores, so that other work on the
machine does not change it: for hardwire the whole command `hardwire train mnist`, for the other two scikit-learn's
`fit`. Size is what has to be shipped: hardwire's circuit file, the MLP's weights as 32-bit floats, the pickle of the
boosted trees. Speed is images per second of processor time on one core, the best of seven calls with 10,000 images;
hardwire reads bytes, the other two get floats that are ready in memory.
"""

import argparse
import itertools
import pickle
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

import hardwire as hw

CALLS = 7
ROOT = Path(__file__).parents[1]
HEAD = "| MNIST | test accuracy | size | speed, one core | training |\n|---|---|---|---|---|"


@dataclass
class Row:
    """One line of the table: accuracy 0 to 1, size in bytes, images per second, processor seconds of training."""

    model: str
    accuracy: float
    size: int
    speed: float
    seconds: float

    def __str__(self) -> str:
        time_taken = f"{self.seconds:.0f} s" if self.seconds < 100 else f"{self.seconds / 60:.1f} min"
        training = f"{time_taken} of processor time"
        return f"| {self.model} | {self.accuracy:.1%} | {_bytes(self.size)} | {_rate(self.speed)} | {training} |"


def circuit_row(data: hw.data.Dataset, options: list[str]) -> Row:
    """`hardwire train mnist` and `hardwire circuit build`, as a user runs them."""
    with tempfile.TemporaryDirectory() as folder:
        model, file = Path(folder, "mnist.safetensors"), Path(folder, "mnist.circuit")
        start = _children_seconds()
        _hardwire("train", "mnist", "-o", str(model), *options)
        seconds = _children_seconds() - start
        _hardwire("circuit", "build", str(model), str(file))
        circuit, size = hw.Circuit.load(file), file.stat().st_size
    images, labels = data.raw("test"), data.test.y.numpy()
    accuracy = (circuit.predict(images, raw=True) == labels).mean()
    speed = images_per_second(lambda: circuit.predict(images, raw=True, threads=1), len(images))
    return Row(f"hardwire, {len(circuit.netlist.gate):,} gates", accuracy, size, speed, seconds)


def sklearn_rows(data: hw.data.Dataset) -> Iterator[Row]:
    """An MLP with 100 hidden units and 100 rounds of boosted trees: scikit-learn's defaults."""
    x, x_test = (data.raw(split).astype(np.float32) / 255 for split in ("train", "test"))
    y, y_test = data.train.y.numpy(), data.test.y.numpy()
    models = {
        "MLP, 100 hidden units": (MLPClassifier(random_state=0), _mlp_bytes),
        "gradient boosting": (HistGradientBoostingClassifier(random_state=0), lambda model: len(pickle.dumps(model))),
    }
    for name, (model, size) in models.items():
        start = time.process_time()
        model.fit(x, y)
        seconds = time.process_time() - start
        with threadpool_limits(1):
            speed = images_per_second(lambda: model.predict(x_test), len(x_test))  # noqa: B023, it is called here
        yield Row(name, model.score(x_test, y_test), size(model), speed, seconds)


def images_per_second(predict: Callable[[], object], images: int) -> float:
    times = []
    for _ in range(CALLS):
        start = time.process_time()
        predict()
        times.append(time.process_time() - start)
    return images / min(times)


def _hardwire(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "hardwire", *arguments], check=True, stdout=sys.stderr)


def _children_seconds() -> float:
    """Processor time of the programs that this one has run."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _mlp_bytes(model: MLPClassifier) -> int:
    return 4 * sum(array.size for array in (*model.coefs_, *model.intercepts_))


def _bytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def _rate(images: float) -> str:
    return f"{images / 1e6:.1f} million/s" if images >= 1e6 else f"{images:,.0f}/s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the table into README.md and docs/index.md")
    parser.add_argument("options", nargs="*", help="options of `hardwire train`, after --")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    data = hw.data.load("mnist")
    print(HEAD, flush=True)
    rows = []
    for row in itertools.chain([circuit_row(data, arguments.options)], sklearn_rows(data)):
        print(row, flush=True)
        rows.append(row)
    if arguments.write:
        write(rows)


def write(rows: list[Row]) -> None:
    """Replace the table of the README, and the three numbers of the home page."""
    readme, home = ROOT / "README.md", ROOT / "docs" / "index.md"
    before, _, rest = readme.read_text(encoding="utf-8").partition(HEAD)
    after = rest[rest.index("\n\n") :]
    readme.write_text("\n".join([before + HEAD, *map(str, rows)]) + after, encoding="utf-8")
    gates, accuracy, size, speed, _ = (cell.strip() for cell in str(rows[0]).strip("| ").split("|"))
    numbers = f"""- **{accuracy}** of MNIST's test images, with {gates.removeprefix("hardwire, ")}
- **{size}** for the whole classifier
- **{speed}** images on one CPU core
"""
    text = re.sub(r"(- \*\*.+\n){3}", lambda _: numbers, home.read_text(encoding="utf-8"), count=1)
    home.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
