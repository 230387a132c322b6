"""Writing files whole or not at all, for models, circuits and exports alike. Knows nothing of torch."""

import contextlib
import os
import secrets
from pathlib import Path

from hardwire.errors import HardwireError


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Replaces `path` when all of `content` is safely on disk or, on any failure, leaves what was there."""
    path = Path(path).expanduser()
    if not path.name:
        raise HardwireError(f"{str(path)!r} is a folder, not a file to write; name a file in it")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        reason = error.strerror or error
        raise HardwireError(f"cannot write {path}: {reason}; choose a folder that exists and is writable") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()  # there is one only if something went wrong
