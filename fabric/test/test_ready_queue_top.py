"""The ready queue as software sees it, by each of its four schemes and by all of them in turn, against a model in Python.

Memory is `axi.AxiMemory`, whose bytes software changes at once: what a coherent port gives. It rests at random, and where
a test says so, it refuses at random.
"""

import random

import cocotb
from cocotb.regression import TestFactory
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from axi import OKAY, SLVERR, AxiLiteMaster, AxiMemory
from common import reset
from ready_queue_model import Model, Op, Status

DEPTH, PRIORITIES = 1024, 256
HEAD, VALID = 4, 1 << 31
TAKE_HIGHEST, PEEK_HIGHEST, REMOVE, NEXT, ID, HANDLES, STATUS, CONTROL, ACCESS, COUNT, COMMANDS, ANSWER, REFUSAL = \
    range(0x800, 0x834, 4)
READY, ERROR, PENDING = 1, 2, 4
PAGE, HYBRID, EVENT, POLLING = range(4)
PLACE = 0x140
NOT_WRITTEN = 0xFFFF_FFFF

# From the request on the bus to its answer there, when neither side pauses: one to give it to the queue, two of the
# queue's, one of the slave's.
READ_CYCLES = 4
# From the event to the read on the bus, and from the command's word there to the answer's: of a command of two cycles.
EVENT_CYCLES = 3
FETCHED_CYCLES = 8
# Longer than anything takes that pauses.
SETTLE_CYCLES = 300


class Memory(AxiMemory):
    """Refuses some bursts."""

    refuses = 0.0

    def response(self, address):
        return SLVERR if random.random() < self.refuses else super().response(address)

    def word(self, address):
        return int.from_bytes(self.bytes[address:address + 4], "little")

    def store(self, address, value):
        self.bytes[address:address + 4] = value.to_bytes(4, "little")


