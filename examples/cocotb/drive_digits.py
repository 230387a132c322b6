"""The test that cocotb runs inside the simulator: an image a clock, some clocks without ce, labels by valid_out."""

import os

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge


@cocotb.test()
async def labels_come_out_in_order(dut):
    expected = np.load(os.environ["EXPECTED"])
    images, labels = expected["raw"], expected["labels"].tolist()
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    dut.rst.value, dut.ce.value, dut.valid_in.value, dut.x.value = 1, 1, 0, 0
    await FallingEdge(dut.clk)
    dut.rst.value = 0
    found, sent = [], 0
    for clock in range(10 * len(images)):
        dut.ce.value = enabled = int(clock % 4 != 3)
        dut.valid_in.value = int(sent < len(images))
        if sent < len(images):
            dut.x.value = int.from_bytes(images[sent].tobytes(), "little")
        if enabled and dut.valid_out.value == 1:  # of the clock before: it leaves now
            found.append(int(dut.label.value))
        await FallingEdge(dut.clk)
        sent += enabled
    assert found == labels, (found, labels)
