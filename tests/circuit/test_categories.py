"""Categories, missing values and unknown texts: the circuit and every export read them as the network was trained."""

import numpy as np
import pandas as pd
import pytest

import hardwire as hw
from hardwire.bits import Columns

RANDOM = np.random.default_rng(0)
PLACES = [f"place {number}" for number in range(80)]
FRAME = pd.DataFrame(
    {
        "size": np.where(RANDOM.random(300) < 0.1, np.nan, RANDOM.normal(size=300).round(2)),
        "place": RANDOM.choice(PLACES, 300, p=np.arange(1, 81) / 3240),
        "grade": pd.Categorical(RANDOM.choice(["low", "mid", "high"], 300), ["low", "mid", "high"], ordered=True),
        "colour": RANDOM.choice(["red", "blue", None], 300),
    }
)


@pytest.fixture(scope="module")
def fitted():
    """A network on categories, its columns and raw values with everything that may occur."""
    columns = Columns.of(FRAME, missing="indicator")
    raw = columns.numbers(FRAME)
    encoder = hw.Encoder.fit(raw, 4, **columns.encoding())
    net = hw.LogicNetwork(encoder.features, 3, width=300, depth=2, seed=0, encoder=encoder)
    strange = columns.numbers(FRAME.assign(place="elsewhere", colour="green", size=np.nan, grade=None))
    return net, columns, np.concatenate([raw, strange])


def test_a_column_of_categories_has_one_bit_a_level(fitted):
    net, _, raw = fitted
    bits = hw.Bits.from_numpy(net.encoder.encode(raw), net.encoder.features).unpack().numpy()
    bits = bits.reshape(len(raw), *net.encoder.thresholds.shape)
    assert net.encoder.categories == (1, 3) and net.encoder.levels == 64
    assert bits[:300, 1].sum(axis=1).tolist() == [1] * 300 and bits[300:, 1].sum() == 300  # unknown places are "other"
    assert bits[:300, 3].sum(axis=1).tolist() == [1] * 300 and bits[300:, 3].sum() == 0  # unknown colours are nothing
    grades = FRAME["grade"].cat.codes.to_numpy()
    assert np.array_equal(bits[:300, 2, :3].sum(axis=1), grades + 1) and bits[300:, 2].sum() == 0
    assert np.array_equal(bits[:300, 0, 0] == 1, FRAME["size"].notna())  # the indicator


def test_the_circuit_reads_raw_values_as_the_network_reads_its_bits(fitted):
    net, _, raw = fitted
    bits = hw.Bits.from_numpy(net.encoder.encode(raw), net.encoder.features)
    circuit = hw.Circuit.from_network(net)
    assert circuit.encoder.categories == ()
    assert np.array_equal(circuit.predict(raw, raw=True), net.predict(bits).numpy())
    plain = net.encoder.plain_bits(bits.numpy())
    assert np.array_equal(plain, circuit.encoder.encode(raw))


def test_a_network_with_categories_is_saved_and_loaded(fitted, tmp_path):
    net, columns, raw = fitted
    net.columns = columns
    hw.save(net, tmp_path / "model")
    again = hw.load(tmp_path / "model")
    assert again.encoder.categories == net.encoder.categories and again.columns == columns
    circuit = hw.Circuit.from_network(again).simplify()
    circuit.save(tmp_path / "circuit")
    assert np.array_equal(hw.Circuit.load(tmp_path / "circuit").scores(raw, raw=True), circuit.scores(raw, raw=True))


@pytest.mark.parametrize("name", ["c.c", "one.c", "w.wasm", "v.v", "int.c"])
def test_every_export_agrees_on_missing_values_and_unknown_texts(fitted, tmp_path, name):
    net, _, raw = fitted
    circuit = hw.Circuit.from_network(net).simplify()
    options = {"one.c": {"word": 1}, "int.c": {"raw": "int16", "values": raw}}.get(name, {})
    circuit.export(tmp_path / name, **options)
    assert circuit.verify(tmp_path / name, raw, sat=False)


def test_codes_stay_codes_in_whole_numbers(fitted):
    from hardwire.circuit.input_format import input_format_of

    net, _, raw = fitted
    form = input_format_of(hw.Circuit.from_network(net), "int16", raw)
    assert np.array_equal(form.quantize(raw)[:, 1:], raw[:, 1:])


def test_shrinking_and_measuring_read_the_bits_of_the_circuit(tmp_path):
    FRAME.assign(y=np.where((FRAME["colour"] == "red") ^ (FRAME["size"] > 0), "in", "out")).to_csv(
        tmp_path / "t.csv", index=False
    )
    data = hw.data.load(f"{tmp_path / 't.csv'}@4#y")
    net = hw.LogicNetwork(data.inputs, 2, width=200, depth=2, method="hard-st", cage=True, seed=0, encoder=data.encoder)
    hw.fit(net, data, iterations=60, lr=0.05, progress=False)
    circuit = hw.Circuit.from_network(net).simplify()
    _, result = circuit.shrink(data, tolerance=0.0)
    before = hw.measure_gap(net, data.test).deploy
    assert result.accuracies["test"][0] == pytest.approx(before)
    assert (circuit.predict(data.raw("test"), raw=True) == data.test.y.numpy()).mean() == pytest.approx(before)