class Queue:
    """Software, and the model."""

    def __init__(self, dut, pause):
        self.dut = dut
        dut.event_i.value = 0
        self.bus, self.memory = AxiLiteMaster(dut, pause=pause), Memory(dut, 4096, pause=pause)
        self.model = Model(DEPTH, PRIORITIES)
        self.scheme, self.place = PAGE, PLACE
        self.behind = None
        self.refusal = 0
        self.commands = 0
        self.last = Status.EMPTY << 28

    async def start(self):
        await reset(self.dut)
        assert await self.bus.read(ID) == 0x5251_0001
        assert await self.bus.read(HANDLES) == DEPTH
        while not await self.bus.read(STATUS) & READY:
            pass

    def first(self):
        found = self.model.first()
        return VALID | found[1] << 16 | found[0] if found else 0

    def apply(self, op, priority, handle):
        """Does a command to the model."""
        status, found = self.model.apply(op, priority, handle)
        self.commands = (self.commands + 1) % 2**32
        self.last = status << 28 | (found[1] << 16 | found[0] if status == Status.DONE else 0)
        return status, found

    async def use(self, scheme, place=PLACE):
        """Begins a scheme, as software has to."""
        await self.bus.write(ACCESS, PAGE)
        while await self.bus.read(STATUS) & PENDING:
            pass
        self.memory.store(place, 0)
        self.memory.store(place + 4, NOT_WRITTEN)
        await self.bus.write(ACCESS, place | scheme)
        self.scheme, self.place = scheme, place
        if scheme != PAGE:
            for _ in range(SETTLE_CYCLES):
                if self.memory.word(place + 4) != NOT_WRITTEN:
                    break
                await FallingEdge(self.dut.clk_i)
            assert self.memory.word(place + 4) == self.first()
            assert self.memory.word(place) == (self.commands if scheme == HYBRID else 0)

    # By the page.

    async def read(self, address, op, priority=None, handle=None):
        """A read that is a command."""
        status, found = self.apply(op, priority, handle)
        expected = VALID | found[1] << 16 | found[0] if status == Status.DONE else 0
        got = await self.bus.read(address)
        assert got == expected, f"{op.name} {priority} {handle}: {got:#x}, not {expected:#x}"
        if status == Status.DONE and op in (Op.PEEK, Op.PEEK_HIGHEST, Op.NEXT):
            self.behind = found[0]
        return found

    async def write(self, address, op, priority, handle):
        """A write that is a command."""
        status, _ = self.apply(op, priority, handle)
        if status != Status.DONE and not self.refusal:
            self.refusal = VALID | status << 28 | handle
        # The upper half is no part of a handle.
        await self.bus.write(address, random.getrandbits(16) << 16 | handle, random.choice([0x3, 0xF]))

    async def by_page(self, op, priority, handle):
        if op == Op.INSERT_TAIL:
            await self.write(priority << 3, op, priority, handle)
        elif op == Op.INSERT_HEAD:
            await self.write(priority << 3 | HEAD, op, priority, handle)
        elif op == Op.REMOVE:
            await self.write(REMOVE, op, None, handle)
        elif op == Op.TAKE:
            await self.read(priority << 3, op, priority)
        elif op == Op.PEEK:
            await self.read(priority << 3 | HEAD, op, priority)
        elif op == Op.TAKE_HIGHEST:
            await self.read(TAKE_HIGHEST, op)
        elif op == Op.PEEK_HIGHEST:
            await self.read(PEEK_HIGHEST, op)
        elif self.behind is not None:
            await self.read(NEXT, op, None, self.behind)

    # By memory.

    async def event(self):
        await FallingEdge(self.dut.clk_i)
        self.dut.event_i.value = 1
        await FallingEdge(self.dut.clk_i)
        self.dut.event_i.value = 0

    async def give(self, op, priority, handle):
        """Puts a command into memory; what it does not need is noise."""
        assert not self.memory.word(self.place) & VALID
        priority = random.randrange(PRIORITIES) if priority is None else priority
        self.memory.store(self.place, VALID | op << 28 | random.getrandbits(4) << 24 | priority << 16 | handle)
        if self.scheme == EVENT:
            await self.event()

    async def answered(self):
        """Waits for the command's answer; whether it came in time."""
        for _ in range(SETTLE_CYCLES):
            if not self.memory.word(self.place) & VALID:
                return True
            await FallingEdge(self.dut.clk_i)
        return False

    async def by_memory(self, op, priority, handle):
        await self.give(op, priority, handle)
        self.apply(op, priority, handle)
        assert await self.answered(), f"no answer to {op.name}"
        got = self.memory.word(self.place)
        assert got == self.last, f"{op.name} {priority} {handle}: {got:#x}, not {self.last:#x}"
        assert self.memory.word(self.place + 4) == self.first()

    # By any.

    async def anything(self, mixed=True):
        """A command, by the page or from memory, as the scheme allows."""
        handle = random.choice([random.randrange(24), random.randrange(24), DEPTH - 1, DEPTH, 0xFFFF])
        priority = random.choice([0, 1, 16, 128, 255])
        op = random.choice(list(Op))
        if self.scheme in (EVENT, POLLING) and (not mixed or random.random() < 0.7):
            await self.by_memory(op, priority, handle)
        else:
            await self.by_page(op, priority, handle)

    async def check_refusal(self):
        got = await self.bus.read(REFUSAL)
        assert got == self.refusal or not (got | self.refusal) & VALID, f"{got:#x}, not {self.refusal:#x}"

    async def registers(self):
        await self.check_refusal()
        if self.refusal and random.random() < 0.5:
            # Only a one forgets it.
            await self.bus.write(REFUSAL, random.getrandbits(31))
            await self.check_refusal()
            await self.bus.write(REFUSAL, VALID | random.getrandbits(31))
            self.refusal = 0
        assert await self.bus.read(COUNT) == len(self.model.level)
        assert await self.bus.read(COMMANDS) == self.commands
        assert await self.bus.read(ANSWER) == self.last
        assert await self.bus.read(STATUS) == READY

    async def drain(self):
        """Takes everything by the page, and finds that it was all."""
        while await self.read(TAKE_HIGHEST, Op.TAKE_HIGHEST):
            pass
        assert not self.model.level


async def begun(dut, pause=0.0):
    queue = Queue(dut, pause)
    await queue.start()
    return queue


