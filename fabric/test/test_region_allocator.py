"""The region allocator with the regions' states, the crossbar and the configuration port: the test is hypervisor, device
manager, tasks, interfaces and memory."""

import random

import cocotb
from cocotb.triggers import FallingEdge, Timer

from axi import AxiLiteMaster
from common import reset
from test_configuration_port import AT, CORRUPT, GO as PORT_GO, ReadMemory, bitstream

# Pages.
ID, REQUEST, ANSWERS, STATUS, IRQ_ENABLE, IRQ_PENDING, IRQ_CLEAR = 0x00, 0x04, 0x08, 0x10, 0x14, 0x18, 0x1C
CONTROL, LIMIT, BITSTREAMS, ENTRIES = 0x04, 0x08, 0x0C, 0x100
PORT_STATUS, PORT_SOURCE, PORT_LENGTH, PORT_TARGET, PORT_IRQ_ENABLE = 0x04, 0x08, 0x10, 0x14, 0x1C
ON, GO, FIRST, LATER, ERROR = 1, 1 << 7, 1, 2, 4
# Outcomes, and reasons.
CONNECTED, PREPARING, MANAGER = 1, 2, 3
OFF, NO_REGION, NO_BITSTREAM, ROUTINE, CHANGED, TAKEN_OVER, BAD_BITSTREAM, UNDRAINED, ELSEWHERE = range(1, 10)
# States, and the manager's commands.
IDLE, BUSY, STOPPING, SWITCH, RECONFIG, HELD = range(6)
TAKE, PREEMPT, KILL, CONNECT, RELEASE = 16, 8, 4, 2, 1

REGIONS, INTERFACES = 3, 8
# Task 1 fits into region 0 alone, 2 into 0 and 1, 3 into 1 and 2; 4 into 2, without a bitstream.
FITS = {1: (0,), 2: (0, 1), 3: (1, 2), 4: (2,)}
STOP_CYCLES = 60
# From the write on the bus to the word of its answer on the other, where nothing has to be waited for.
DIRECT_CYCLES_MAX = 20
LINE = 0x1C0
BYTES = (100, 324, 1_000)


def index(fits):
    return sum(1 << (4 * task + region) for task, regions in fits.items() for region in regions)


class Answer:
    def __init__(self, word):
        self.word = word
        self.software, self.tag, self.outcome = word & 0xFF, word >> 8 & 0xFF, word >> 16 & 3
        self.region, self.last = word >> 20 & 0xF, word >> 29 & 1
        self.displaced = word >> 24 & 0xF if word >> 28 & 1 else None
        self.reason, self.error, self.order = word >> 32 & 0xF, word >> 36 & 0xF, word >> 48

    def __repr__(self):
        return (f"tag {self.tag} outcome {self.outcome} region {self.region} displaced {self.displaced} last {self.last} "
                f"reason {self.reason} error {self.error} order {self.order}")


