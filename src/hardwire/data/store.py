"""The data folder: FOLDER/DATASET/FILE holds an unpacked file, and every read verifies its SHA-256.

There is no marker that says "verified": hashing CIFAR-10 takes a fraction of a second, and a marker can be wrong.
Files are downloaded elsewhere, verified, and only then written, so a download that is killed leaves nothing behind.
"""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from hardwire.data.sources import FAILURES, DataFile, FileSource, SourceError, reason
from hardwire.errors import HardwireError
from hardwire.files import write_whole

_ELSEWHERE = "set HARDWIRE_DATA to a folder that can be written"


@dataclass(frozen=True)
class Collection:
    """Files that belong together, and the sources to try for them, in order.

    name: their folder, and a dataset of the catalogue that reads them, so that messages can say what to download.
    """

    name: str
    files: tuple[DataFile, ...]
    sources: tuple[FileSource, ...]

    @property
    def folder(self) -> Path:
        return data_folder() / self.name

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def data_folder() -> Path:
    """The folder of all data files: $HARDWIRE_DATA, or `hardwire` in the user's cache."""
    if chosen := os.environ.get("HARDWIRE_DATA"):
        return Path(chosen).expanduser()
    import pooch

    return Path(pooch.os_cache("hardwire"))


def present(collection: Collection) -> list[DataFile]:
    """The files in the data folder that have the right size; their content is verified when they are read."""
    return [file for file in collection.files if _size(collection.folder / file.name) == file.size]


def read(collection: Collection, file: DataFile) -> bytes:
    """Reads a file of the data folder; a HardwireError if its content is not what the catalogue says."""
    path = collection.folder / file.name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise HardwireError(f"cannot read {path}: {error.strerror or error}") from error
    if fault := _fault(file, content):
        raise HardwireError(
            f"{path} is damaged or another file: {fault}; delete it, "
            f"or replace it with `hardwire data fetch {collection.name} --repair`"
        )
    return content


def fetch_missing(collection: Collection) -> None:
    """Downloads the files that are not in the data folder; `read` verifies those that are."""
    _fetch(collection, [file for file in collection.files if _size(collection.folder / file.name) is None])


def verify(collection: Collection, repair: bool = False) -> None:
    """Downloads what is missing and verifies every file; with `repair`, wrong files are downloaded again."""
    fetch_missing(collection)
    wrong = []
    for file in collection.files:
        try:
            read(collection, file)
        except HardwireError:
            if not repair:
                raise
            wrong.append(file)
    _fetch(collection, wrong)


def _fetch(collection: Collection, missing: list[DataFile]) -> None:
    if not missing:
        return
    _make_folder(collection.folder)
    tried = []
    for source in collection.sources:
        try:
            for file, content in source.deliver(missing):
                if fault := _fault(file, content):
                    raise SourceError(f"it sent a wrong {file.name}: {fault}")
                _write(collection.folder / file.name, content)
                missing = [other for other in missing if other is not file]
        except FAILURES as error:
            tried.append(f"{source}: {reason(error)}")
        else:
            tried.append(f"{source}: it does not have {', '.join(file.name for file in missing)}")
        if not missing:
            return
    raise _nothing_answered(collection, missing, tried)


def _nothing_answered(collection: Collection, missing: list[DataFile], tried: list[str]) -> HardwireError:
    lines = [
        f"{collection.name}: {len(missing)} of its {len(collection.files)} files could not be downloaded. Tried:",
        f"  {collection.folder}: missing or wrong there",
        *(f"  {line}" for line in tried),
        f"Try again later, or put these files, unpacked, into {collection.folder} "
        "(or set HARDWIRE_DATA to a folder that has them):",
        *(f"  {file.name}  {file.size} bytes  SHA-256 {file.sha256}" for file in missing),
    ]
    return HardwireError("\n".join(lines))


def _fault(file: DataFile, content: bytes) -> str | None:
    """Describes what is wrong with the content of a file, or None."""
    if len(content) < file.size:
        return f"it is cut off after {len(content)} of {file.size} bytes"
    if len(content) > file.size:
        return f"it is longer than {file.size} bytes"
    digest = hashlib.sha256(content).hexdigest()
    return None if digest == file.sha256 else f"its SHA-256 is {digest}, not {file.sha256}"


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HardwireError(f"cannot write {folder}: {error.strerror or error}; {_ELSEWHERE}") from error


def _write(path: Path, content: bytes) -> None:
    try:
        write_whole(path, content)
    except HardwireError as error:
        raise HardwireError(f"{error}; {_ELSEWHERE}") from error
