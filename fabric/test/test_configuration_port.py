"""The configuration port: bitstreams that are right, and all ways of being wrong."""

import random
import struct
import zlib

import cocotb
from cocotb.triggers import FallingEdge, Timer

from axi import OKAY, SLVERR, AxiLiteMaster
from common import reset

ID, STATUS, SOURCE, LENGTH, TARGET, CYCLES, IRQ_ENABLE, IRQ_PENDING, IRQ_CLEAR = (
    0x00, 0x04, 0x08, 0x10, 0x14, 0x18, 0x1C, 0x20, 0x24)
GO = 1 << 31
NOT_FREE, NO_BITSTREAM, VERSION, TASK, REGION, LENGTH_WRONG, CORRUPT, MEMORY, SILENT = range(1, 10)
BUSY, OWED = 1, 2
# Bytes of each region's bitstreams: of the block under test, as blocks.toml has them, short ones.
BYTES = (100, 324, 1_000)
# After how many cycles memory is given up, in the block under test.
SILENT_CYCLES = 200
# Beyond a word of 32 bits a cycle, and what memory takes to the first one.
CYCLES_MORE = 4
LATENCY = 30
AT = 0x12_3456_7000


def bitstream(task, region, mark=b"TBIT", version=1, length=None, size=None):
    size = (size or BYTES[region]) - 16
    content = random.randbytes(size)
    head = struct.pack("<4sHBBI", mark, version, task, region, size if length is None else length)
    return bytearray(head + struct.pack("<I", zlib.crc32(head + content)) + content)


class ReadMemory:
    """Answers bursts of reads in order, each some cycles after it came, a word a cycle: one loop, as the runs are long.
    While `hangs_after` so many words, or more, neither addresses nor words get through."""

    def __init__(self, dut, content, latency=LATENCY, errors=()):
        self.dut, self.content, self.latency, self.errors = dut, content, latency, errors
        self.bursts, self.asked, self.under_way_max = [], [], 0
        self.given, self.hangs_after = 0, None
        dut.m_axi_arready.value = 1
        for name in ("rvalid", "rdata", "rresp", "rlast"):
            getattr(dut, f"m_axi_{name}").value = 0
        self.task = cocotb.start_soon(self.run())

    async def run(self):
        dut, now, word = self.dut, 0, 0
        arvalid, rready, rvalid = dut.m_axi_arvalid, dut.m_axi_rready, dut.m_axi_rvalid
        shown = hangs = False
        while True:
            await Timer(4, units="ns")
            if arvalid.value == 1 and not hangs:
                assert dut.m_axi_arlen.value == 7 and int(dut.m_axi_araddr.value) % 64 == 0
                self.bursts.append((now + self.latency, int(dut.m_axi_araddr.value)))
                self.asked.append(int(dut.m_axi_araddr.value))
                self.under_way_max = max(self.under_way_max, len(self.bursts))
            if shown and rready.value == 1:
                word = (word + 1) % 8
                self.given += 1
                if word == 0:
                    self.bursts.pop(0)
            await FallingEdge(dut.clk_i)
            now += 1
            hangs = self.hangs_after is not None and self.given >= self.hangs_after
            dut.m_axi_arready.value = int(not hangs)
            shown = bool(self.bursts) and self.bursts[0][0] <= now and not hangs
            rvalid.value = int(shown)
            if shown:
                offset = self.bursts[0][1] - AT + 8 * word
                dut.m_axi_rdata.value = int.from_bytes(self.content[offset:offset + 8].ljust(8, b"\xA5"), "little")
                dut.m_axi_rresp.value = SLVERR if offset in self.errors else OKAY
                dut.m_axi_rlast.value = int(word == 7)


class Regions:
    """What the regions are told."""

    def __init__(self, dut, free=0b111):
        self.dut, self.begun, self.told, self.words = dut, [], [], 0
        dut.configurable_i.value = free
        # The device manager alone.
        dut.allocator_valid_i.value = dut.owned_i.value = 0
        cocotb.start_soon(self.watch())

    async def watch(self):
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)
            await Timer(4, units="ns")
            self.words += int(dut.config_valid_o.value)
            if dut.configure_o.value != 0:
                self.begun.append(int(dut.configure_o.value))
            if dut.configured_o.value != 0:
                self.told.append((int(dut.configured_o.value), int(dut.configured_task_o.value)))


async def begin(dut, content=b"", free=0b111, **options):
    page = AxiLiteMaster(dut)
    memory, regions = ReadMemory(dut, content, **options), Regions(dut, free)
    await reset(dut)
    await page.write64(SOURCE, AT)
    await page.write(LENGTH, len(content))
    await page.write(IRQ_ENABLE, 1)
    return page, memory, regions


async def configure(dut, page, task, region):
    """Returns the error."""
    await page.write(TARGET, GO | task << 8 | region)
    for _ in range(10_000):
        await FallingEdge(dut.clk_i)
        if dut.irq_o.value == 1:
            break
    assert await page.read(IRQ_PENDING) == 1
    await page.write(IRQ_CLEAR, 1)
    status = await page.read(STATUS)
    assert status & 1 == 0
    return status >> 4


