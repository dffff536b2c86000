"""The ready queue behind AXI4-Lite, against the model: commands in addresses, refusals, errors on the bus."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.regression import TestFactory
from cocotb.triggers import FallingEdge, Timer

from axi import OKAY, SLVERR, AxiLiteMaster
from common import reset
from ready_queue_model import Model, Op, Status

DEPTH, PRIORITIES = 1024, 256
HEAD, VALID = 4, 1 << 31
TAKE_HIGHEST, PEEK_HIGHEST, REMOVE, NEXT, REFUSAL, COUNT, CONTROL, IDENTITY, MIRROR, COMMANDS = \
    range(0x800, 0x828, 4)
# From the request on the bus to its answer there, when nobody pauses: one to give it to the queue, two of the queue's,
# one of the slave's.
READ_CYCLES = 4


class Queue:
    def __init__(self, dut, pause):
        self.dut = dut
        cocotb.start_soon(Clock(dut.clk_i, 10, units="ns").start())
        dut.rst_ni.value = 0
        self.bus = AxiLiteMaster(dut, pause=pause)
        self.model = Model(DEPTH, PRIORITIES)
        self.behind = None
        self.refusal = 0
        self.commands = 0
        dut.mirror_error_i.value = 0

    async def start(self):
        await reset(self.dut)
        assert await self.bus.read(IDENTITY) == 0x5251_0000 | DEPTH
        while not await self.bus.read(CONTROL):
            pass

    async def read(self, address, op, priority=None, handle=None):
        """A read that is a command."""
        status, found = self.model.apply(op, priority, handle)
        self.commands += 1
        expected = VALID | found[1] << 16 | found[0] if status == Status.DONE else 0
        got = await self.bus.read(address)
        assert got == expected, f"{op.name} {priority} {handle}: {got:#x}, not {expected:#x}"
        if status == Status.DONE and op in (Op.PEEK, Op.PEEK_HIGHEST, Op.NEXT):
            self.behind = found[0]
        return found

    async def write(self, address, op, priority, handle):
        """A write that is a command."""
        status, _ = self.model.apply(op, priority, handle)
        self.commands += 1
        if status != Status.DONE and not self.refusal:
            self.refusal = VALID | status << 16 | handle
        # The upper half is no part of a handle.
        await self.bus.write(address, random.getrandbits(16) << 16 | handle, random.choice([0x3, 0xF]))

    async def anything(self):
        handle = random.choice([random.randrange(24), random.randrange(24), DEPTH - 1, DEPTH, 0xFFFF])
        priority = random.choice([0, 1, 16, 128, 255])
        kind = random.randrange(9)
        if kind < 2:
            await self.write(priority << 3, Op.INSERT_TAIL, priority, handle)
        elif kind == 2:
            await self.write(priority << 3 | HEAD, Op.INSERT_HEAD, priority, handle)
        elif kind == 3:
            await self.write(REMOVE, Op.REMOVE, None, handle)
        elif kind == 4:
            await self.read(priority << 3, Op.TAKE, priority)
        elif kind == 5:
            await self.read(priority << 3 | HEAD, Op.PEEK, priority)
        elif kind == 6:
            await self.read(TAKE_HIGHEST, Op.TAKE_HIGHEST)
        elif kind == 7:
            await self.read(PEEK_HIGHEST, Op.PEEK_HIGHEST)
        elif self.behind is not None:
            await self.read(NEXT, Op.NEXT, None, self.behind)
        assert await self.bus.read(REFUSAL) == self.refusal
        if self.refusal and random.random() < 0.5:
            await self.bus.write(REFUSAL, random.getrandbits(32))
            self.refusal = 0
        assert await self.bus.read(COUNT) == len(self.model.level)
        first = self.model.first()
        assert int(self.dut.first_o.value) == (VALID | first[1] << 16 | first[0] if first else 0)
        assert await self.bus.read(COMMANDS) == self.commands == int(self.dut.commands_o.value)


async def commands(dut, pause):
    queue = Queue(dut, pause)
    await queue.start()
    for _ in range(600):
        await queue.anything()


factory = TestFactory(commands)
factory.add_option("pause", [0.0, 0.5])
factory.generate_tests()


@cocotb.test()
async def errors(dut):
    """What is no command, and half a handle, are errors and change nothing."""
    queue = Queue(dut, 0.0)
    await queue.start()
    await queue.write(8 << 3, Op.INSERT_TAIL, 8, 5)
    for address in (REMOVE, 0x828, 0xFFC):
        assert (await queue.bus.reads([address]))[0][0] == SLVERR
    writes = [(address, 5, 0xF) for address in (TAKE_HIGHEST, PEEK_HIGHEST, NEXT, COUNT, IDENTITY, 0x828, 0xFFC)]
    writes += [(address, 6, strobe) for address in (0, HEAD, REMOVE) for strobe in (0x0, 0x1, 0x2, 0xC)]
    assert await queue.bus.writes(writes) == [SLVERR] * len(writes)
    writes = [(MIRROR, 0x1234_5679, strobe) for strobe in (0x0, 0x1, 0x7, 0xE)] + [(COMMANDS, 0, 0xF)]
    assert await queue.bus.writes(writes) == [SLVERR] * len(writes)
    assert await queue.bus.read(MIRROR) == 0
    await queue.bus.write(MIRROR, 0x1234_5677)
    dut.mirror_error_i.value = 1
    assert await queue.bus.read(MIRROR) == 0x1234_5673
    assert dut.mirror_enable_o.value == 1 and int(dut.mirror_address_o.value) == 0x1234_5670 >> 3
    await queue.bus.write(CONTROL, 0)
    await queue.bus.write(CONTROL, 1, strobe=0xE)
    assert await queue.bus.read(COUNT) == 1 and await queue.bus.read(REFUSAL) == 0


@cocotb.test()
async def emptied(dut):
    """While the queue is being emptied it says so, and a command waits."""
    queue = Queue(dut, 0.0)
    await queue.start()
    await queue.write(8 << 3, Op.INSERT_TAIL, 8, 5)
    await queue.bus.write(CONTROL, 1)
    queue.model = Model(DEPTH, PRIORITIES)
    assert await queue.bus.read(CONTROL) == 0
    await queue.read(TAKE_HIGHEST, Op.TAKE_HIGHEST)
    assert await queue.bus.read(CONTROL) == 1
    await queue.write(8 << 3, Op.INSERT_TAIL, 8, 5)
    await queue.read(TAKE_HIGHEST, Op.TAKE_HIGHEST)


@cocotb.test()
async def latency(dut):
    """A read that takes the highest has its answer on the bus after a fixed number of cycles."""
    queue = Queue(dut, 0.0)
    await queue.start()
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
