"""JSON from files that anybody may have written: numbers of ordinary size, moderate nesting, and one-line errors."""

import json
from typing import Any

from hardwire.errors import HardwireError

MOST_DIGITS = 40  # enough for 128 bits
MOST_DEPTH = 60


def parse_json(text: str | bytes, name: str) -> Any:
    """Parses JSON text from a file.

    Args:
        text: The JSON.
        name: What the text is, for the error: "its config".

    Raises:
        HardwireError: The text is not JSON, has a whole number of more than 40 digits, is nested too deeply, or holds
            half of a surrogate pair, which could not even be printed.
    """
    try:
        value = json.loads(text, parse_int=_parse_int)
        _check_depth(value)
        if b"\\ud" in (text.encode() if isinstance(text, str) else text).lower():
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise HardwireError(f"{name} is nested more than {MOST_DEPTH} deep") from None
    except ValueError as error:  # JSONDecodeError and UnicodeError are such
        raise HardwireError(f"{name} is not valid JSON ({error})") from None
    return value


def _parse_int(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MOST_DEPTH):
        nested = [part for part in level if isinstance(part, dict | list)]
        if not nested:
            return
        level = [entry for part in nested for entry in (part.values() if isinstance(part, dict) else part)]
    raise RecursionError
