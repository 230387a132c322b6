"""Puts a circuit that `hardwire records run` made among those that come with the package.

    hardwire records run digits-1k -o records
    python benchmarks/add_circuit.py records/digits-1k.circuit

It reads the test set once more, to write the accuracy into the file, and replaces the entry of the same name in
src/hardwire/zoo/index.toml. A name of its own: --name.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import hardwire as hw
from hardwire import zoo

FOLDER = Path(zoo.__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("circuit", type=Path)
    parser.add_argument("--name")
    arguments = parser.parse_args()
    recipe = hw.recipes.load(json.loads(arguments.circuit.with_suffix(".json").read_text())["recipe"]["name"])
    circuit = hw.Circuit.load(arguments.circuit).tested(hw.data.load(recipe.data), recipe.data)
    entry = zoo.CircuitEntry(
        name=arguments.name or recipe.name,
        data=recipe.data,
        accuracy=circuit.provenance.accuracy,
        gates=len(circuit.netlist.gate),
        recipe=recipe.name,
        digest=circuit.digest,
        title=recipe.title,
    )
    circuit.save(FOLDER / entry.file)
    there = zoo.entries() if (FOLDER / zoo.INDEX).exists() else []
    entries = sorted([entry, *(other for other in there if other.name != entry.name)], key=lambda entry: entry.gates)
    lines = ["# Made by benchmarks/add_circuit.py; `hardwire circuit list` prints it.", ""]
    for each in entries:
        lines += ["[[circuit]]", *(f"{name} = {json.dumps(value)}" for name, value in asdict(each).items()), ""]
    (FOLDER / zoo.INDEX).write_text("\n".join(lines))
    size = sum(path.stat().st_size for path in FOLDER.glob("*.circuit"))
    print(f"{entry.name}: {100 * entry.accuracy:.2f}%, {entry.gates:,} gates; all circuits {size / 1000:,.0f} kB")


if __name__ == "__main__":
    main()
