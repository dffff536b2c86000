"""Events from a hart's clock to the fabric's: none is without effect, and none is made up."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.regression import TestFactory
from cocotb.triggers import FallingEdge, Timer
from cocotb.utils import get_sim_time

EVENTS = 100


async def begin(dut, src_ps, dst_ps):
    """Out of reset; returns the list of the times at which events come out."""
    dut.src_event_i.value = 0
    dut.src_rst_ni.value = 0
    dut.dst_rst_ni.value = 0
    cocotb.start_soon(Clock(dut.src_clk_i, src_ps, units="ps").start())
    cocotb.start_soon(Clock(dut.dst_clk_i, dst_ps, units="ps").start())
    await Timer(3 * max(src_ps, dst_ps), units="ps")
    await FallingEdge(dut.src_clk_i)
    dut.src_rst_ni.value = 1
    dut.dst_rst_ni.value = 1
    came = []

    async def watch():
        while True:
            await FallingEdge(dut.dst_clk_i)
            if dut.dst_event_o.value == 1:
                came.append(get_sim_time("ps"))

    cocotb.start_soon(watch())
    return came


async def send(dut):
    await FallingEdge(dut.src_clk_i)
    dut.src_event_i.value = 1
    await FallingEdge(dut.src_clk_i)
    dut.src_event_i.value = 0


async def events_arrive(dut, src_ps, dst_ps):
    came = await begin(dut, src_ps, dst_ps)
    last = 0
    for _ in range(EVENTS):
        await send(dut)
        last = get_sim_time("ps")
        for _ in range(random.choice((0, 1, 2, 40))):
            await FallingEdge(dut.src_clk_i)
    # The last event waits for one before it at most: two crossings and an answer.
    await Timer(8 * (src_ps + dst_ps), units="ps")
    assert came and came[-1] > last - src_ps
    assert len(came) <= EVENTS
    there = len(came)
    await Timer(20 * (src_ps + dst_ps), units="ps")
    assert len(came) == there, "nothing comes when nothing is sent"


async def events_that_are_far_apart_come_each(dut, src_ps, dst_ps):
    came = await begin(dut, src_ps, dst_ps)
    for number in range(1, 11):
        await send(dut)
        await Timer(6 * (src_ps + dst_ps), units="ps")
        assert len(came) == number


for test in (events_arrive, events_that_are_far_apart_come_each):
    factory = TestFactory(cocotb.test(timeout_time=100, timeout_unit="us")(test))
    factory.add_option(("src_ps", "dst_ps"), [(1500, 10000), (10000, 1500), (9998, 10000)])
    factory.generate_tests()
