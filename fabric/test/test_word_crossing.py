"""Words between clocks of all kinds of ratio."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.regression import TestFactory
from cocotb.triggers import FallingEdge, Timer

WORDS = 100


async def words_arrive(dut, src_ps, dst_ps):
    dut.src_valid_i.value = 0
    dut.dst_ready_i.value = 0
    dut.src_rst_ni.value = 0
    dut.dst_rst_ni.value = 0
    cocotb.start_soon(Clock(dut.src_clk_i, src_ps, units="ps").start())
    cocotb.start_soon(Clock(dut.dst_clk_i, dst_ps, units="ps").start())
    await Timer(3 * max(src_ps, dst_ps), units="ps")
    await FallingEdge(dut.src_clk_i)
    dut.src_rst_ni.value = 1
    dut.dst_rst_ni.value = 1
    sent = [random.getrandbits(8) for _ in range(WORDS)]

    async def send():
        for word in sent:
            dut.src_data_i.value = word
            dut.src_valid_i.value = 1
            taken = False
            while not taken:
                await Timer(src_ps // 2 - 100, units="ps")
                taken = dut.src_ready_o.value == 1
                await FallingEdge(dut.src_clk_i)
            dut.src_valid_i.value = 0
            # What is offered no more may change: the word has been taken.
            dut.src_data_i.value = random.getrandbits(8)

    cocotb.start_soon(send())
    got = []
    await FallingEdge(dut.dst_clk_i)
    while len(got) < WORDS:
        dut.dst_ready_i.value = random.getrandbits(1)
        await Timer(dst_ps // 2 - 100, units="ps")
        if dut.dst_valid_o.value == 1 and dut.dst_ready_i.value == 1:
            got.append(int(dut.dst_data_o.value))
        await FallingEdge(dut.dst_clk_i)
    assert got == sent


factory = TestFactory(cocotb.test(timeout_time=100, timeout_unit="us")(words_arrive))
# The hart's clock and the fabric's, both ways; nearly the same; the same.
factory.add_option(("src_ps", "dst_ps"), [(1500, 10000), (10000, 1500), (9998, 10000), (10000, 10000)])
factory.generate_tests()