class Allocator:
    def __init__(self, dut, pause=0.0):
        self.dut = dut
        self.requests, self.table, self.port = (AxiLiteMaster(dut, f"s_axil_{name}") for name in ("requests", "table", "port"))
        self.memory = Answers(dut, pause)
        self.content = {}
        image = bytearray()
        for task, regions in FITS.items():
            for region in regions:
                image += b"\xA5" * (-len(image) % 64)
                self.content[task, region] = len(image)
                image += bitstream(task, region, size=BYTES[region])
        self.bitstreams = ReadMemory(dut, image)
        self.tag = 0
        self.lives = dict.fromkeys(("page_i", "page_client_i", "page_priority_i", "done_i", "stopped_i", "asked_i",
                                    "unfinished_i", "waiting_i", "waiting_task_i", "waiting_priority_i"), 0)
        for name in self.lives:
            getattr(dut, name).value = 0
        dut.drained_i.value = 0b111
        dut.compatibility_i.value = index(FITS)

    async def start(self, bits=None, enable=1, limit=STOP_CYCLES):
        await reset(self.dut)
        assert await self.requests.read(ID) == 0x5241_0001 and await self.table.read(ID) == 0x4154_0001
        await self.requests.write64(ANSWERS, LINE | ON)
        await self.requests.write(IRQ_ENABLE, FIRST | LATER | ERROR)
        for interface in range(INTERFACES):
            await self.table.write(ENTRIES + 4 * interface, 40)
        for (task, region), offset in self.content.items():
            address, size = AT + offset, BYTES[region]
            await self.table.write64(ENTRIES + 32 * task + 8 * region, size << 40 | address)
        with_bitstream = {task: regions for task, regions in FITS.items() if task != 4}
        await self.table.write(BITSTREAMS, index(with_bitstream) if bits is None else bits)
        await self.table.write(LIMIT, limit)
        await self.table.write(CONTROL, enable)

    def set(self, name, number, value, width=1):
        """One element of a packed input."""
        mask = (1 << width) - 1
        self.lives[name] = self.lives[name] & ~(mask << number * width) | value << number * width
        getattr(self.dut, name).value = self.lives[name]

    async def pulse(self, name, number, value=1, width=1):
        self.set(name, number, value, width)
        await FallingEdge(self.dut.clk_i)
        self.set(name, number, 0, width)

    async def cycles(self, count):
        for _ in range(count):
            await FallingEdge(self.dut.clk_i)

    def of(self, name, number, width=1):
        return int(getattr(self.dut, name).value) >> number * width & (1 << width) - 1

    def state(self, region):
        return self.of("state_o", region, 3)

    def client(self, region):
        return self.of("client_o", region, 4) if self.of("region_connected_o", region) else None

    async def manage(self, region, command, client=0, priority=0):
        """A command of the device manager; whether it was carried out."""
        self.set("page_client_i", region, client, 4)
        self.set("page_priority_i", region, priority, 8)
        await self.pulse("page_i", region, command, 5)
        await Timer(1, units="ns")
        return not self.of("page_refused_o", region)

    async def ask(self, client, task, priority):
        """Returns the tag."""
        self.tag = (self.tag + 1) % 256
        await self.requests.write(REQUEST, priority << 24 | self.tag << 16 | task << 8 | GO | client)
        return self.tag

    async def answer(self, client, tag, outcome=None, cycles=400):
        """The next answer of that tag; of that outcome, if one is named."""
        for _ in range(cycles):
            answer = self.memory.answer(client)
            if answer.word and answer.tag == tag and outcome in (None, answer.outcome):
                assert answer.software == 0xAA, "the lowest byte is software's"
                return answer
            await FallingEdge(self.dut.clk_i)
        raise AssertionError(f"no answer to {tag} in {cycles} cycles: {self.memory.answer(client)}")

    async def request(self, client, task, priority, outcome=None):
        return await self.answer(client, await self.ask(client, task, priority), outcome)

    async def configured(self, region, task, client=None, priority=0):
        """The device manager's own way; the allocator has nothing to do meanwhile."""
        await self.port.write64(PORT_SOURCE, AT + self.content[task, region])
        await self.port.write(PORT_LENGTH, BYTES[region])
        await self.port.write(PORT_TARGET, PORT_GO | task << 8 | region)
        while self.state(region) != SWITCH:
            await FallingEdge(self.dut.clk_i)
        if client is None:
            assert await self.manage(region, RELEASE)
        else:
            assert await self.manage(region, CONNECT, client, priority)

    async def computes(self, region, client, task, priority):
        await self.configured(region, task, client, priority)
        self.set("asked_i", client, 1)
        while self.state(region) != BUSY:
            await FallingEdge(self.dut.clk_i)
        self.set("asked_i", client, 0)


