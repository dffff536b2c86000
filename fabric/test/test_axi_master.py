"""The AXI4 master between a client and a memory that both take their time."""

import random

import cocotb
from cocotb.regression import TestFactory
from cocotb.triggers import FallingEdge, Timer

from axi import AxiMemory
from common import reset

SIZE = 1 << 14
WORD = 8


class Client:
    """Commands and words to and from the block, at falling edges."""

    def __init__(self, dut, pause):
        self.dut, self.pause = dut, pause
        self.done = []
        for name in ("rd_valid_i", "rd_addr_i", "rd_log2_words_i", "rd_data_ready_i", "wr_valid_i", "wr_addr_i",
                     "wr_log2_words_i", "wr_data_valid_i", "wr_data_i", "wr_strobe_i"):
            getattr(dut, name).value = 0
        cocotb.start_soon(self.watch_done())

    async def rest(self):
        while random.random() < self.pause:
            await FallingEdge(self.dut.clk_i)

    async def offer(self, valid, ready, items):
        await FallingEdge(self.dut.clk_i)
        for item in items:
            await self.rest()
            for name, value in item.items():
                getattr(self.dut, name).value = value
            valid.value = 1
            taken = False
            while not taken:
                await Timer(4, units="ns")
                taken = ready.value == 1
                await FallingEdge(self.dut.clk_i)
            valid.value = 0

    async def watch_done(self):
        while True:
            await FallingEdge(self.dut.clk_i)
            await Timer(4, units="ns")
            if self.dut.rst_ni.value == 1 and self.dut.wr_done_o.value == 1:
                self.done.append(int(self.dut.wr_error_o.value))

    async def write(self, bursts):
        """(address, log2 of the words, [(data, strobe)]) each; returns when all are done, with their errors."""
        dut = self.dut
        expected = len(self.done) + len(bursts)
        cocotb.start_soon(self.offer(dut.wr_valid_i, dut.wr_ready_o, [
            {"wr_addr_i": a, "wr_log2_words_i": n} for a, n, _ in bursts]))
        cocotb.start_soon(self.offer(dut.wr_data_valid_i, dut.wr_data_ready_o, [
            {"wr_data_i": d, "wr_strobe_i": s} for _, _, words in bursts for d, s in words]))
        while len(self.done) < expected:
            await FallingEdge(dut.clk_i)
        return self.done[-len(bursts):]

    async def read(self, bursts):
        """(address, log2 of the words) each; returns (data, last, error) of each word."""
        dut = self.dut
        cocotb.start_soon(self.offer(dut.rd_valid_i, dut.rd_ready_o, [
            {"rd_addr_i": a, "rd_log2_words_i": n} for a, n in bursts]))
        words = []
        await FallingEdge(dut.clk_i)
        while len(words) < sum(1 << n for _, n in bursts):
            await self.rest()
            dut.rd_data_ready_i.value = 1
            await Timer(4, units="ns")
            if dut.rd_data_valid_o.value == 1:
                words.append(tuple(int(getattr(dut, f"rd_data{n}_o").value) for n in ("", "_last", "_error")))
            await FallingEdge(dut.clk_i)
            dut.rd_data_ready_i.value = 0
        return words


async def begin(dut, slow, **memory):
    client = Client(dut, 0.3 if slow else 0.0)
    memory = AxiMemory(dut, SIZE, pause=0.3 if slow else 0.0, **memory)
    await reset(dut)
    return client, memory


def start(address, log2_words):
    return address & ~((WORD << log2_words) - 1)


async def memory_is_as_a_model_says(dut, slow):
    client, memory = await begin(dut, slow)
    model = bytearray(SIZE)
    bursts = []
    for _ in range(60):
        log2_words = random.randrange(4)
        address = random.randrange(SIZE)
        words = [(random.getrandbits(64), random.choice((0xFF, random.getrandbits(8)))) for _ in range(1 << log2_words)]
        bursts.append((address, log2_words, words))
        for i, (data, strobe) in enumerate(words):
            for lane in range(WORD):
                if strobe >> lane & 1:
                    model[start(address, log2_words) + i * WORD + lane] = data >> 8 * lane & 0xFF
    assert await client.write(bursts) == [0] * len(bursts)
    assert memory.bytes == model
    assert memory.writes == [{"addr": start(a, n), "len": (1 << n) - 1} for a, n, _ in bursts]

    reads = [(a, n) for a, n, _ in bursts]
    words = await client.read(reads)
    expected = []
    for address, log2_words in reads:
        for i in range(1 << log2_words):
            at = start(address, log2_words) + i * WORD
            expected.append((int.from_bytes(model[at:at + WORD], "little"), i == (1 << log2_words) - 1, 0))
    assert words == expected
    await FallingEdge(dut.clk_i)
    assert dut.busy_o.value == 0


factory = TestFactory(cocotb.test(timeout_time=100, timeout_unit="us")(memory_is_as_a_model_says))
factory.add_option("slow", [False, True])
factory.generate_tests()


@cocotb.test(timeout_time=20, timeout_unit="us")
async def errors_come_back(dut):
    client, memory = await begin(dut, slow=True, error_from=SIZE // 2)
    words = [(1, 0xFF)] * 4
    assert await client.write([(0, 2, words), (SIZE // 2, 2, words), (32, 2, words)]) == [0, 1, 0]
    assert [error for _, _, error in await client.read([(0, 2), (SIZE // 2, 2)])] == [0] * 4 + [1] * 4


@cocotb.test(timeout_time=20, timeout_unit="us")
async def a_word_a_cycle(dut):
    """Eight lines written one after the other take their words and little more."""
    client, _ = await begin(dut, slow=False)
    begun = cocotb.utils.get_sim_time("ns")
    task = cocotb.start_soon(client.offer(dut.wr_valid_i, dut.wr_ready_o, [
        {"wr_addr_i": 32 * i, "wr_log2_words_i": 2} for i in range(8)]))
    await client.offer(dut.wr_data_valid_i, dut.wr_data_ready_o, [{"wr_data_i": i, "wr_strobe_i": 0xFF} for i in range(32)])
    cycles = (cocotb.utils.get_sim_time("ns") - begun) / 10
    await task
    dut._log.info("32 words in %d cycles", cycles)
    assert cycles <= 32 + 12
