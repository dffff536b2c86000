"""The region monitor beside its model, in random requests, withdrawals and changes of the regions."""

import random

import cocotb
from cocotb.triggers import FallingEdge

from axi import AxiLiteMaster
from common import reset
from region_monitor_model import ASSIGN, BUSY, IDLE, NO_ROOM, PREEMPT, UNAVAILABLE, Monitor

ID, COMPATIBILITY, REQUEST, SOLUTION, FOUND, WITHDRAW, IRQ_ENABLE, IRQ_PENDING, IRQ_CLEAR = range(0, 0x24, 4)
GO, KNOWN = 1 << 16, 1 << 8
REGIONS, ENTRIES = 3, 8
# Ker-ONE's experiment (Figure 16): QAM fits into the smaller two regions, FFT into the larger two.
QAM16, QAM64, FFT512, FFT1024 = 2, 3, 4, 5
FITS = {QAM16: (0, 1), QAM64: (0, 1), FFT512: (1, 2), FFT1024: (1, 2)}
# Until an entry at the end of the list has been looked at.
LOOK_CYCLES_MAX = ENTRIES + 4


class Driver:
    def __init__(self, dut):
        self.dut, self.page, self.model = dut, AxiLiteMaster(dut), Monitor(FITS, ENTRIES)

    async def cycles(self, count):
        for _ in range(count):
            await FallingEdge(self.dut.clk_i)

    def set(self, regions):
        """(state, loaded, priority) each."""
        self.model.regions = regions
        self.dut.state_i.value = sum(state << 3 * i for i, (state, _, _) in enumerate(regions))
        self.dut.loaded_i.value = sum(loaded << 8 * i for i, (_, loaded, _) in enumerate(regions))
        self.dut.priority_i.value = sum(priority << 8 * i for i, (_, _, priority) in enumerate(regions))

    async def request(self, client, task, priority):
        """The answer: method, region, whether to configure; the same as the model's."""
        await self.page.write(REQUEST, priority << 24 | GO | task << 8 | client)
        answer = 0
        while not answer & KNOWN:
            answer = await self.page.read(SOLUTION)
        got = answer & 3, answer >> 4 & 0xF, bool(answer & 4)
        assert got == self.model.request(client, task, priority)
        return got

    async def withdraw(self, client):
        await self.page.write(WITHDRAW, GO | client)
        self.model.withdraw(client)

    async def found(self):
        """What is found, the same as the model's."""
        await self.cycles(LOOK_CYCLES_MAX)
        value = await self.page.read(FOUND)
        assert value >> 16 == len(self.model.waiting)
        got = (value & 3, value >> 4 & 0xF, bool(value & 4), value >> 8 & 0xF, value >> 12 & 7) if value & 3 else None
        assert got == self.model.found()
        return got


async def begin(dut):
    driver = Driver(dut)
    driver.set([(IDLE, 0, 0)] * REGIONS)
    await reset(dut)
    await driver.page.write(COMPATIBILITY, sum(sum(1 << r for r in fits) << 4 * task for task, fits in FITS.items()))
    return driver


@cocotb.test(timeout_time=50, timeout_unit="us")
async def the_best_solution_is_told(dut):
    driver = await begin(dut)
    assert await driver.page.read(ID) == 0x524D_0001
    assert await driver.request(0, QAM16, 1) == (ASSIGN, 0, True)
    driver.set([(IDLE, QAM64, 0), (IDLE, QAM16, 0), (IDLE, FFT512, 0)])
    assert await driver.request(0, QAM16, 1) == (ASSIGN, 1, False), "loaded goes before small"
    driver.set([(BUSY, QAM16, 5), (BUSY, QAM64, 3), (BUSY, FFT512, 1)])
    assert await driver.request(0, FFT512, 4) == (PREEMPT, 1, True)
    assert await driver.request(0, FFT512, 2) == (PREEMPT, 2, False)
    assert await driver.request(0, QAM16, 3) == (UNAVAILABLE, 0, False), "the same priority does not preempt"
    assert await driver.request(1, 1, 255) == (UNAVAILABLE, 0, False), "there is no region for it"