class Answers:
    """The memory of the answers, which is only written; before, each byte is 0xAA."""

    def __init__(self, dut, pause=0.0):
        self.dut, self.pause, self.writes, self.responds = dut, pause, 0, True
        self.words = {}
        for name in ("awready", "wready", "bvalid", "bresp"):
            getattr(dut, f"a_axi_{name}").value = 0
        self.word_at, self.now, self.fails = None, 0, 0
        cocotb.start_soon(self.run())

    async def run(self):
        dut, address, word = self.dut, None, None
        await FallingEdge(dut.clk_i)
        while True:
            ready = random.random() >= self.pause and self.responds
            dut.a_axi_awready.value = int(ready and address is None)
            dut.a_axi_wready.value = int(ready and word is None)
            responds = ready and address is not None and word is not None
            dut.a_axi_bvalid.value = int(responds)
            dut.a_axi_bresp.value = 2 if self.fails else 0
            await Timer(4, units="ns")
            if ready and address is None and dut.a_axi_awvalid.value == 1:
                address = int(dut.a_axi_awaddr.value)
                assert LINE <= address < LINE + 64 and address % 8 == 0 and dut.a_axi_awlen.value == 0
            if ready and word is None and dut.a_axi_wvalid.value == 1:
                word, self.word_at = int(dut.a_axi_wdata.value), self.now
                assert dut.a_axi_wstrb.value == 0xFE and dut.a_axi_wlast.value == 1
            if responds:
                assert dut.a_axi_bready.value == 1
                if not self.fails:
                    self.words[address] = word & ~0xFF | 0xAA
                self.fails = max(0, self.fails - 1)
                self.writes += 1
                address = word = None
            await FallingEdge(dut.clk_i)
            self.now += 1

    def answer(self, client):
        return Answer(self.words.get(LINE + 8 * client, 0))


@cocotb.test(timeout_time=100, timeout_unit="us")
async def an_idle_region_with_the_task_is_connected_at_once(dut):
    a = Allocator(dut)
    await a.start()
    await a.configured(1, 2)
    a.set("asked_i", 5, 1)
    cocotb.start_soon(a.ask(5, 2, 3))
    while dut.s_axil_requests_wvalid.value == 0:
        await FallingEdge(dut.clk_i)
    begin = a.memory.now
    answer = await a.answer(5, 1)
    cycles = a.memory.word_at - begin
    dut._log.info("direct: %d cycles from the request on the bus to the answer on the bus", cycles)
    assert cycles <= DIRECT_CYCLES_MAX
    assert (answer.outcome, answer.region, answer.displaced, answer.last) == (CONNECTED, 1, None, 1)
    assert a.client(1) == 5 and a.of("priority_o", 1, 8) == 3
    # It has begun what it was asked for, and there is nothing else to be told.
    assert a.state(1) == BUSY and dut.irq_o.value == 1
    assert await a.requests.read(IRQ_PENDING) == FIRST and await a.requests.read(STATUS) == 0
    # Of an interface that has a region there is nothing to do.
    again = await a.request(5, 2, 3)
    assert (again.outcome, again.region, again.order) == (CONNECTED, 1, answer.order + 1)
    # Another one takes it, when it is done; the hold time is the other one's own.
    a.set("asked_i", 5, 0)
    await a.pulse("done_i", 1)
    answer = await a.request(2, 2, 1)
    assert (answer.outcome, answer.region, answer.displaced) == (CONNECTED, 1, 5)
    while a.state(1) == HELD:
        await FallingEdge(dut.clk_i)
    assert a.state(1) == IDLE and a.client(1) == 2


@cocotb.test(timeout_time=200, timeout_unit="us")
async def a_region_is_configured_from_the_table(dut):
    a = Allocator(dut)
    await a.start()
    await a.port.write(PORT_IRQ_ENABLE, 1)
    tag = await a.ask(0, 3, 9)
    first = await a.answer(0, tag)
    assert (first.outcome, first.region, first.last) == (PREPARING, 1, 0)
    # The manager's page refuses while the region is not its own.
    assert not await a.manage(1, RELEASE) and await a.requests.read(STATUS) & 0xF == 0b010
    answer = await a.answer(0, tag, CONNECTED)
    assert (answer.region, answer.last, answer.order) == (1, 1, first.order + 1)
    assert a.of("loaded_o", 1, 8) == 3 and a.client(1) == 0
    assert await a.requests.read(IRQ_PENDING) == FIRST | LATER
    assert dut.port_irq_o.value == 0 and await a.port.read(PORT_STATUS) == 0, "the manager hears nothing of it"
    # Without a bitstream it is the manager's.
    answer = await a.request(1, 4, 9)
    assert (answer.outcome, answer.reason) == (MANAGER, NO_BITSTREAM) and a.state(2) == IDLE
    # One that is corrupt is refused, and the region is empty.
    a.bitstreams.content[a.content[1, 0] + 70] ^= 1
    answer = await a.request(1, 1, 9, MANAGER)
    assert (answer.reason, answer.error) == (BAD_BITSTREAM, CORRUPT)
    assert a.state(0) == IDLE and a.of("loaded_o", 0, 8) == 0 and a.client(0) is None
    # One that is too short is, too.
    await a.table.write64(ENTRIES + 32 * 2, (BYTES[0] - 4) << 40 | AT + a.content[2, 0])
    answer = await a.request(1, 2, 9, MANAGER)
    assert (answer.reason, answer.error) == (BAD_BITSTREAM, 6)


