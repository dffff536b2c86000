"""The hybrid: memory has whoever comes first, and says which commands that includes."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.regression import TestFactory
from cocotb.triggers import ClockCycles

from axi import AxiLiteMaster, AxiMemory
from common import reset
from ready_queue_model import Model, Op

DEPTH, PRIORITIES = 1024, 256
HEAD, VALID = 4, 1 << 31
TAKE_HIGHEST, REMOVE, CONTROL, MIRROR = 0x800, 0x808, 0x818, 0x820
PLACE = 0x140
# Longer than any write to memory that pauses.
SETTLE_CYCLES = 200


def word(memory, place=PLACE):
    """(first, commands) as memory has them."""
    both = memory.bytes[place:place + 8]
    return int.from_bytes(both[:4], "little"), int.from_bytes(both[4:], "little")


def first(model):
    found = model.first()
    return VALID | found[1] << 16 | found[0] if found else 0


async def begun(dut, pause, **memory):
    cocotb.start_soon(Clock(dut.clk_i, 10, units="ns").start())
    dut.rst_ni.value = 0
    bus, memory = AxiLiteMaster(dut, pause=pause), AxiMemory(dut, 4096, pause=pause, **memory)
    await reset(dut)
    while not await bus.read(CONTROL):
        pass
    return bus, memory


async def kept(dut, pause):
    """Whatever memory says at any time was so after exactly as many commands as it says."""
    bus, memory = await begun(dut, pause)
    model, states = Model(DEPTH, PRIORITIES), []
    await bus.write(0, 3)
    model.apply(Op.INSERT_TAIL, 0, 3)
    assert not memory.writes, "not before it is enabled"
    await bus.write(MIRROR, PLACE | 1)
    states = {1: first(model)}
    newest = 0
    for number in range(2, 400):
        handle, priority, kind = random.randrange(12), random.randrange(0, 256, 17), random.randrange(4)
        if kind == 0:
            model.apply(Op.INSERT_TAIL, priority, handle)
            states[number] = first(model)
            await bus.write(priority << 3, handle)
        elif kind == 1:
            model.apply(Op.INSERT_HEAD, priority, handle)
            states[number] = first(model)
            await bus.write(priority << 3 | HEAD, handle)
        elif kind == 2:
            model.apply(Op.REMOVE, None, handle)
            states[number] = first(model)
            await bus.write(REMOVE, handle)
        else:
            model.apply(Op.TAKE_HIGHEST, None, None)
            states[number] = first(model)
            await bus.read(TAKE_HIGHEST)
        if random.random() < 0.3:
            await ClockCycles(dut.clk_i, random.randrange(30))
        got, commands = word(memory)
        if commands:
            assert got == states[commands], f"{got:#x} after {commands} commands"
            assert commands >= newest, "an older value after a newer one"
            newest = commands
    await ClockCycles(dut.clk_i, SETTLE_CYCLES)
    assert word(memory) == (first(model), max(states))
    # Emptied: nobody comes first, without any command.
    await bus.write(PRIORITIES * 8 - 8, 9)
    await bus.write(CONTROL, 1)
    await ClockCycles(dut.clk_i, SETTLE_CYCLES)
    assert word(memory) == (0, max(states) + 1)
    # Disabled: nothing more.
    await bus.write(MIRROR, PLACE)
    await bus.write(0, 4)
    await ClockCycles(dut.clk_i, SETTLE_CYCLES)
    assert word(memory) == (0, max(states) + 1)
    # Enabled elsewhere: as it is now.
    await bus.write(MIRROR, PLACE + 8 | 1)
    await ClockCycles(dut.clk_i, SETTLE_CYCLES)
    assert word(memory, PLACE + 8) == (VALID | 4, max(states) + 2)
    assert word(memory) == (0, max(states) + 1)


factory = TestFactory(kept)
factory.add_option("pause", [0.0, 0.6])
factory.generate_tests()


@cocotb.test()
async def refused(dut):
    """Memory that refuses stops it, which the register says; the queue goes on."""
    bus, memory = await begun(dut, 0.0, error_from=PLACE)
    await bus.write(MIRROR, PLACE | 1)
    await ClockCycles(dut.clk_i, SETTLE_CYCLES)
    assert await bus.read(MIRROR) == PLACE | 3
    written = len(memory.writes)
    await bus.write(0, 5)
    await ClockCycles(dut.clk_i, SETTLE_CYCLES)
    assert len(memory.writes) == written
    assert await bus.read(TAKE_HIGHEST) == VALID | 5
    await bus.write(MIRROR, 0)
    await bus.write(MIRROR, 0x40 | 1)
    await ClockCycles(dut.clk_i, SETTLE_CYCLES)
    assert await bus.read(MIRROR) == 0x40 | 1
    assert word(memory, 0x40) == (0, 2)
