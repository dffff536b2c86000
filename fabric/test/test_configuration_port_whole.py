"""A bitstream of the smallest region, whole: what a configuration takes."""

import cocotb

from test_configuration_port import begin, load

BYTES, CYCLES_MAX = 32_340, 8_500


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def the_smallest_region_is_loaded_in_time(dut):
    page, memory, regions = await begin(dut)
    await load(dut, page, memory, regions, 2, 0, BYTES)
    assert await page.read(0x18) <= CYCLES_MAX
