"""The AXI4 master on a bus that keeps none of the rules: without the checks that its other tests have."""

import cocotb
from cocotb.triggers import FallingEdge

from test_axi_master import begin


@cocotb.test(timeout_time=20, timeout_unit="us")
async def an_answer_to_nothing_is_not_listened_to(dut):
    client, memory = await begin(dut, slow=False)
    cocotb.start_soon(memory.send("r", [{"data": 7, "resp": 0, "last": 1}]))
    cocotb.start_soon(memory.send("b", [{"resp": 0}]))
    for _ in range(10):
        await FallingEdge(dut.clk_i)
    assert dut.rd_data_valid_o.value == 0 and not client.done and dut.busy_o.value == 0
