"""The interrupt line against a model of a line."""

import random

import cocotb
from cocotb.triggers import FallingEdge

from common import reset

EVENTS = 4


@cocotb.test(timeout_time=20, timeout_unit="us")
async def follows_a_model(dut):
    for name in ("event_i", "clear_i", "enable_i"):
        getattr(dut, name).value = 0
    await reset(dut)
    pending = 0
    for _ in range(500):
        # Rare enough that lines also stay as they are.
        event, clear, enable = (random.getrandbits(EVENTS) & random.getrandbits(EVENTS) for _ in range(3))
        dut.event_i.value, dut.clear_i.value, dut.enable_i.value = event, clear, enable
        await FallingEdge(dut.clk_i)
        pending = pending & ~clear | event
        assert dut.pending_o.value == pending
        assert dut.irq_o.value == (pending & enable != 0)
