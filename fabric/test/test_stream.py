"""Both buffers of streams: what goes in comes out, at one item a cycle where neither side rests."""

import random

import cocotb
from cocotb.regression import TestFactory
from cocotb.triggers import FallingEdge, Timer

from common import reset

ITEMS = 200


async def passes_in_order(dut, in_pause, out_pause):
    dut.in_valid_i.value = 0
    dut.out_ready_i.value = 0
    await reset(dut)
    sent = [random.getrandbits(8) for _ in range(ITEMS)]
    came, next_in, cycles = [], 0, 0
    offered = False
    while len(came) < ITEMS:
        # An item that was offered stays until it is taken.
        offered = offered or (next_in < ITEMS and random.random() >= in_pause)
        dut.in_valid_i.value = offered
        dut.in_data_i.value = sent[next_in] if offered else random.getrandbits(8)
        dut.out_ready_i.value = random.random() >= out_pause
        await Timer(4, units="ns")
        if offered and dut.in_ready_o.value == 1:
            next_in += 1
            offered = False
        if dut.out_valid_o.value == 1 and dut.out_ready_i.value == 1:
            came.append(int(dut.out_data_o.value))
        cycles += 1
        await FallingEdge(dut.clk_i)
    assert came == sent
    if in_pause == out_pause == 0:
        assert cycles <= ITEMS + 1


factory = TestFactory(cocotb.test(timeout_time=50, timeout_unit="us")(passes_in_order))
factory.add_option("in_pause", [0.0, 0.5])
factory.add_option("out_pause", [0.0, 0.5])
factory.generate_tests()