async def commands(dut, pause, scheme):
    """Random commands by one scheme."""
    queue = await begun(dut, pause)
    assert not queue.memory.writes and not queue.memory.reads, "not before it is told to"
    await queue.use(scheme)
    for number in range(600 if pause == 0.0 else 300):
        await queue.anything(mixed=number % 100 > 50)
        if number % 8 == 0:
            await queue.registers()
    await ClockCycles(dut.clk_i, SETTLE_CYCLES)
    if scheme != PAGE:
        assert queue.memory.word(PLACE + 4) == queue.first()
    if scheme == HYBRID:
        assert queue.memory.word(PLACE) == queue.commands
    if scheme in (PAGE, HYBRID):
        assert not queue.memory.reads
    if scheme == EVENT:
        reads = len(queue.memory.reads)
        await ClockCycles(dut.clk_i, SETTLE_CYCLES)
        assert len(queue.memory.reads) == reads, "it reads at events only"
    await queue.drain()


factory = TestFactory(commands)
factory.add_option("pause", [0.0, 0.5])
factory.add_option("scheme", [PAGE, HYBRID, EVENT, POLLING])
factory.generate_tests()


async def schemes(dut, pause):
    """Schemes and places change while the queue keeps what is in it; and it is emptied now and then."""
    queue = await begun(dut, pause)
    for number in range(50):
        await queue.use(random.randrange(4), random.randrange(0, 4096, 8))
        for _ in range(random.randrange(12)):
            await queue.anything()
        await queue.registers()
        if number % 7 == 0:
            await queue.bus.write(CONTROL, 1)
            queue.model = Model(DEPTH, PRIORITIES)
            if queue.scheme != PAGE and random.random() < 0.5:
                # The upper word changes without a command, and the lower one stays.
                lower = queue.memory.word(queue.place)
                await ClockCycles(dut.clk_i, SETTLE_CYCLES)
                assert (queue.memory.word(queue.place), queue.memory.word(queue.place + 4)) == (lower, 0)
            # What is given now waits.
            await queue.by_page(Op.TAKE_HIGHEST, None, None)
    await queue.drain()


factory = TestFactory(schemes)
factory.add_option("pause", [0.0, 0.5])
factory.generate_tests()


async def both_ways(dut, scheme):
    """Commands from memory and by the page at the same time: of other handles and priorities, so that each has its own
    answers."""
    queue = await begun(dut, 0.3)
    await queue.use(scheme)
    models = []

    async def some(give, priorities, handles):
        model = Model(DEPTH, PRIORITIES)
        models.append(model)
        for _ in range(150):
            op = random.choice([Op.INSERT_TAIL, Op.INSERT_HEAD, Op.REMOVE, Op.TAKE, Op.PEEK])
            priority, handle = random.choice(priorities), random.choice(handles)
            status, found = model.apply(op, priority, handle)
            await give(op, priority, handle, status, found)

    async def by_memory(op, priority, handle, status, found):
        await queue.give(op, priority, handle)
        assert await queue.answered()
        expected = status << 28 | (found[1] << 16 | found[0] if found else 0)
        assert queue.memory.word(PLACE) == expected

    async def by_page(op, priority, handle, status, found):
        address = REMOVE if op == Op.REMOVE else priority << 3 | (HEAD if op in (Op.INSERT_HEAD, Op.PEEK) else 0)
        if op in (Op.TAKE, Op.PEEK):
            assert await queue.bus.read(address) == (VALID | found[1] << 16 | found[0] if found else 0)
        else:
            await queue.bus.write(address, handle)

    task = cocotb.start_soon(some(by_memory, [3, 200], range(10)))
    await some(by_page, [4, 201], range(10, 20))
    await task
    assert await queue.bus.read(COMMANDS) == 300
    assert await queue.bus.read(COUNT) == sum(len(m.level) for m in models)
    for priority in (201, 200, 4, 3):
        for handle in [h for m in models for h in m.lists[priority]]:
            assert await queue.bus.read(TAKE_HIGHEST) == VALID | priority << 16 | handle
    assert await queue.bus.read(TAKE_HIGHEST) == 0


factory = TestFactory(both_ways)
factory.add_option("scheme", [EVENT, POLLING])
factory.generate_tests()


