"""The synchroniser: levels arrive after its stages, glitches between edges do not."""

import random

import cocotb
from cocotb.triggers import FallingEdge, Timer

from common import reset


@cocotb.test(timeout_time=20, timeout_unit="us")
async def levels_arrive(dut):
    dut.async_i.value = 0
    await reset(dut)
    sent = [0, 0]
    for _ in range(200):
        level = random.getrandbits(1)
        await FallingEdge(dut.clk_i)
        assert dut.sync_o.value == sent[-2]
        # What is gone again before the clock's edge was never there.
        dut.async_i.value = 1 - level
        await Timer(1, units="ns")
        dut.async_i.value = level
        sent.append(level)