@cocotb.test(timeout_time=50, timeout_unit="us")
async def requests_as_fast_as_the_bus_takes_them_are_all_answered(dut):
    driver = await begin(dut)
    driver.set([(BUSY, QAM16, 9), (BUSY, QAM64, 9), (BUSY, FFT512, 9)])
    await driver.page.writes([(REQUEST, 1 << 24 | GO | QAM16 << 8 | client, 0xF) for client in range(4)])
    for client in range(4):
        driver.model.request(client, QAM16, 1)
    await driver.found()
    await driver.page.writes([(WITHDRAW, GO | 0, 0xF), (REQUEST, 2 << 24 | GO | QAM64 << 8 | 1, 0xF),
                              (WITHDRAW, GO | 3, 0xF)])
    driver.model.withdraw(0)
    driver.model.request(1, QAM64, 2)
    driver.model.withdraw(3)
    driver.set([(IDLE, QAM16, 0), (BUSY, QAM64, 9), (BUSY, FFT512, 9)])
    await driver.found()


@cocotb.test(timeout_time=100, timeout_unit="us")
async def who_waits_is_served_by_priority_and_then_by_arrival(dut):
    driver = await begin(dut)
    await driver.page.write(IRQ_ENABLE, 1)
    busy = [(BUSY, QAM16, 9), (BUSY, QAM64, 9), (BUSY, FFT512, 9)]
    driver.set(busy)
    for client, priority in enumerate((3, 5, 3, 5, 1, 5, 3, 9)):
        assert (await driver.request(client, QAM16, priority))[0] == UNAVAILABLE
    assert (await driver.request(8, QAM16, 9))[0] == NO_ROOM
    assert await driver.found() is None and dut.irq_o.value == 0
    driver.set([(IDLE, QAM16, 9), *busy[1:]])
    served = []
    for _ in range(ENTRIES):
        _, _, _, client, _ = await driver.found()
        assert dut.irq_o.value == 1
        await driver.page.write(IRQ_CLEAR, 1)
        served.append(client)
        await driver.withdraw(client)
    assert served == [7, 1, 3, 5, 0, 2, 6, 4]
    assert await driver.found() is None


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def it_does_as_its_model(dut):
    driver = await begin(dut)
    found = 0
    for _ in range(500):
        what = random.random()
        if what < 0.4:
            await driver.request(random.randrange(10), random.choice((*FITS, 1, 0)), random.randrange(5))
        elif what < 0.55:
            await driver.withdraw(random.randrange(10))
        else:
            driver.set([(random.choice((IDLE, BUSY, BUSY, BUSY, 2, 3, 4, 5)), random.choice((0, *FITS)),
                         random.randrange(5)) for _ in range(REGIONS)])
            await driver.cycles(random.randrange(4))
        if random.random() < 0.7:
            found += await driver.found() is not None
    assert found > 50


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_solution_is_found_within_a_look_through_the_list(dut):
    """However the regions change before, it takes no longer from the last change on."""
    driver = await begin(dut)
    for client in range(ENTRIES):
        driver.set([(BUSY, 0, 255)] * REGIONS)
        await driver.cycles(2)
        await driver.request(client, FFT1024 if client == ENTRIES - 1 else QAM16, ENTRIES - client)
    longest = 0
    for _ in range(40):
        driver.set([(BUSY, 0, 255)] * REGIONS)
        await driver.cycles(random.randrange(30))
        driver.set([(BUSY, 0, 255)] * 2 + [(IDLE, 0, 0)])
        cycles = 0
        while dut.there_is.value == 0:
            await FallingEdge(dut.clk_i)
            cycles += 1
        longest = max(longest, cycles)
    dut._log.info("found after %d cycles at most, as the last of %d", longest, ENTRIES)
    assert longest <= LOOK_CYCLES_MAX