async def refused(dut, scheme):
    """Memory that refuses at random: nothing is lost or doubled, and ACCESS begins again."""
    queue = await begun(dut, 0.3)
    await queue.use(scheme)
    errors = 0
    for _ in range(150):
        queue.memory.refuses = 0.2
        op, priority, handle = random.choice(list(Op)), random.randrange(0, 256, 17), random.randrange(12)
        if scheme == HYBRID:
            await queue.by_page(op, priority, handle)
            await ClockCycles(dut.clk_i, 60)
            answered = True
        else:
            await queue.give(op, priority, handle)
            answered = await queue.answered()
        queue.memory.refuses = 0.0
        if scheme != HYBRID:
            if await queue.bus.read(COMMANDS) != queue.commands:
                queue.apply(op, priority, handle)
                if answered:
                    assert queue.memory.word(PLACE) == queue.last
            else:
                assert not answered
        assert await queue.bus.read(COMMANDS) == queue.commands
        got = await queue.bus.read(ANSWER)
        assert got == queue.last, f"{op.name} {priority} {handle} {answered}: {got:#x}, not {queue.last:#x}"
        status = await queue.bus.read(STATUS)
        assert answered or status & ERROR
        if status & ERROR:
            errors += 1
            done = len(queue.memory.writes), len(queue.memory.reads)
            await queue.event()
            await queue.by_page(Op.PEEK_HIGHEST, None, None)
            await ClockCycles(dut.clk_i, 50)
            assert (len(queue.memory.writes), len(queue.memory.reads)) == done, "it rests after an error"
            await queue.use(scheme)
        assert await queue.bus.read(COUNT) == len(queue.model.level)
    assert errors > 5
    await queue.drain()


factory = TestFactory(refused)
factory.add_option("scheme", [HYBRID, EVENT, POLLING])
factory.generate_tests()


@cocotb.test()
async def hangs(dut):
    """Memory that never answers: the page works, and says that memory is under way."""
    queue = await begun(dut)
    queue.memory.pause = 1.0
    await queue.bus.write(ACCESS, PLACE | POLLING)
    for _ in range(40):
        await queue.by_page(random.choice(list(Op)), random.randrange(0, 256, 17), random.randrange(12))
    await queue.bus.write(ACCESS, PAGE)
    await ClockCycles(dut.clk_i, SETTLE_CYCLES)
    assert await queue.bus.read(STATUS) == READY | PENDING
    queue.memory.pause = 0.0
    while await queue.bus.read(STATUS) & PENDING:
        pass
    done = len(queue.memory.writes), len(queue.memory.reads)
    await queue.drain()
    assert (len(queue.memory.writes), len(queue.memory.reads)) == done


@cocotb.test()
async def kept(dut):
    """With hybrid, whatever memory says at any time was so after exactly as many commands as it says."""
    queue = await begun(dut, 0.6)
    await queue.use(HYBRID)
    states, newest = {0: 0}, 0
    for _ in range(400):
        op = random.choice([Op.INSERT_TAIL, Op.INSERT_HEAD, Op.REMOVE, Op.TAKE_HIGHEST])
        handle, priority = random.randrange(12), random.randrange(0, 256, 17)
        await queue.by_page(op, priority, handle)
        states[queue.commands] = queue.first()
        if random.random() < 0.3:
            await ClockCycles(dut.clk_i, random.randrange(30))
        told, first = queue.memory.word(PLACE), queue.memory.word(PLACE + 4)
        assert first == states[told], f"{first:#x} after {told} commands"
        assert told >= newest, "an older value after a newer one"
        newest = told


@cocotb.test()
async def errors(dut):
    """What is no command, and half a handle, are errors and change nothing."""
    queue = await begun(dut)
    await queue.write(8 << 3, Op.INSERT_TAIL, 8, 5)
    for address in (REMOVE, CONTROL, REFUSAL + 4, 0xFFC):
        got = (await queue.bus.reads([address]))[0]
        assert got == (SLVERR, 0), f"{address:#x}: {got}"
    read_only = (TAKE_HIGHEST, PEEK_HIGHEST, NEXT, ID, HANDLES, STATUS, COUNT, COMMANDS, ANSWER)
    writes = [(address, 5, 0xF) for address in (*read_only, REFUSAL + 4, 0xFFC)]
    writes += [(address, 6, strobe) for address in (0, HEAD, REMOVE) for strobe in (0x0, 0x1, 0x2, 0xC)]
    assert await queue.bus.writes(writes) == [SLVERR] * len(writes)
    await queue.bus.write(CONTROL, 0)
    await queue.bus.write(CONTROL, 1, strobe=0xE)
    await queue.registers()
    # Two bits of the address and the scheme, and no bit between them.
    await queue.bus.write(ACCESS, 0xFFFF_FFF4 | PAGE)
    assert await queue.bus.read(ACCESS) == 0xFFFF_FFF0 | PAGE


