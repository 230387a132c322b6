"""A Jupyter notebook as plain data: running its code cells in one namespace, without Jupyter, and saving their outputs.

`python tests/support/notebook.py FILE` runs the notebook in an empty folder and saves what its cells print and show.
"""

import ast
import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path


def run(path: Path) -> Iterator[tuple[dict, list[dict]]]:
    """Run the notebook in the current folder; give each code cell and the outputs it has now."""
    names: dict[str, object] = {"__name__": "__main__"}
    for number, cell in enumerate(code_cells(json.loads(path.read_text(encoding="utf-8"))), start=1):
        yield cell, _outputs("".join(cell["source"]), names, number)


def code_cells(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _outputs(source: str, names: dict[str, object], number: int) -> list[dict]:
    """What Jupyter would save: the printed text, and the value of a last expression."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), f"cell {number}", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    outputs: list[dict] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_svg_"):
            data["image/svg+xml"] = _lines(value._repr_svg_())
        outputs.append({"output_type": "execute_result", "execution_count": number, "data": data, "metadata": {}})
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def save_outputs(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        results = [outputs for _, outputs in run(path)]
    for number, (cell, outputs) in enumerate(zip(code_cells(notebook), results, strict=True), start=1):
        cell |= {"execution_count": number, "outputs": outputs}
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        save_outputs(Path(name).resolve())
