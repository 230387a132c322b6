"""Both houses as their plan says: data flows down the list of rooms, and a room imports only from rooms above it.

hardwire stands alone; hardwire_paper is built on top of it and may import all of it, and never the other way round.

Read from the source, so that imports inside functions count as well.
"""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "hardwire"
PAPER = ROOT / "src" / "hardwire_paper"
LIBRARY = sorted(SOURCE.rglob("*.py"))
MODULES = [*LIBRARY, *sorted(PAPER.rglob("*.py"))]
PLAN = ROOT / "docs" / "architecture.md"
ROOF = {"__init__", "__main__"}  # they open the house and may look into every room


def room(path: Path) -> str:
    """The room that a file of the library is in: hardwire/data/npz.py is in data."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def rooms_in_order() -> list[str]:
    """The rooms of the table in docs/architecture.md, from the top."""
    table = PLAN.read_text().partition("| room | its job |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (`[a-z_`, ]+`) \|", table, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


@functools.cache
def names_of_the_house(path: Path) -> set[str]:
    """What `import hardwire`, in whatever place, binds in a module."""
    imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import)]
    return {alias.asname or alias.name for node in imports for alias in node.names if alias.name == "hardwire"}


@functools.cache
def home_of(name: str) -> str:
    """Where a public name lives: LogicNetwork is hardwire.network.LogicNetwork."""
    match = re.search(rf"^from \.(\w*) import {name} as", (SOURCE / "__init__.pyi").read_text(), re.MULTILINE)
    return ".".join(filter(None, ["hardwire", match and match.group(1), name]))


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Line and name, such as hardwire.data.store, of all that a module imports from either house."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are written in full here"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and re.fullmatch(r"hardwire(_paper)?(\.\w+)*", node.value)
        ):
            names = [node.value]  # importlib.import_module("hardwire.study"), or a process started with -m
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in names_of_the_house(path)
        ):
            names = [home_of(node.attr)]  # hw.study, or hw.fit, which lives in a room as well
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] in ("hardwire", "hardwire_paper"))


def used_rooms(path: Path) -> Iterator[tuple[int, str]]:
    """Line and room of each import, but for the native module and what begins with an underscore."""
    for line, name in imported(path):
        parts = name.split(".")
        if parts[0] == "hardwire" and len(parts) > 1 and not parts[1].startswith("_"):
            yield line, parts[1]


def test_the_plan_names_every_room_once():
    order = rooms_in_order()
    assert len(order) == len(set(order))
    assert set(order) == {room(path) for path in LIBRARY} - ROOF


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_imports_only_from_rooms_above_it(path):
    order, own = rooms_in_order(), room(path)
    if own in ROOF:
        return
    above = order[: order.index(own) + 1]
    wrong = [f"line {line}: {name}" for line, name in used_rooms(path) if name not in above]
    assert not wrong, f"{own} stands above what it imports"


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_library_never_imports_the_paper(path):
    assert not [f"line {line}: {name}" for line, name in imported(path) if name.split(".")[0] == "hardwire_paper"]


def test_the_checker_sees_imports_of_every_form(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(
        "import hardwire.data\nfrom hardwire import study, _native\n"
        "def f():\n    from hardwire.cli.gap import gap\n    import_module('hardwire.circuit')\nimport torch\n"
        "import hardwire as hw\nhw.study.Store\nhw.fit\nhw.__version__\nfrom hardwire_paper import groups\n"
    )
    rooms = [(1, "data"), (2, "study"), (4, "cli"), (5, "circuit"), (8, "study"), (9, "training")]
    assert sorted(used_rooms(path)) == rooms
    assert (11, "hardwire_paper.groups") in imported(path)


def test_no_module_imports_one_that_imports_it_while_both_load():
    """Cycles at the top of modules work or break by the order of imports; those inside functions are harmless."""
    graph = {dotted(path): set(imports_at_load(path)) for path in MODULES}
    finished: set[str] = set()

    def visit(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, f"a cycle: {' -> '.join([*way[way.index(name) :], name])}"
        if name not in finished:
            for other in sorted(graph[name]):
                visit(other, (*way, name))
            finished.add(name)

    for name in graph:
        visit(name, ())


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


def imports_at_load(path: Path) -> Iterator[str]:
    """The modules of the house that run before `path` does; not the packages that they are in, which only pass on."""
    known = {dotted(other) for other in MODULES}
    inside = {node for part in ast.walk(ast.parse(path.read_text())) if is_later(part) for node in lines(part)}
    for line, name in imported(path):
        module = name if name in known else name.rpartition(".")[0]
        own_package = module == dotted(path).rpartition(".")[0]
        if line not in inside and module in known and module != dotted(path) and not own_package:
            yield module


def is_later(node: ast.AST) -> bool:
    """Functions run later, and what stands under `if TYPE_CHECKING` never."""
    checking = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    return checking or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def lines(node: ast.AST) -> range:
    return range(node.lineno, node.end_lineno + 1)