@cocotb.test(timeout_time=200, timeout_unit="us")
async def a_lower_priority_is_preempted_and_killed_when_it_does_not_stop(dut):
    a = Allocator(dut)
    await a.start()
    await a.computes(0, 4, 1, 2)
    await a.computes(1, 5, 3, 2)
    # Not by the same priority.
    answer = await a.request(6, 1, 2)
    assert (answer.outcome, answer.reason) == (MANAGER, NO_REGION)
    tag = await a.ask(6, 1, 3)
    first = await a.answer(6, tag)
    assert (first.outcome, first.region, first.displaced) == (PREPARING, 0, 4) and a.state(0) == STOPPING
    # The victim has its region still, and is to lose it.
    victim = await a.request(4, 1, 2)
    assert (victim.outcome, victim.reason) == (MANAGER, ELSEWHERE)
    await a.pulse("stopped_i", 0)
    a.set("unfinished_i", 4, 1)
    answer = await a.answer(6, tag, CONNECTED)
    assert (answer.region, answer.displaced) == (0, 4) and a.client(0) == 6
    # And configured, where another task is loaded.
    a.set("asked_i", 6, 1)
    await a.cycles(3)
    a.set("asked_i", 6, 0)
    assert a.state(0) == BUSY
    tag = await a.ask(7, 2, 5)
    await a.cycles(20)
    # It goes on, and on.
    assert a.state(0) == STOPPING
    answer = await a.answer(7, tag, CONNECTED)
    assert (answer.region, answer.displaced) == (0, 6) and a.of("loaded_o", 0, 8) == 2
    # What was stopped goes on, when its interface gets a region again.
    a.set("asked_i", 7, 1)
    await a.cycles(3)
    a.set("asked_i", 7, 0)
    await a.pulse("done_i", 0)
    resumed = 0

    async def watch():
        nonlocal resumed
        while True:
            await Timer(4, units="ns")
            resumed |= int(dut.resume_o.value)
            await FallingEdge(dut.clk_i)

    cocotb.start_soon(watch())
    answer = await a.request(4, 1, 2, CONNECTED)
    assert answer.displaced == 7 and resumed == 1 << 4 and a.state(0) == BUSY


@cocotb.test(timeout_time=200, timeout_unit="us")
async def what_needs_judgement_is_the_managers(dut):
    a = Allocator(dut)
    await a.start(enable=0)
    answer = await a.request(0, 1, 3)
    assert (answer.outcome, answer.reason, answer.last) == (MANAGER, OFF, 1)
    # Task 1 is saved and restored by a routine.
    await a.table.write(CONTROL, 1 | 1 << 1)
    await a.computes(0, 4, 1, 2)
    tag = await a.ask(0, 2, 3)
    answer = await a.answer(0, tag)
    assert answer.outcome == PREPARING and answer.region == 1, "there is another region"
    await a.answer(0, tag, CONNECTED)
    answer = await a.request(1, 1, 3)
    assert (answer.outcome, answer.reason) == (MANAGER, CHANGED) and a.state(0) == BUSY and a.client(0) == 4
    await a.pulse("done_i", 0)
    a.set("unfinished_i", 1, 1)
    answer = await a.request(1, 1, 3)
    assert (answer.outcome, answer.reason) == (MANAGER, ROUTINE)
    a.set("unfinished_i", 1, 0)
    # A request that waits in the manager's list goes first.
    a.set("waiting_i", 3, 1)
    a.set("waiting_task_i", 3, 1, 3)
    a.set("waiting_priority_i", 3, 3, 8)
    answer = await a.request(1, 1, 3)
    assert (answer.outcome, answer.reason) == (MANAGER, NO_REGION)
    answer = await a.request(1, 1, 4)
    assert answer.outcome == CONNECTED
    a.set("waiting_i", 3, 0)
    assert a.client(1) == 0, "as it was to be"
    # Without a limit nothing is preempted.
    a.set("asked_i", 1, 1)
    await a.cycles(3)
    await a.table.write(LIMIT, 0)
    await a.table.write(CONTROL, 1)
    answer = await a.request(2, 1, 9)
    assert (answer.outcome, answer.reason) == (MANAGER, CHANGED) and a.state(0) == BUSY
    # No such interface, and answers that are not wanted.
    writes = a.memory.writes
    await a.ask(9, 1, 9)
    await a.requests.write64(ANSWERS, LINE)
    await a.ask(2, 1, 9)
    await a.cycles(40)
    assert a.memory.writes == writes and await a.requests.read(STATUS) == 0