async def load(dut, page, memory, regions, task, region, size):
    """Loads a region with a good bitstream."""
    words, told = regions.words, len(regions.told)
    memory.content = bitstream(task, region, size=size)
    assert len(memory.content) == size
    await page.write(LENGTH, size)
    assert await configure(dut, page, task, region) == 0
    assert regions.begun[-1] == 1 << region and regions.told[told:] == [(1 << region, task)]
    cycles = await page.read(CYCLES)
    dut._log.info("region %d: %d bytes in %d cycles", region, size, cycles)
    assert size // 4 <= cycles <= size // 4 + LATENCY + CYCLES_MORE
    assert regions.words - words == size // 4 - 4
    assert memory.under_way_max <= 8


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def every_region_is_loaded_a_word_a_cycle(dut):
    page, memory, regions = await begin(dut)
    assert await page.read(ID) == 0x4350_0002
    for region, size in enumerate(BYTES):
        await load(dut, page, memory, regions, region + 2, region, size)


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def what_is_wrong_is_refused_and_leaves_the_region_empty(dut):
    page, memory, regions = await begin(dut)
    size = BYTES[0]
    cut = bitstream(5, 0)
    flips = []
    for _ in range(20):
        flipped = bitstream(5, 0)
        bit = random.randrange(16 * 8, 8 * size)
        flipped[bit // 8] ^= 1 << bit % 8
        flips.append((flipped, CORRUPT))
    wrong_sum = bitstream(5, 0)
    wrong_sum[12] ^= 1
    last = bitstream(5, 0)
    last[-1] ^= 0x80
    cases = [
        (bitstream(5, 0, mark=b"TBIX"), NO_BITSTREAM), (bytearray(size), NO_BITSTREAM),
        (bitstream(5, 0, version=2), VERSION), (bitstream(6, 0), TASK), (bitstream(5, 1), REGION),
        (bitstream(5, 0, length=size), LENGTH_WRONG), (bitstream(5, 0, length=size - 20), LENGTH_WRONG),
        (cut[:-4], LENGTH_WRONG), (cut[:8], LENGTH_WRONG), (bytearray(), LENGTH_WRONG),
        (wrong_sum, CORRUPT), (last, CORRUPT), *flips,
    ]
    for number, (content, error) in enumerate(cases):
        memory.content = content
        await page.write(LENGTH, len(content))
        words = regions.words
        assert await configure(dut, page, 5, 0) == error, number
        assert regions.told[-1] == (1, 0) and len(regions.told) == len(regions.begun) == number + 1
        assert regions.words == words or error == CORRUPT, "nothing is configured before the header is right"
        assert not memory.bursts, "it is free when memory owes nothing"
    memory.content, memory.errors = bitstream(5, 0), (size // 16 * 8,)
    await page.write(LENGTH, size)
    assert await configure(dut, page, 5, 0) == MEMORY and regions.told[-1] == (1, 0)
    memory.errors = ()
    assert await configure(dut, page, 5, 0) == 0 and regions.told[-1] == (1, 5)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_region_that_is_not_free_is_not_touched(dut):
    page, memory, regions = await begin(dut, bitstream(5, 2), free=0b101)
    for task, region in ((5, 1), (5, 3), (5, 15), (0, 0)):
        assert await configure(dut, page, task, region) == NOT_FREE
    assert not regions.begun and not regions.told and not memory.asked
    # Nor is one while another is loaded, which goes on.
    await page.write(TARGET, GO | 5 << 8 | 2)
    for _ in range(20):
        await page.write(TARGET, GO | 5 << 8 | random.randrange(3))
    while await page.read(STATUS) & 1:
        pass
    assert await page.read(STATUS) == 0 and regions.begun == [4] and regions.told == [(4, 5)]


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def memory_that_hangs_is_given_up(dut):
    page, memory, regions = await begin(dut)
    size = BYTES[2]
    # From before the first address to before the last word; and when nothing is waited for but what was asked.
    for given, mark in ((0, b"TBIT"), (1, b"TBIT"), (17, b"TBIT"), (size // 8 - 1, b"TBIT"), (1, b"TBIX"), (8, b"TBIX")):
        memory.content, memory.hangs_after = bitstream(5, 2, mark=mark), memory.given + given
        await page.write(LENGTH, size)
        told = len(regions.told)
        error = await configure(dut, page, 5, 2)
        assert error == (SILENT if mark == b"TBIT" else NO_BITSTREAM) and regions.told[told:] == [(4, 0)]
        assert await page.read(STATUS) & (BUSY | OWED) == OWED
        if error == SILENT:
            cycles = await page.read(CYCLES)
            assert SILENT_CYCLES <= cycles <= SILENT_CYCLES + size
        # What is begun meanwhile fails at once, and asks memory for nothing.
        asked = len(memory.asked)
        for region in (0, 2):
            assert await configure(dut, page, 6, region) == SILENT and regions.told[-1] == (1 << region, 0)
            assert await page.read(CYCLES) == 1
        assert len(memory.asked) == asked and regions.begun[-2:] == [1, 4]
        # It answers after all: that changes nothing, and then all is as before.
        memory.hangs_after, words = None, regions.words
        while await page.read(STATUS) & OWED:
            pass
        assert not memory.bursts and regions.words == words and len(regions.told) == told + 3
        await load(dut, page, memory, regions, 6, 0, BYTES[0])
