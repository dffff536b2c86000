"""The mesh's counters: all that arrives is counted, once."""

import random

import cocotb
from cocotb.triggers import FallingEdge

from axi import AxiLiteMaster
from common import reset

ID, FLITS, FLITS_HIGH, LOST = 0x00, 0x08, 0x0C, 0x10


@cocotb.test(timeout_time=200, timeout_unit="us")
async def counts(dut):
    master = AxiLiteMaster(dut)
    dut.arrived_i.value = dut.lost_i.value = 0
    await reset(dut)
    assert await master.read(ID) == 0x4D43_0001
    flits = lost = 0
    for _ in range(500):
        await FallingEdge(dut.clk_i)
        now, gone = random.getrandbits(20), random.getrandbits(4)
        dut.arrived_i.value, dut.lost_i.value = now, gone
        flits, lost = flits + now.bit_count(), lost + gone.bit_count()
    await FallingEdge(dut.clk_i)
    dut.arrived_i.value = dut.lost_i.value = 0
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    assert await master.read(FLITS) == flits
    assert await master.read(FLITS_HIGH) == 0
    assert await master.read(LOST) == lost
