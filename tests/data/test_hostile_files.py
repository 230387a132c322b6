"""Files from strangers: an .npz, .csv or .parquet loads or is refused in one line, in little memory."""

import io
import json
import struct
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mutations import MUTATIONS, mutations

import hardwire as hw
from hardwire.data import frames
from hardwire.data.frames import read_frame
from hardwire.data.streams import read_parts

BITS = np.random.default_rng(0).integers(0, 2, (9, 4))
ARRAYS = dict(x_train=BITS, y_train=BITS[:, 0], x_test=BITS[:4], y_test=BITS[:4, 0])


def refused(path, message):
    """Loading is refused in one line that names the file, and takes little memory."""
    tracemalloc.start()
    try:
        with pytest.raises(hw.HardwireError, match=message) as raised:
            hw.data.load(str(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 700
    assert peak < 50e6, peak


def npy(shape, dtype="<f8", data=b"", header=None):
    """An .npy file with any header."""
    text = header or repr({"descr": dtype, "fortran_order": False, "shape": shape})
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text) + 1) + text.encode() + b"\n" + data


def archive(path, members, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def small(**changed):
    """The members of a good .npz, some of them replaced."""
    members = {}
    for name, array in ARRAYS.items():
        file = io.BytesIO()
        np.save(file, array)
        members[f"{name}.npy"] = file.getvalue()
    return members | {f"{name}.npy": content for name, content in changed.items()}


def test_half_a_gigabyte_of_zeros_in_a_small_npz_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in small().items():
            if name != "x_train.npy":
                file.writestr(name, content)
        with file.open("x_train.npy", "w", force_zip64=True) as member:
            member.write(npy((2**27, 4), "|u1"))
            for _ in range(2**5):
                member.write(bytes(2**24))
    assert path.stat().st_size < 1e6
    refused(path, "unpacks to 536,8")


def test_an_npz_with_a_very_long_list_of_members_is_refused(tmp_path):
    archive(tmp_path / "many.npz", small() | {f"{number}": b"" for number in range(30_000)})
    refused(tmp_path / "many.npz", "list of members takes")


@pytest.mark.parametrize(
    "content",
    [
        npy((2**40, 4)),
        npy((2**62, 2**62)),
        npy((-1, 4)),
        npy((9, 4), "<i8", bytes(100)),
        npy((1,) * 2000),
        npy((9, 4), "|O", bytes(288)),
        npy((9,), "|V1000000000"),
        npy((), header="(" * 9000),
        npy((), header="{'descr': '<f8', 'fortran_order': False, 'shape': (" + "9" * 6000 + ",)}"),
        npy((), header="[" * 50 + "]" * 50),
        npy((), header="{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (0,)}"),
        b"\x93NUMPY\x09\x00\x10\x00",
        b"\x93NUMPY",
        b"",
    ],
)
def test_a_header_that_lies_is_refused(tmp_path, content):
    archive(tmp_path / "lies.npz", small(x_train=content))
    refused(tmp_path / "lies.npz", "lies.npz")


def test_a_way_to_compress_that_numpy_does_not_use_is_refused(tmp_path):
    for compression in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        archive(tmp_path / "other.npz", small(), compression)
        refused(tmp_path / "other.npz", "compressed in a way that numpy does not use")


def test_what_numpy_writes_compressed_still_loads(tmp_path):
    np.savez_compressed(tmp_path / "good.npz", **ARRAYS | {"x_train": np.zeros((9, 4), np.int64)})
    assert len(hw.data.load(tmp_path / "good.npz").train) == 9


CSV = {
    "many columns": ("a," * 50_000 + "y\n" + "1," * 50_000 + "1\n", "more than 20,000 columns"),
    "an endless line": ("a" * (5 << 20), "first line of .* is longer than 4 MB"),
    "not UTF-8": ("a,y\n1,x\n2,\xff\xfe\n".encode("latin-1"), "cannot read .* as a table"),
    "not UTF-8 in the first line": (b"\xff\xfea,y\n1,2\n", "cannot read .* as a table"),
    "UTF-16": ("a,y\n1,x\n2,z\n".encode("utf-16"), "cannot read"),
    "more cells than columns": ("a,y\n1,x\n1,x,3\n", "cannot read"),
    "one cell more in each row": ("a,y\n1,2,x\n1,3,y\n", "cannot read"),
    "a quote that does not end": ('a,y\n1,"x\n2,y\n' + "3,x\n" * 9, "cannot read"),
    "two columns of one name": ("a, a ,y\n1,2,x\n1,3,y\n", "two columns named 'a'"),
    "numbers of 5,000 digits": (f"a,y\n{'9' * 5000},x\n{'9' * 5000},y\n1,x\n", None),
    "text and numbers": ("a,y\nx,1\n2,1\n3,2\n" + "5,1\n" * 200_000 + "z,2\n" * 1000, None),
    "labels of 5,000 digits": (f"a,y\n1,{'9' * 5000}\n2,{'8' * 5000}\n3,{'8' * 5000}\n", None),
}


def test_nul_in_a_csv_is_missing_or_nothing_as_pandas_says(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_bytes(b"a,y\n1,x\n\x00,\x00y\n3,x\n")
    try:
        assert hw.data.load(f"{path}#y").classes == 2  # pandas 3.1 and later
    except hw.HardwireError as error:
        assert "the target y is missing in 1 rows" in str(error)


@pytest.mark.parametrize("case", CSV)
def test_a_hostile_csv_is_one_line_or_a_dataset(tmp_path, case):
    content, message = CSV[case]
    path = tmp_path / "bad.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if message is None:
        assert hw.data.load(f"{path}#y").classes == 2
    else:
        refused(f"{path}#y", message)


def parquet(path, metadata=None, **columns):
    table = pa.table(columns or {"a": [1.0, 2.0, 3.0], "y": ["x", "z", "x"]})
    pq.write_table(table.replace_schema_metadata(metadata), path)
    return path


@pytest.mark.parametrize(
    "metadata",
    [
        b"not JSON",
        b"[" * 100_000,
        b"{}",
        json.dumps({"index_columns": 5, "columns": "x", "column_indexes": None}).encode(),
        json.dumps({"index_columns": ["a", "a", "y"], "columns": [], "column_indexes": []}).encode(),
        json.dumps(
            {
                "index_columns": [{"kind": "range", "name": [1], "start": 0, "stop": 10**300, "step": 0}],
                "columns": [{"name": "a", "field_name": "a", "pandas_type": "x", "numpy_type": "x", "metadata": 7}],
                "column_indexes": [],
            }
        ).encode(),
        b"\xff\xfe",
    ],
)
def test_what_pandas_is_told_in_a_parquet_is_no_traceback(tmp_path, metadata):
    path = parquet(tmp_path / "bad.parquet", {b"pandas": metadata})
    try:
        assert hw.data.load(f"{path}#y").classes == 2
    except hw.HardwireError as error:
        assert "bad.parquet" in str(error) and "\n" not in str(error)
    assert sum(len(part.cells) for part in read_parts(path)) == 3


def test_a_parquet_that_declares_far_more_values_than_it_can_hold_is_refused(tmp_path, monkeypatch):
    """With limits a hundredth of the real ones, so that a small file will do."""
    monkeypatch.setattr(frames, "_FREE_CELLS", 500_000)
    monkeypatch.setattr(frames, "_MOST_CELLS", 10)
    repeated = pa.DictionaryArray.from_arrays(pa.array(np.zeros(100_000, np.int8)), pa.array(["x"]))
    pq.write_table(pa.table({f"c{number}": repeated for number in range(12)}), tmp_path / "bomb.parquet")
    refused(f"{tmp_path / 'bomb.parquet'}#c0", "declares 1,200,000 values")


def test_columns_that_are_neither_numbers_nor_text_are_one_line(tmp_path):
    times = pd.to_timedelta([1, 2, 3], unit="h")
    for column in ([[1], [2], [3]], [{"b": 1}, {"b": 2}, {"b": 3}], times, [b"\xff", b"\x00", b"a"]):
        path = parquet(tmp_path / "odd.parquet", a=column, y=["x", "z", "x"], n=[1, 2, 3])
        refused(f"{path}#y", "odd.parquet")
        refused(f"{path}#a", "odd.parquet")
        assert sum(len(part.cells) for part in read_parts(path)) == 3


FILES = {
    "npz": lambda path: archive(path, small()),
    "csv": lambda path: path.write_text(
        "size,colour,y\n" + "".join(f"{i / 7:.3f},c{i % 3},{i % 2}\n" for i in range(20))
    ),
    "parquet": lambda path: pq.write_table(pa.table({"size": np.arange(20) / 7, "y": ["a", "b"] * 10}), path),
}


@pytest.mark.parametrize("suffix", FILES)
def test_a_damaged_file_loads_or_is_one_line(tmp_path, suffix):
    path = tmp_path / f"file.{suffix}"
    FILES[suffix](path)
    target = "" if suffix == "npz" else "#y"
    for content in mutations(path.read_bytes(), MUTATIONS):
        path.write_bytes(content)
        readers = [lambda: hw.data.load(f"{path}{target}")]
        if suffix != "npz":
            readers += [lambda: read_frame(path), lambda: list(read_parts(path, typed=True))]
        for read in readers:
            try:
                read()
            except hw.HardwireError as error:
                assert "\n" not in str(error) and len(str(error)) < 1000
