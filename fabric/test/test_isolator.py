"""The isolator between a memory and a task that is good, bad, or no task at all."""

import random

import cocotb
from cocotb.regression import TestFactory
from cocotb.triggers import FallingEdge, Timer
from cocotb.utils import get_sim_time

from axi import OKAY, SLVERR, AxiMemory, Bus
from common import reset

PAGE = 4096
WORD = 8
# The window: pages 2 to 4 of a memory of eight.
SIZE, BASE, PAGES = 8 * PAGE, 2, 3
BURSTS_MAX, BEATS_MAX = 4, 16
# Whatever comes out of a region.
REGION = {"awvalid": 1, "awaddr": 32, "awlen": 8, "awsize": 3, "awburst": 2, "wvalid": 1, "wdata": 64, "wstrb": 8,
          "wlast": 1, "bready": 1, "arvalid": 1, "araddr": 32, "arlen": 8, "arsize": 3, "arburst": 2, "rready": 1}


class Memory(AxiMemory):
    """A memory that ends with an assertion when it is asked for what is not in the window."""

    def __init__(self, dut, **options):
        super().__init__(dut, SIZE, **options)
        for at in range(0, SIZE, WORD):
            self.bytes[at:at + WORD] = random.getrandbits(64).to_bytes(WORD, "little")
        self.before = bytes(self.bytes)

    def response(self, address):
        assert BASE * PAGE <= address < (BASE + PAGES) * PAGE, f"memory was asked for {address:#x}"
        return super().response(address)

    def outside_is_untouched(self):
        low, high = BASE * PAGE, (BASE + PAGES) * PAGE
        return self.bytes[:low] == self.before[:low] and self.bytes[high:] == self.before[high:]


class HeldMemory(Memory):
    """One that answers nothing while it is held."""

    held = False

    async def send(self, channel, items):
        while self.held:
            await FallingEdge(self.clock)
        await super().send(channel, items)


class Task(Bus):
    """A task that keeps the rules, in what it is asked to do."""

    def __init__(self, dut, pause=0.0):
        super().__init__(dut, "s_axi", pause=pause)
        for name in REGION:
            self.signal(name).value = 0

    def start_writes(self, bursts):
        """(address, words of data and strobe) each. Ends with the responses."""
        cocotb.start_soon(self.send("aw", [request(a, len(words)) for a, words in bursts]))
        cocotb.start_soon(self.send("w", [{"data": d, "strb": s, "last": int(i == len(words) - 1)}
                                          for _, words in bursts for i, (d, s) in enumerate(words)]))
        return cocotb.start_soon(self.receive("b", ["resp"], len(bursts)))

    def start_reads(self, bursts):
        """(address, words) each. Ends with the words: data, response, and whether it is the last."""
        cocotb.start_soon(self.send("ar", [request(a, words) for a, words in bursts]))
        return cocotb.start_soon(self.receive("r", ["data", "resp", "last"], sum(words for _, words in bursts)))


def request(address, words, size=3, burst=1):
    return {"addr": address, "len": words - 1, "size": size, "burst": burst}


