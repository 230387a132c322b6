"""What tests of C exports share: circuits that read each kind of value, and changes to an exported file."""

import re

import numpy as np
from circuit_oracle import random_circuit

import hardwire as hw

KINDS = ("bits", "bytes", "int8", "int16", "int32", "floats")


def encoder_for(kind, seed, columns=5, levels=3):
    generator = np.random.default_rng(seed)
    low, high = {"bytes": (-20, 280), "int8": (-140, 140), "floats": (-9, 9)}.get(kind, (-40_000, 40_000))
    thresholds = generator.uniform(low, high, (columns, levels)).astype(np.float32)
    if seed % 2:
        thresholds[:] = thresholds[0]  # one table for all columns
    return hw.Encoder(thresholds, kind)


def circuit_for(kind, seed, **sizes):
    encoder = None if kind == "bits" else encoder_for(kind, seed, columns=20 if seed % 3 == 0 else 5)
    inputs = 15 if encoder is None else encoder.features
    return random_circuit(seed, inputs=inputs, classes=3, group=9, layers=2, encoder=encoder, **sizes)


def changed(path, pattern, replacement):
    text = path.read_text()
    result = re.sub(pattern, replacement, text, count=1)
    assert result != text, pattern
    path.write_text(result)