@cocotb.test(timeout_time=200, timeout_unit="us")
async def memory_that_owes_something_is_waited_for_and_then_given_up(dut):
    a = Allocator(dut)
    await a.start()
    await a.configured(0, 1)
    dut.drained_i.value = 0b110
    tag = await a.ask(3, 1, 1)
    assert (await a.answer(3, tag)).outcome == PREPARING
    dut.drained_i.value = 0b111
    assert (await a.answer(3, tag, CONNECTED)).region == 0
    while a.state(0) != IDLE:
        await FallingEdge(dut.clk_i)
    dut.drained_i.value = 0b110
    answer = await a.request(4, 1, 1, MANAGER)
    assert (answer.reason, answer.displaced) == (UNDRAINED, 3)
    # It is not the manager's before it is drained.
    assert a.of("owned_o", 0) == 1 and not await a.manage(0, RELEASE) and a.state(0) == SWITCH
    dut.drained_i.value = 0b111
    await a.cycles(2)
    assert a.of("owned_o", 0) == 0 and a.state(0) == IDLE


@cocotb.test(timeout_time=300, timeout_unit="us")
async def a_region_on_its_way_to_a_lower_priority_is_taken_over(dut):
    a = Allocator(dut)
    await a.start()
    await a.port.write(PORT_IRQ_ENABLE, 1)
    low = await a.ask(0, 1, 2)
    assert (await a.answer(0, low)).outcome == PREPARING
    high = await a.ask(1, 1, 3)
    answer = await a.answer(0, low, MANAGER)
    assert (answer.reason, answer.last) == (TAKEN_OVER, 1)
    assert (await a.answer(1, high, CONNECTED)).region == 0 and a.client(0) == 1
    a.set("asked_i", 1, 1)
    # While another task is loaded.
    await a.port.write64(PORT_SOURCE, AT + a.content[4, 2])
    await a.port.write(PORT_LENGTH, BYTES[2])
    low = await a.ask(2, 3, 2)
    assert (await a.answer(2, low)).region == 1
    while a.state(1) != RECONFIG:
        await FallingEdge(dut.clk_i)
    # The same one again: once is enough.
    twice = await a.ask(2, 3, 2)
    assert (await a.answer(2, twice)).outcome == PREPARING
    # Beside it the manager configures another region: in its turn.
    await a.port.write(PORT_TARGET, PORT_GO | 4 << 8 | 2)
    assert await a.port.read(PORT_STATUS) == 1 and a.state(2) == IDLE and a.state(1) == RECONFIG
    high = await a.ask(3, 2, 3)
    assert (await a.answer(2, twice, MANAGER)).reason == TAKEN_OVER
    assert (await a.answer(3, high)).region == 1
    while dut.port_irq_o.value == 0:
        await FallingEdge(dut.clk_i)
    assert await a.port.read(PORT_STATUS) == 0 and a.state(2) == SWITCH and a.of("loaded_o", 2, 8) == 4
    assert (await a.answer(3, high, CONNECTED)).region == 1
    assert a.client(1) == 3 and a.of("loaded_o", 1, 8) == 2
    # The manager may not have a region that is not its own configured.
    low = await a.ask(4, 3, 1)
    assert (await a.answer(4, low)).outcome == MANAGER


