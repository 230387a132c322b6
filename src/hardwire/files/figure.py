"""Figures as files: written whole or not at all, and the same figure as an SVG gives the same bytes."""

import io
import os
from pathlib import Path
from typing import Any

from hardwire.errors import HardwireError
from hardwire.files.whole import write_whole

FORMATS = (".svg", ".png", ".pdf")
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: small files, names that can be searched
    "svg.hashsalt": "hardwire",
}


def check_figure(path: str | os.PathLike[str]) -> None:
    """Raises HardwireError unless the suffix is that of a figure; call it before the work that a figure shows."""
    if Path(path).suffix.lower() not in FORMATS:
        raise HardwireError(
            f"a figure cannot be written to {str(path)!r}; use a name that ends in {', '.join(FORMATS)}"
        )


def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Writes a matplotlib figure in the format of the suffix: .svg, .png or .pdf."""
    import matplotlib

    check_figure(path)
    suffix, content = Path(path).suffix.lower(), io.BytesIO()
    with matplotlib.rc_context(_STYLE):
        figure.savefig(content, format=suffix[1:], dpi=160, metadata={"Date": None} if suffix == ".svg" else None)
    write_whole(path, content.getvalue())
