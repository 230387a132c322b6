"""TOML files, which may come from strangers: any mistake in one is a single-line error.

Surprising: the standard parser takes time that grows with the square of the length of a dotted key, and 60 kB of
"a.a.a..." keep it busy for 18 seconds. So sizes and keys are bounded before it runs.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from hardwire.errors import HardwireError

MOST_BYTES = 256 * 1024
MOST_DOTS = 32  # in one key


def read_toml(path: Path) -> dict[str, Any]:
    """The entries of a TOML file."""
    return parse_toml(read_bytes(path), str(path))


def read_bytes(path: Path) -> bytes:
    """The content of a file that should be TOML: no more of it than `parse_toml` accepts and one byte."""
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise HardwireError(f"there is no file {path}") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise HardwireError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def parse_toml(content: str | bytes, name: str) -> dict[str, Any]:
    """The entries of TOML text; name: what messages call it."""
    if len(content) > MOST_BYTES:
        raise HardwireError(f"{name} is longer than {MOST_BYTES // 1024} kB; split it into smaller files")
    try:
        text = content if isinstance(content, str) else content.decode()
        _check_keys(text)
        return tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise HardwireError(f"{name} is not UTF-8 text, at byte {error.start}; save it as UTF-8") from None
    except RecursionError:
        raise HardwireError(f"{name} is not valid TOML: its brackets are nested too deeply") from None
    except ValueError as error:  # of the parser, of a number with thousands of digits, or of _check_keys
        if "integer string conversion" in str(error):  # Python's advice is for programmers
            raise HardwireError(f"{name} is not valid TOML: a number in it has thousands of digits") from None
        raise HardwireError(f"{name} is not valid TOML: {str(error)[:200]}") from None  # it may quote a long key


def _check_keys(text: str) -> None:
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in lines:
        if line.count(".") > MOST_DOTS and any(part.count(".") > MOST_DOTS for part in re.split(r"[=,{}\[\]]", line)):
            raise HardwireError(f"a key has more than {MOST_DOTS} dots")