@cocotb.test()
async def emptied(dut):
    """While the queue is being emptied it says so, and a command waits."""
    queue = await begun(dut)
    await queue.write(8 << 3, Op.INSERT_TAIL, 8, 5)
    await queue.bus.write(CONTROL, 1)
    queue.model = Model(DEPTH, PRIORITIES)
    assert await queue.bus.read(STATUS) == 0
    await queue.read(TAKE_HIGHEST, Op.TAKE_HIGHEST)
    assert await queue.bus.read(STATUS) == READY
    await queue.write(8 << 3, Op.INSERT_TAIL, 8, 5)
    await queue.read(TAKE_HIGHEST, Op.TAKE_HIGHEST)


@cocotb.test()
async def emptied_under_commands(dut):
    """It is emptied while commands come from memory: each has its answer, and the page stays in reach."""
    queue = await begun(dut)
    await queue.use(POLLING)
    for delay in random.sample(range(24), 8):
        handle = delay + 1
        await queue.give(Op.INSERT_TAIL, 7, handle)
        await ClockCycles(dut.clk_i, delay)
        await queue.bus.write(CONTROL, 1)
        assert await queue.bus.read(STATUS) in (0, READY)
        # The page's command goes first now, and stays what it is.
        assert await queue.bus.read(9 << 3 | HEAD) == 0
        for _ in range(DEPTH + SETTLE_CYCLES):
            if await queue.answered():
                break
        assert queue.memory.word(PLACE) == 7 << 16 | handle
        # Before it was emptied, or after.
        count = await queue.bus.read(COUNT)
        while not await queue.bus.read(STATUS) & READY:
            pass
        assert await queue.bus.read(COUNT) in (0, count)
        assert await queue.bus.read(TAKE_HIGHEST) in (0, VALID | 7 << 16 | handle)


@cocotb.test()
async def latency(dut):
    """A read that takes the highest has its answer on the bus after a fixed number of cycles."""
    queue = await begun(dut)
    for handle in range(5):
        await queue.bus.write(handle << 3, handle)
    for handle in reversed(range(5)):
        await FallingEdge(dut.clk_i)
        dut.s_axil_araddr.value = TAKE_HIGHEST
        dut.s_axil_arvalid.value = 1
        dut.s_axil_rready.value = 1
        await Timer(4, units="ns")
        assert dut.s_axil_arready.value == 1
        cycles = 0
        while cycles == 0 or dut.s_axil_rvalid.value == 0:
            await FallingEdge(dut.clk_i)
            dut.s_axil_arvalid.value = 0
            cycles += 1
        assert cycles == READ_CYCLES, f"{cycles} cycles"
        assert dut.s_axil_rresp.value == OKAY and int(dut.s_axil_rdata.value) & 0xFFFF == handle
        await FallingEdge(dut.clk_i)
        dut.s_axil_rready.value = 0


@cocotb.test()
async def latency_of_an_event(dut):
    """From the event to the read, and from the word that was read to its answer, is a fixed number of cycles."""
    queue = await begun(dut)
    await queue.use(EVENT)

    async def one_cycle():
        await FallingEdge(dut.clk_i)
        dut.event_i.value = 0

    async def until(*signals):
        cycles = 0
        while not all(signal.value for signal in signals):
            await FallingEdge(dut.clk_i)
            await Timer(4, units="ns")
            cycles += 1
        return cycles

    for handle in range(5):
        queue.memory.store(PLACE, VALID | Op.INSERT_TAIL << 28 | handle << 16 | handle)
        await FallingEdge(dut.clk_i)
        dut.event_i.value = 1
        cocotb.start_soon(one_cycle())
        await Timer(4, units="ns")
        cycles = await until(dut.m_axi_arvalid)
        assert cycles == EVENT_CYCLES, f"{cycles} cycles"
        await until(dut.m_axi_rvalid, dut.m_axi_rready)
        cycles = await until(dut.m_axi_wvalid)
        assert cycles == FETCHED_CYCLES, f"{cycles} cycles"
        assert await queue.answered()
