"""The UART controller, its wire looped back: what is sent comes, in order; what finds no room is lost and told."""

import random

import cocotb
from cocotb.triggers import FallingEdge

from axi import AxiLiteMaster
from common import reset

ID, STATUS, CLEAR, TXDATA, RXDATA = 0x00, 0x04, 0x08, 0x0C, 0x10
BUSY, OVERFLOW, OVERRUN, THERE = 1 << 16, 1 << 17, 1 << 18, 1 << 31


async def begin(dut):
    master = AxiLiteMaster(dut)
    dut.rxd_i.value = 1
    await reset(dut)

    async def loop():
        while True:
            await FallingEdge(dut.clk_i)
            dut.rxd_i.value = dut.txd_o.value

    cocotb.start_soon(loop())
    assert await master.read(ID) == 0x5543_0001
    return master


async def silent(master):
    while await master.read(STATUS) & BUSY:
        pass


@cocotb.test(timeout_time=500, timeout_unit="us")
async def sends_and_receives(dut):
    master = await begin(dut)
    assert await master.read(RXDATA) == 0
    sent = random.randbytes(40)
    come, i = [], 0
    while len(come) < len(sent):
        status = await master.read(STATUS)
        if i < len(sent) and status & 0x1F < 16:
            await master.write(TXDATA, sent[i])
            i += 1
        if status >> 8 & 0x1F:
            word = await master.read(RXDATA)
            assert word & THERE
            come.append(word & 0xFF)
    assert bytes(come) == sent
    assert await master.read(STATUS) & (OVERFLOW | OVERRUN) == 0


@cocotb.test(timeout_time=500, timeout_unit="us")
async def loses_what_finds_no_room(dut):
    master = await begin(dut)
    for i in range(24):
        await master.write(TXDATA, i)
    assert await master.read(STATUS) & OVERFLOW
    await master.write(CLEAR, OVERFLOW)
    await silent(master)
    # One was on its way while 16 waited, and 16 were kept of what came.
    for _ in range(400):
        await FallingEdge(dut.clk_i)
    status = await master.read(STATUS)
    assert status == OVERRUN | 16 << 8
    await master.write(CLEAR, OVERRUN)
    assert [await master.read(RXDATA) for _ in range(17)] == [*(THERE | i for i in range(16)), 0]
    assert await master.read(STATUS) == 0
