"""Writing files whole or not at all, for models, circuits, tables and exports alike. Knows nothing of torch."""

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from hardwire.errors import HardwireError


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Replaces `path` when all of `content` is safely on disk or, on any failure, leaves what was there."""
    with open_whole(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def write_together(contents: Mapping[Path, str | bytes]) -> None:
    """Replaces several files when all of them are safely on disk or, if one cannot be written, none of them."""
    temporaries: dict[Path, Path] = {}  # by target
    try:
        for path, content in contents.items():
            temporaries[path] = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
            with _reported(path):
                if path.is_dir():
                    raise IsADirectoryError(errno.EISDIR, "it is a folder")
                with open(temporaries[path], "xb") as file:
                    file.write(content.encode() if isinstance(content, str) else content)
                    file.flush()
                    os.fsync(file.fileno())
        for path, temporary in temporaries.items():
            with _reported(path):
                os.replace(temporary, path)
    finally:
        for temporary in temporaries.values():
            with contextlib.suppress(OSError):
                temporary.unlink()  # it exists only if something went wrong


@contextlib.contextmanager
def open_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write piece by piece, which replaces `path` at the end of the block.

    If the block fails, or the disk is full, `path` stays as it was and nothing is left behind.
    """
    path = Path(path).expanduser()
    if not path.name:
        raise HardwireError(f"{str(path)!r} is a folder, not a file to write; name a file in it")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with _reported(path):
            file = open(temporary, "xb")  # noqa: SIM115 (closed below, so that errors of the block pass unchanged)
        try:
            yield _Reporting(file, path)  # type: ignore[misc]
            with _reported(path):
                file.flush()
                os.fsync(file.fileno())
        finally:
            with contextlib.suppress(OSError):  # a full disk has been reported already
                file.close()
        with _reported(path):
            os.replace(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()  # it exists only if something went wrong


class _Reporting:
    """A file whose failures to write name the file that is being made, not the temporary one."""

    def __init__(self, file: BinaryIO, path: Path):
        self._file, self._path = file, path

    def write(self, content: bytes) -> int:
        with _reported(self._path):
            return self._file.write(content)

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)


@contextlib.contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise HardwireError(f"cannot write {path}: {reason}; choose a folder that exists and is writable") from None
