"""Two masters and a slave: each access comes to it once, and its answer to who made it."""

import random

import cocotb
from cocotb.triggers import FallingEdge, Timer

from common import reset


class Slave:
    """Answers reads with a word that says what was asked."""

    def __init__(self, dut):
        self.dut, self.seen = dut, []
        for name in ("awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rdata", "rresp"):
            getattr(dut, f"m_axil_{name}").value = 0

    async def rest(self):
        while random.random() < 0.5:
            await FallingEdge(self.dut.clk_i)

    async def run(self):
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)
            if dut.m_axil_arvalid.value == 1:
                await self.rest()
                address = int(dut.m_axil_araddr.value)
                self.seen.append((address, None))
                dut.m_axil_arready.value = 1
                await FallingEdge(dut.clk_i)
                dut.m_axil_arready.value = 0
                await self.rest()
                dut.m_axil_rvalid.value, dut.m_axil_rdata.value = 1, address ^ 0xABCD_0000
                await self.until(dut.m_axil_rready)
                dut.m_axil_rvalid.value = 0
            elif dut.m_axil_awvalid.value == 1 and dut.m_axil_wvalid.value == 1:
                await self.rest()
                self.seen.append((int(dut.m_axil_awaddr.value), int(dut.m_axil_wdata.value)))
                dut.m_axil_awready.value = dut.m_axil_wready.value = 1
                await FallingEdge(dut.clk_i)
                dut.m_axil_awready.value = dut.m_axil_wready.value = 0
                await self.rest()
                dut.m_axil_bvalid.value = 1
                await self.until(dut.m_axil_bready)
                dut.m_axil_bvalid.value = 0

    async def until(self, ready):
        while True:
            await Timer(4, units="ns")
            seen = ready.value == 1
            await FallingEdge(self.dut.clk_i)
            if seen:
                return


class Master:
    """One of the two: its bit of the signals. Each access waits until the last is over."""

    words = {}

    def __init__(self, dut, number):
        self.dut, self.number = dut, number

    def drive(self, name, value, width=1):
        mask = (1 << width) - 1 << width * self.number
        words = self.words
        words[name] = words.get(name, 0) & ~mask | value << width * self.number
        getattr(self.dut, f"s_axil_{name}").value = words[name]

    def get(self, name):
        return int(getattr(self.dut, f"s_axil_{name}").value) >> self.number & 1

    async def handshake(self, valid, ready):
        self.drive(valid, 1)
        while True:
            await Timer(4, units="ns")
            seen = self.get(ready)
            await FallingEdge(self.dut.clk_i)
            if seen:
                self.drive(valid, 0)
                return

    async def read(self, address):
        self.drive("araddr", address, 12)
        await self.handshake("arvalid", "arready")
        self.drive("rready", 1)
        while True:
            await Timer(4, units="ns")
            seen, data = self.get("rvalid"), int(self.dut.s_axil_rdata.value)
            await FallingEdge(self.dut.clk_i)
            if seen:
                self.drive("rready", 0)
                return data

    async def write(self, address, data):
        self.drive("awaddr", address, 12)
        self.drive("wdata", data, 32)
        self.drive("wstrb", 0xF, 4)
        both = [cocotb.start_soon(self.handshake("awvalid", "awready")),
                cocotb.start_soon(self.handshake("wvalid", "wready"))]
        for half in both:
            await half
        await self.handshake("bready", "bvalid")


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def both_are_served(dut):
    slave, masters = Slave(dut), [Master(dut, number) for number in (0, 1)]
    for master in masters:
        for name in ("awvalid", "wvalid", "bready", "arvalid", "rready", "awaddr", "araddr", "wdata", "wstrb"):
            master.drive(name, 0)
    await reset(dut)
    cocotb.start_soon(slave.run())
    made = [[], []]

    async def use(master):
        for _ in range(200):
            address = master.number << 11 | 4 * random.randrange(512)
            if random.getrandbits(1):
                assert await master.read(address) == address ^ 0xABCD_0000
                made[master.number].append((address, None))
            else:
                data = random.getrandbits(32)
                await master.write(address, data)
                made[master.number].append((address, data))
            while random.random() < 0.3:
                await FallingEdge(dut.clk_i)

    await FallingEdge(dut.clk_i)
    users = [cocotb.start_soon(use(master)) for master in masters]
    for user in users:
        await user
    for number in (0, 1):
        assert [access for access in slave.seen if access[0] >> 11 == number] == made[number]
    # They take turns: no master waits for two of the other's.
    assert len(slave.seen) == 400
