"""Files are written whole or not at all: whichever operation fails, and whenever the process is killed."""

import errno
import itertools
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from hardwire.errors import HardwireError
from hardwire.files import whole, write_together, write_whole

OLD, NEW = b"old" * 1000, b"new" * 2000


class FailingDisk:
    """The operations of a disk, of which the one number `fails` fails, a write after half of its bytes."""

    def __init__(self, monkeypatch, fails: int, error: int):
        self.left, self.error = fails, error
        for name in ("fsync", "replace"):
            monkeypatch.setattr(os, name, self.failing(getattr(os, name)))
        monkeypatch.setattr(whole, "open", self.open, raising=False)

    def step(self) -> bool:
        self.left -= 1
        return self.left == 0

    def failing(self, function):
        def call(*arguments):
            if self.step():
                raise OSError(self.error, os.strerror(self.error))
            return function(*arguments)

        return call

    def open(self, *arguments):
        if self.step():
            raise OSError(self.error, os.strerror(self.error))
        return FailingFile(open(*arguments), self)


class FailingFile:
    def __init__(self, file, disk: FailingDisk):
        self.file, self.disk = file, disk

    def write(self, content):
        if self.disk.step():
            self.file.write(content[: len(content) // 2])
            raise OSError(self.disk.error, os.strerror(self.disk.error))
        return self.file.write(content)

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        self.file.close()


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_whichever_operation_fails_the_old_file_stays_and_nothing_else(error, tmp_path):
    path, failed = tmp_path / "file", 0
    for number in itertools.count(1):
        path.write_bytes(OLD)
        with pytest.MonkeyPatch.context() as patch:
            FailingDisk(patch, number, error)
            try:
                write_whole(path, NEW)
                break
            except HardwireError as raised:
                assert os.strerror(error) in str(raised) and str(path) in str(raised)
        failed += 1
        assert path.read_bytes() == OLD and os.listdir(tmp_path) == ["file"]
    assert failed == 4  # open, write, fsync, replace
    assert path.read_bytes() == NEW and os.listdir(tmp_path) == ["file"]


def test_files_written_together_stay_as_they_were_if_one_of_them_cannot_be_written(tmp_path):
    first, second, failed = tmp_path / "first", tmp_path / "second", 0
    for number in itertools.count(1):
        first.write_bytes(OLD)
        second.write_bytes(OLD)
        with pytest.MonkeyPatch.context() as patch:
            FailingDisk(patch, number, errno.ENOSPC)
            try:
                write_together({first: NEW, second: NEW})
                break
            except HardwireError:
                failed += 1
        assert sorted(os.listdir(tmp_path)) == ["first", "second"]
        if number <= 7:  # of eight operations only the last, a rename, comes after the first file was replaced
            assert first.read_bytes() == OLD and second.read_bytes() == OLD
    assert failed == 8 and first.read_bytes() == second.read_bytes() == NEW


WRITER = """
import itertools, sys
from hardwire.files import write_whole
for number in itertools.count():
    write_whole(sys.argv[1], b"%d " % (number % 10) * 100_000)
    print(number, flush=True)
"""


def test_a_writer_killed_at_random_moments_leaves_a_whole_file(tmp_path):
    path, moments = tmp_path / "file", random.Random(0)
    for _ in range(10):
        process = subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE)
        assert process.stdout.readline() == b"0\n"
        time.sleep(moments.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        content = path.read_bytes()
        assert len(content) == 200_000 and len(set(content.split())) == 1
    others = [name for name in os.listdir(tmp_path) if name != "file"]
    assert all(name.startswith(".file.") and name.endswith(".tmp") for name in others)  # of writers that were killed
