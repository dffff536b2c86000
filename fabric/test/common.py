"""What the tests of several blocks share."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, Timer


async def reset(dut, cycles=3):
    """Starts the clock clk_i, of 10 ns, with the block in reset for some cycles; ends in the middle of the last."""
    # It has to fall to have an effect before the first edge of the clock.
    dut.rst_ni.value = 1
    await Timer(1, units="ns")
    dut.rst_ni.value = 0
    await Timer(1, units="ns")
    cocotb.start_soon(Clock(dut.clk_i, 10, units="ns").start())
    await ClockCycles(dut.clk_i, cycles)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