@cocotb.test(timeout_time=200, timeout_unit="us")
async def memory_that_hangs_or_fails_holds_up_no_request(dut):
    a = Allocator(dut)
    await a.start()
    await a.configured(0, 1)
    a.memory.responds = False
    for client in range(8):
        await a.ask(client, 7, 1)
    tag = await a.ask(0, 1, 1)
    await a.cycles(20)
    assert a.client(0) == 0 and await a.requests.read(STATUS) >> 8 == 0xFF
    a.memory.responds = True
    answers = [await a.answer(client, client + 1) for client in range(1, 8)]
    assert (await a.answer(0, tag)).outcome == CONNECTED and all(x.reason == NO_REGION for x in answers)
    await a.requests.write(IRQ_CLEAR, 7)
    a.memory.fails = 1
    await a.ask(1, 7, 1)
    await a.cycles(20)
    assert await a.requests.read(IRQ_PENDING) == ERROR and a.memory.answer(1).tag == 2


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def each_request_is_answered_and_no_other_interface_is_connected(dut):
    """Requests, tasks, the device manager and memory at random."""
    a = Allocator(dut, pause=0.5)
    await a.start()
    wanted, tags, orders = {}, {}, {}
    outcomes = {CONNECTED: 0, MANAGER: 0}
    reasons = set()
    managed = set()

    async def watch():
        while True:
            await Timer(4, units="ns")
            for region in range(REGIONS):
                if a.of("connect_o", region) and a.of("owned_o", region):
                    client = a.of("new_client_o", region, 4)
                    assert client in wanted, f"interface {client} is connected and has not asked"
                    assert a.of("loaded_o", region, 8) in (wanted[client], ), "with the task that it asked for"
            for region in range(REGIONS):
                if a.of("configure_o", region):
                    assert a.of("owned_o", region) or region in managed
            await FallingEdge(dut.clk_i)

    cocotb.start_soon(watch())

    def look():
        for client in list(wanted):
            answer = a.memory.answer(client)
            if answer.word and answer.tag == tags[client] and answer.last:
                outcomes[answer.outcome] += 1
                reasons.add(answer.reason)
                assert orders.get(client) != answer.order
                orders[client] = answer.order
                del wanted[client], tags[client]

    for _ in range(4_000):
        await FallingEdge(dut.clk_i)
        look()
        dice = random.random()
        client, region = random.randrange(INTERFACES), random.randrange(REGIONS)
        if dice < 0.03 and client not in wanted:
            wanted[client] = random.choice((1, 2, 3, 4))
            tags[client] = (a.tag + 1) % 256
            await a.ask(client, wanted[client], random.randrange(1, 6))
        elif dice < 0.10:
            a.set("asked_i", client, random.randrange(2))
        elif dice < 0.14 and a.state(region) in (BUSY, STOPPING):
            stops = a.state(region) == STOPPING and random.random() < 0.7
            owner = a.client(region)
            await a.pulse("stopped_i" if stops else "done_i", region)
            a.set("unfinished_i", owner, int(stops))
        elif dice < 0.16:
            dut.drained_i.value = random.choice((0b111, 0b111, random.randrange(8)))
        elif dice < 0.165 and a.state(region) == IDLE and not a.of("owned_o", region):
            managed.add(region)
            if await a.manage(region, TAKE):
                await a.cycles(random.randrange(60))
                assert a.state(region) == SWITCH and await a.manage(region, RELEASE)
            managed.discard(region)
        if random.random() < 0.02:
            for interface in range(INTERFACES):
                if int(dut.resume_o.value) >> interface & 1:
                    a.set("unfinished_i", interface, 0)
    dut.drained_i.value = 0b111
    for _ in range(2_000):
        await FallingEdge(dut.clk_i)
        look()
        for region in range(REGIONS):
            if a.state(region) == STOPPING:
                await a.pulse("done_i", region)
    assert not wanted, f"{wanted} have no answer"
    assert dut.busy_o.value == 0 and all(a.state(region) != SWITCH for region in range(REGIONS))
    dut._log.info("%s; reasons %s", outcomes, reasons)
    assert outcomes[CONNECTED] > 20 and {NO_REGION, TAKEN_OVER, NO_BITSTREAM} <= reasons
