"""The terminal: one place that makes consoles, so that NO_COLOR is obeyed everywhere, in progress bars too.

Surprising: rich obeys NO_COLOR by leaving out colours and keeps bold and dim. Without a colour system it writes no
escape codes at all, except those that move the cursor of a live line.
"""

import os

from rich.console import Console


def colours_wanted() -> bool:
    """Whether NO_COLOR, an environment variable that programs agreed upon, is unset or empty."""
    return not os.environ.get("NO_COLOR")


def make_console(stderr: bool = False) -> Console:
    """A console on standard output or standard error."""
    return Console(stderr=stderr, highlight=False, color_system="auto" if colours_wanted() else None)
