"""What the tests of several blocks share."""

from cocotb.triggers import ClockCycles


async def reset(dut, clock="clk_i", line="rst_ni", cycles=3):
    """Holds a block in reset for some cycles, and lets it go between two edges of the clock."""
    getattr(dut, line).value = 0
    await ClockCycles(getattr(dut, clock), cycles)
    await ClockCycles(getattr(dut, clock), 1, rising=False)
    getattr(dut, line).value = 1