def any_burst():
    """An address and a length that are legal, and in the window."""
    words = random.randrange(1, BEATS_MAX + 1)
    offset = random.randrange((PAGE - words * WORD) // WORD + 1) * WORD
    return random.randrange(PAGES) * PAGE + offset, words


async def begin(dut, slow=False, isolated=False, **options):
    task = Task(dut, 0.3 if slow else 0.0)
    memory = Memory(dut, pause=0.3 if slow else 0.0, **options)
    dut.isolate_i.value = int(isolated)
    dut.window_base_i.value = BASE
    dut.window_pages_i.value = PAGES
    await reset(dut)
    return task, memory


class Reports:
    """What the isolator reports, in the cycles in which it does."""

    def __init__(self, dut):
        self.dut, self.outside, self.illegal, self.wrong_last, self.addresses = dut, 0, 0, 0, []
        cocotb.start_soon(self.watch())

    async def watch(self):
        while True:
            await FallingEdge(self.dut.clk_i)
            await Timer(4, units="ns")
            outside, illegal = int(self.dut.refused_outside_o.value), int(self.dut.refused_illegal_o.value)
            self.outside += outside
            self.illegal += illegal
            self.wrong_last += int(self.dut.wrong_last_o.value)
            if outside or illegal:
                self.addresses.append(int(self.dut.refused_addr_o.value))


async def writes_and_reads_its_memory(dut, slow):
    task, memory = await begin(dut, slow)
    reports = Reports(dut)
    model = bytearray(memory.bytes)
    writes = []
    for _ in range(60):
        address, words = any_burst()
        data = [(random.getrandbits(64), random.choice((0xFF, random.getrandbits(8)))) for _ in range(words)]
        writes.append((address, data))
        for i, (word, strobe) in enumerate(data):
            for lane in range(WORD):
                if strobe >> lane & 1:
                    model[BASE * PAGE + address + i * WORD + lane] = word >> 8 * lane & 0xFF
    assert await task.start_writes(writes) == [{"resp": OKAY}] * len(writes)
    assert memory.bytes == model

    reads = [any_burst() for _ in range(60)]
    expected = []
    for address, words in reads:
        for i in range(words):
            at = BASE * PAGE + address + i * WORD
            expected.append({"data": int.from_bytes(model[at:at + WORD], "little"), "resp": OKAY,
                             "last": int(i == words - 1)})
    assert await task.start_reads(reads) == expected
    assert (reports.outside, reports.illegal, reports.wrong_last) == (0, 0, 0)
    assert dut.drained_o.value == 1


factory = TestFactory(cocotb.test(timeout_time=200, timeout_unit="us")(writes_and_reads_its_memory))
factory.add_option("slow", [False, True])
factory.generate_tests()


@cocotb.test(timeout_time=50, timeout_unit="us")
async def a_word_a_cycle(dut):
    """What the isolator costs: words come one a cycle, of reads and of writes, also from one burst to the next."""
    task, _ = await begin(dut)
    begun = get_sim_time("ns")
    await task.start_reads([(128 * i, 16) for i in range(16)])
    read_cycles = (get_sim_time("ns") - begun) / 10
    begun = get_sim_time("ns")
    await task.start_writes([(128 * i, [(i, 0xFF)] * 16) for i in range(16)])
    write_cycles = (get_sim_time("ns") - begun) / 10
    dut._log.info("256 words read in %d cycles, written in %d", read_cycles, write_cycles)
    # The memory of the test rests for some cycles between bursts.
    assert read_cycles <= 256 + 16 * 2 + 12
    assert write_cycles <= 256 + 16 * 2


@cocotb.test(timeout_time=50, timeout_unit="us")
async def what_is_outside_is_refused_in_its_place(dut):
    task, memory = await begin(dut, slow=True)
    reports = Reports(dut)
    outside = [PAGES * PAGE, PAGES * PAGE + 8, 0x8000_0000, 0xFFFF_FFF8]
    for address in outside:
        begun = len(memory.reads), len(memory.writes)
        reads = task.start_reads([(0, 2), (address, 1), (8, 1)])
        writes = task.start_writes([(64, [(1, 0xFF)]), (address, [(2, 0xFF)]), (72, [(3, 0xFF)] * 2)])
        assert [(r["resp"], r["last"]) for r in await reads] == [(OKAY, 0), (OKAY, 1), (SLVERR, 1), (OKAY, 1)]
        assert [w["resp"] for w in await writes] == [OKAY, SLVERR, OKAY]
        assert (len(memory.reads), len(memory.writes)) == (begun[0] + 2, begun[1] + 2)
    assert reports.outside in range(len(outside), 2 * len(outside) + 1) and reports.illegal == 0
    assert set(reports.addresses) == set(outside)
    # In an empty window there is nothing at all.
    dut.isolate_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.window_pages_i.value = 0
    await FallingEdge(dut.clk_i)
    dut.isolate_i.value = 0
    assert (await task.start_reads([(0, 1)]))[0]["resp"] == SLVERR
    assert memory.outside_is_untouched()


@cocotb.test(timeout_time=100, timeout_unit="us")
async def what_is_illegal_is_refused_whole(dut):
    task, memory = await begin(dut)
    reports = Reports(dut)
    illegal = [request(0, 17), request(0, 256), request(PAGE - 8, 2), request(4, 1), request(0, 1, size=2),
               request(0, 1, burst=0), request(0, 4, burst=2)]
    for bad in illegal:
        words = bad["len"] + 1
        cocotb.start_soon(task.send("ar", [bad]))
        got = await task.receive("r", ["resp", "last"], words)
        assert [(r["resp"], r["last"]) for r in got] == [(SLVERR, int(i == words - 1)) for i in range(words)]
        cocotb.start_soon(task.send("aw", [bad]))
        cocotb.start_soon(task.send("w", [{"data": 0, "strb": 255, "last": int(i == words - 1)}
                                          for i in range(words)]))
        assert await task.receive("b", ["resp"], 1) == [{"resp": SLVERR}]
    assert (reports.illegal, reports.outside, reports.wrong_last) == (2 * len(illegal), 0, 0)
    assert not memory.reads and not memory.writes


@cocotb.test(timeout_time=50, timeout_unit="us")
async def errors_of_memory_come_back(dut):
    task, _ = await begin(dut, error_from=(BASE + 1) * PAGE)
    reads = task.start_reads([(0, 2), (PAGE, 2)])
    writes = task.start_writes([(PAGE, [(0, 0xFF)]), (0, [(0, 0xFF)])])
    assert [r["resp"] for r in await reads] == [OKAY, OKAY, SLVERR, SLVERR]
    assert [w["resp"] for w in await writes] == [SLVERR, OKAY]


@cocotb.test(timeout_time=50, timeout_unit="us")
async def a_task_that_stops_short_holds_up_no_other(dut):
    """A write lacks a word, a read's words are never taken, WLAST is wrong: memory sees whole bursts or none."""
    task, memory = await begin(dut)
    reports = Reports(dut)
    cocotb.start_soon(task.send("aw", [request(0, 4), request(64, 4)]))
    cocotb.start_soon(task.send("w", [{"data": 7, "strb": 255, "last": int(i == 1)} for i in range(7)]))
    cocotb.start_soon(task.send("ar", [request(0, 16)] * 9))
    for _ in range(200):
        await FallingEdge(dut.clk_i)
    assert memory.writes == [{"addr": BASE * PAGE, "len": 3}]
    assert reports.wrong_last == 2
    assert len(memory.reads) == memory.answered_reads == BURSTS_MAX
    assert dut.drained_o.value == 1 and dut.m_axi_wvalid.value == 0


async def cut_off(dut):
    """Cuts the region off, and waits until it is drained; returns the cycles that took."""
    dut.isolate_i.value = 1
    cycles = 0
    await Timer(4, units="ns")
    while dut.drained_o.value == 0:
        await FallingEdge(dut.clk_i)
        await Timer(4, units="ns")
        cycles += 1
    await FallingEdge(dut.clk_i)
    return cycles


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_removed_task_is_drained_in_time(dut):
    """Cut off in every cycle of a run with all that may be under way."""
    task, memory = await begin(dut, isolated=True)
    longest = 0
    for after in range(0, 110, 2):
        dut.isolate_i.value = 0
        before = bytes(memory.bytes)
        running = [cocotb.start_soon(task.send("ar", [request(128 * i, 16) for i in range(6)])),
                   cocotb.start_soon(task.send("aw", [request(128 * i, 16) for i in range(6)])),
                   cocotb.start_soon(task.send("w", [{"data": after << 8 | i, "strb": 255, "last": int(i % 16 == 15)}
                                                     for i in range(96)]))]
        for _ in range(after):
            await FallingEdge(dut.clk_i)
        longest = max(longest, await cut_off(dut))
        for each in running:
            each.kill()
        for name in REGION:
            task.signal(name).value = 0
        # A word of the burst that was cut is the new one or the old one, and all words behind it are the old ones.
        new = [int.from_bytes(memory.bytes[at:at + WORD], "little") == (after << 8 | i)
               for i, at in enumerate(range(BASE * PAGE, BASE * PAGE + 96 * WORD, WORD))]
        written = new.index(False) if False in new else len(new)
        at = BASE * PAGE + written * WORD
        assert memory.bytes[at:] == before[at:] and memory.bytes[:BASE * PAGE] == before[:BASE * PAGE]
    dut._log.info("isolator_cycles_max: %d", longest)
    # Of this memory each handshake takes at most two cycles; the proof's bound is 2 * (4 * 16 + 1).
    assert BURSTS_MAX * BEATS_MAX <= longest <= 2 * (BURSTS_MAX * BEATS_MAX + 1)


@cocotb.test(timeout_time=50, timeout_unit="us")
async def answers_do_not_outlive_their_task(dut):
    """Cut off with the answers of a refused write and a refused read pending, and of good ones: the next task gets none."""
    task, memory = await begin(dut)
    for address in (PAGES * PAGE, 0):
        task.signal("bready").value = task.signal("rready").value = 0
        running = [cocotb.start_soon(task.send("aw", [request(address, 1)])),
                   cocotb.start_soon(task.send("w", [{"data": 1, "strb": 255, "last": 1}])),
                   cocotb.start_soon(task.send("ar", [request(address, 2)]))]
        while not (dut.s_axi_bvalid.value and dut.s_axi_rvalid.value):
            await FallingEdge(dut.clk_i)
        for each in running:
            await each
        await cut_off(dut)
        dut.isolate_i.value = 0
        task.signal("bready").value = task.signal("rready").value = 1
        for _ in range(20):
            await Timer(4, units="ns")
            assert not (dut.s_axi_bvalid.value or dut.s_axi_rvalid.value), "an answer without a request"
            await FallingEdge(dut.clk_i)
    assert len(memory.writes) == len(memory.reads) == 1


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def a_region_without_a_task_does_no_harm(dut):
    """Random values, and what it last drove inverted, while it is cut off and while it is not; then a good task."""
    task, memory = await begin(dut, slow=True)
    reports = Reports(dut)
    longest = 0
    rounds = 25
    for _ in range(rounds):
        dut.isolate_i.value = 0
        for _ in range(random.randrange(200)):
            for name, width in REGION.items():
                signal = task.signal(name)
                value = random.choice((random.getrandbits(width), int(signal.value) ^ (1 << width) - 1, 0))
                # Legal ones too, so that some get through.
                signal.value = {"size": 3, "burst": 1}.get(name[2:], value) if random.random() < 0.9 else value
                if name[2:] == "addr" and random.random() < 0.7:
                    signal.value = random.randrange(2 * PAGES * PAGE // 8) * 8
                if name[2:] == "len" and random.random() < 0.9:
                    signal.value = random.randrange(BEATS_MAX)
            await FallingEdge(dut.clk_i)
        longest = max(longest, await cut_off(dut))
        # As it is being reconfigured.
        requests = len(memory.reads), len(memory.writes)
        for _ in range(random.randrange(60)):
            for name, width in REGION.items():
                task.signal(name).value = random.choice((random.getrandbits(width), (1 << width) - 1))
            await Timer(4, units="ns")
            assert not any(task.signal(name).value for name in ("awready", "wready", "bvalid", "arready", "rvalid"))
            await FallingEdge(dut.clk_i)
        assert requests == (len(memory.reads), len(memory.writes))
        for name in REGION:
            task.signal(name).value = 0
        # The next one finds nothing of the one before.
        dut.isolate_i.value = 0
        await FallingEdge(dut.clk_i)
        address, words = any_burst()
        data = [random.getrandbits(64) for _ in range(words)]
        assert await task.start_writes([(address, [(d, 0xFF) for d in data])]) == [{"resp": OKAY}]
        assert [r["data"] for r in await task.start_reads([(address, words)])] == data
    assert memory.outside_is_untouched()
    assert min(reports.outside, reports.illegal, len(memory.reads) - rounds, len(memory.writes) - rounds) > 10
    dut._log.info("drained after %d cycles at most, from a memory that rests", longest)
