"""The time stamps, as software sees them over AXI4-Lite."""

import random

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge
from cocotb.utils import get_sim_time

from axi import SLVERR, AxiLiteMaster
from common import reset

ID, SCRATCH, CYCLES, COMPARE = 0x00, 0x04, 0x08, 0x10
IRQ_ENABLE, IRQ_PENDING, IRQ_CLEAR = 0x18, 0x1C, 0x20
CLOCK_NS = 10


async def begin(dut):
    """A master, and the block out of reset: its first cycle is the one that begins at the next rising edge."""
    master = AxiLiteMaster(dut)
    await reset(dut)
    return master


@cocotb.test(timeout_time=20, timeout_unit="us")
async def is_identified(dut):
    master = await begin(dut)
    assert await master.read(ID) == 0x5354_0001
    await master.write(SCRATCH, 0xDEAD_BEEF)
    # Single bytes are written alone.
    await master.write(SCRATCH, 0x1122_3344, strobe=0b0010)
    assert await master.read(SCRATCH) == 0xDEAD_33EF


@cocotb.test(timeout_time=20, timeout_unit="us")
async def what_is_not_there_is_an_error(dut):
    master = await begin(dut)
    for address in (0x24, 0x100, 0xFFC):
        assert await master.reads([address]) == [(SLVERR, 0)]
        assert await master.writes([(address, 0, 0xF)]) == [SLVERR]
    # Nor is a register written that can only be read, or the other way round.
    assert await master.writes([(ID, 0, 0xF)]) == [SLVERR]
    assert await master.reads([IRQ_CLEAR]) == [(SLVERR, 0)]
    assert await master.read(ID) == 0x5354_0001


@cocotb.test(timeout_time=50, timeout_unit="us")
async def counts_cycles(dut):
    master = await begin(dut)
    begun = get_sim_time("ns")
    for _ in range(50):
        before = (get_sim_time("ns") - begun) / CLOCK_NS
        now = await master.read64(CYCLES)
        assert before <= now <= (get_sim_time("ns") - begun) / CLOCK_NS
        await ClockCycles(dut.clk_i, random.randrange(1, 20))


@cocotb.test(timeout_time=20, timeout_unit="us")
async def both_words_are_of_one_cycle(dut):
    master = await begin(dut)
    # Just before the lower word overflows: it is read before, the upper one after.
    dut.cycles_q.value = 0x0000_0006_FFFF_FFFA
    low = await master.read(CYCLES)
    await ClockCycles(dut.clk_i, 20)
    high = await master.read(CYCLES + 4)
    assert low >= 0xFFFF_FFFA and high == 6
    assert await master.read64(CYCLES) > 0x7_0000_0000


@cocotb.test(timeout_time=50, timeout_unit="us")
async def interrupts_at_the_compared_cycle(dut):
    master = await begin(dut)
    begun = get_sim_time("ns")
    await master.write(IRQ_ENABLE, 1)
    for _ in range(10):
        assert dut.irq_o.value == 0
        target = int((get_sim_time("ns") - begun) / CLOCK_NS) + random.randrange(20, 100)
        await master.write64(COMPARE, target)
        await RisingEdge(dut.irq_o)
        # The counter has the value in the cycle before the edge with which the line rises.
        assert int((get_sim_time("ns") - begun) / CLOCK_NS) == target
        assert await master.read(IRQ_PENDING) == 1
        await ClockCycles(dut.clk_i, 20)
        assert dut.irq_o.value == 1, "the line stays up until it is cleared"
        await master.write(IRQ_CLEAR, 1)
        assert await master.read(IRQ_PENDING) == 0


@cocotb.test(timeout_time=20, timeout_unit="us")
async def half_a_compare_value_means_nothing(dut):
    master = await begin(dut)
    # The lower word alone would match soon, were it not for the upper one that follows.
    await master.write(COMPARE, 40)
    await ClockCycles(dut.clk_i, 60)
    await master.write(COMPARE + 4, 0)
    await ClockCycles(dut.clk_i, 20)
    assert await master.read(IRQ_PENDING) == 0, "the cycle was over when the value was whole"


@cocotb.test(timeout_time=20, timeout_unit="us")
async def a_masked_event_only_pends(dut):
    master = await begin(dut)
    await master.write64(COMPARE, 60)
    await ClockCycles(dut.clk_i, 80)
    assert dut.irq_o.value == 0
    assert await master.read(IRQ_PENDING) == 1
    await master.write(IRQ_ENABLE, 1)
    await ClockCycles(dut.clk_i, 2)
    assert dut.irq_o.value == 1
