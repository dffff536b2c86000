"""The GPIO controller: pins follow what is written, each write in as many cycles, and the timer counts them."""

import random

import cocotb
from cocotb.triggers import FallingEdge

from axi import AxiLiteMaster
from common import reset

ID, OUTPUTS, SET, CLEAR, INPUTS, TIMER, TIMER_HIGH = 0x00, 0x04, 0x08, 0x0C, 0x10, 0x18, 0x1C


@cocotb.test(timeout_time=200, timeout_unit="us")
async def pins_and_timer(dut):
    master = AxiLiteMaster(dut)
    dut.pins_i.value = 0
    await reset(dut)
    cycle, changed = 0, []

    async def watch():
        nonlocal cycle
        last = 0
        while True:
            await FallingEdge(dut.clk_i)
            cycle += 1
            pins = int(dut.pins_o.value)
            if pins != last:
                changed.append((cycle, pins))
                last = pins

    cocotb.start_soon(watch())
    assert await master.read(ID) == 0x4743_0001
    levels, waits = 0, set()
    for _ in range(60):
        register, value = random.choice([OUTPUTS, SET, CLEAR]), random.getrandbits(8)
        new = {OUTPUTS: value, SET: levels | value, CLEAR: levels & ~value}[register]
        at, count = cycle, len(changed)
        await master.write(register, value)
        for _ in range(4):
            await FallingEdge(dut.clk_i)
        if new != levels:
            assert len(changed) == count + 1 and changed[-1][1] == new
            waits.add(changed[-1][0] - at)
        levels = new
        assert int(dut.pins_o.value) == levels and await master.read(OUTPUTS) == levels
        dut.pins_i.value = value
        assert await master.read(INPUTS) == value
    assert len(waits) == 1, waits
    # The same number of cycles passes on both.
    first, at = await master.read(TIMER), cycle
    for _ in range(17):
        await FallingEdge(dut.clk_i)
    assert await master.read(TIMER) - first == cycle - at
    assert await master.read(TIMER_HIGH) == 0
