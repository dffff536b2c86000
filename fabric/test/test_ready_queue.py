"""The ready queue at full size against a model in Python: every answer, who comes first, and how long it takes."""

import random
from collections import Counter

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from common import reset
from ready_queue_model import Model, Op, Status

DEPTH = 1024
PRIORITIES = 256
# Cycles from one command to the next that can be taken.
CYCLES = {Op.REMOVE: 3, Op.NEXT: 3}
CYCLES_OTHERS = 2
CYCLES_NEXT_LIST = 6


class Queue:
    """Drives the block and compares it with the model."""

    def __init__(self, dut):
        self.dut = dut
        self.model = Model(DEPTH, PRIORITIES)
        self.answers = Counter()
        self.first = None

    async def start(self):
        cocotb.start_soon(Clock(self.dut.clk_i, 10, units="ns").start())
        self.dut.command_valid_i.value = 0
        self.dut.clear_i.value = 0
        await reset(self.dut)
        await self.initialised()

    async def initialised(self):
        """Waits until the queue takes commands, which it may do no later than promised, and asks it nothing before."""
        dut = self.dut
        for cycle in range(max(DEPTH, PRIORITIES) + 1):
            if dut.initialised_o.value:
                break
            assert not dut.command_ready_o.value
            assert cycle == 0 or not dut.first_valid_o.value
            await FallingEdge(dut.clk_i)
        assert dut.initialised_o.value and dut.command_ready_o.value
        assert not dut.first_valid_o.value and dut.count_o.value == 0
        self.model = Model(DEPTH, PRIORITIES)
        self.first = None

    async def command(self, op, priority=None, handle=None):
        """Gives one command as early as it can be taken. What it does not need is noise."""
        dut = self.dut
        assert dut.command_ready_o.value
        dut.command_valid_i.value = 1
        dut.command_op_i.value = op
        dut.command_priority_i.value = random.randrange(PRIORITIES) if priority is None else priority
        dut.command_handle_i.value = random.getrandbits(16) if handle is None else handle
        cycles = 0
        while cycles == 0 or not dut.answer_valid_o.value:
            await FallingEdge(dut.clk_i)
            cycles += 1
            # The command was taken at the first edge; nothing that follows may touch it.
            dut.command_valid_i.value = 0
            dut.command_handle_i.value = random.getrandbits(16)
            assert cycles <= CYCLES_NEXT_LIST, f"no answer to {op.name}"
            if not dut.answer_valid_o.value:
                assert not dut.command_ready_o.value
                assert not dut.first_changed_o.value or cycles == 0

        status, found = self.model.apply(op, priority, handle)
        what = f"{op.name} priority {priority} handle {handle}"
        assert Status(int(dut.answer_status_o.value)) == status, what
        if found is not None:
            assert (int(dut.answer_handle_o.value), int(dut.answer_priority_o.value)) == found, what
        self.answers[op, status] += 1

        expected = CYCLES.get(op, CYCLES_OTHERS)
        if op == Op.NEXT and (status == Status.EMPTY or (status == Status.DONE and found[1] < self.model.level[handle])):
            expected = CYCLES_NEXT_LIST
        assert cycles == expected, f"{what}: {cycles} cycles"

        first = self.model.first()
        assert bool(dut.first_valid_o.value) == (first is not None), what
        if first is not None:
            assert (int(dut.first_handle_o.value), int(dut.first_priority_o.value)) == first, what
        assert bool(dut.first_changed_o.value) == (first != self.first), what
        self.first = first
        assert int(dut.count_o.value) == len(self.model.level), what
        return status, found

    async def drain(self):
        """Takes everything, highest first, and finds that it was all."""
        while (await self.command(Op.TAKE_HIGHEST))[0] == Status.DONE:
            pass
        assert not self.model.level


async def begun(dut):
    queue = Queue(dut)
    await queue.start()
    return queue


@cocotb.test()
async def full(dut):
    """All handles in one list, at its two ends in turn; then nothing more goes in, and all of it comes out in order."""
    queue = await begun(dut)
    handles = list(range(DEPTH))
    random.shuffle(handles)
    for number, handle in enumerate(handles):
        await queue.command(Op.INSERT_TAIL if number % 2 else Op.INSERT_HEAD, 255, handle)
    assert dut.count_o.value == DEPTH
    for handle in [0, 1, DEPTH - 1, DEPTH, DEPTH + 1, 0x8000, 0xFFFF]:
        expected = Status.INVALID if handle >= DEPTH else Status.QUEUED
        for op in (Op.INSERT_TAIL, Op.INSERT_HEAD):
            assert (await queue.command(op, 0, handle))[0] == expected
    await queue.drain()


@cocotb.test()
async def one_in_each(dut):
    """One handle at each priority, removed from the lowest, the highest and the middle."""
    queue = await begun(dut)
    for priority in range(PRIORITIES):
        await queue.command(Op.INSERT_TAIL, priority, 1023 - priority)
    for priority in (0, 255, 128, 127, 15, 16, 240, 239):
        assert (await queue.command(Op.PEEK, priority))[1] == (1023 - priority, priority)
        await queue.command(Op.TAKE, priority)
        assert (await queue.command(Op.TAKE, priority))[0] == Status.EMPTY
    await queue.drain()


@cocotb.test()
async def walk(dut):
    """Next goes through everything once, in the order in which it would be taken."""
    queue = await begun(dut)
    for handle in random.sample(range(DEPTH), 300):
        await queue.command(Op.INSERT_TAIL, random.choice([0, 1, 2, 15, 16, 100, 254, 255]), handle)
    seen = []
    status, found = await queue.command(Op.PEEK_HIGHEST)
    while status == Status.DONE:
        seen.append(found)
        status, found = await queue.command(Op.NEXT, None, found[0])
    assert status == Status.EMPTY
    assert seen == [(h, p) for p in reversed(range(PRIORITIES)) for h in queue.model.lists[p]]


@cocotb.test()
async def cleared(dut):
    """Clear empties the queue, also in the midst of a command, which then has no answer; so does reset."""
    queue = await begun(dut)
    for delay in range(5):
        for handle in range(20):
            await queue.command(Op.INSERT_TAIL, handle % 3, handle)
        # Next of a list's last takes the most cycles.
        dut.command_valid_i.value = 1
        dut.command_op_i.value = Op.NEXT
        dut.command_handle_i.value = 18
        for _ in range(delay):
            await FallingEdge(dut.clk_i)
            dut.command_valid_i.value = 0
        dut.clear_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.clear_i.value = 0
        dut.command_valid_i.value = 0
        assert not dut.answer_valid_o.value and not dut.initialised_o.value
        await queue.initialised()
        assert (await queue.command(Op.TAKE_HIGHEST))[0] == Status.EMPTY
    await queue.command(Op.INSERT_TAIL, 7, 7)
    await reset(dut)
    await queue.initialised()
    assert (await queue.command(Op.REMOVE, None, 7))[0] == Status.ABSENT


async def mix(queue, commands, levels, handles, weights):
    for _ in range(commands):
        op = random.choices(list(Op), weights)[0]
        handle = random.choice(handles)
        if random.random() < 0.02:
            handle = random.choice([DEPTH, DEPTH + handle, 0xFFFF, 0x8000 + handle])
        elif op in (Op.REMOVE, Op.NEXT) and queue.model.level and random.random() < 0.8:
            handle = random.choice(list(queue.model.level))
        needs_level = op in (Op.INSERT_TAIL, Op.INSERT_HEAD, Op.TAKE, Op.PEEK)
        await queue.command(op, random.choice(levels) if needs_level else None,
                            handle if op <= Op.NEXT else None)
        if random.random() < 0.01:
            for _ in range(random.randrange(4)):
                await FallingEdge(queue.dut.clk_i)
                assert not queue.dut.answer_valid_o.value and not queue.dut.first_changed_o.value


@cocotb.test()
async def at_random(dut):
    """Long random runs: few and many priorities and handles, filling up and running dry."""
    queue = await begun(dut)
    everything, anyone = range(PRIORITIES), range(DEPTH)
    even = [3, 3, 2, 2, 2, 1, 2, 1]
    filling = [6, 6, 1, 2, 1, 1, 1, 1]
    emptying = [1, 1, 3, 2, 3, 1, 4, 1]
    for levels, handles in [([3, 4], range(4)), ([0, 15, 16, 255], range(16)), (everything, range(40)),
                            ([200], anyone), (everything, anyone)]:
        for weights in (even, filling, emptying):
            await mix(queue, 1200, levels, handles, weights)
        await queue.drain()
    for op in Op:
        for status in Status:
            possible = {Status.DONE: True, Status.EMPTY: op >= Op.NEXT, Status.QUEUED: op <= Op.INSERT_HEAD,
                        Status.ABSENT: op in (Op.REMOVE, Op.NEXT), Status.INVALID: op <= Op.NEXT}[status]
            assert (queue.answers[op, status] > 0) == possible, f"{op.name} {status.name}"
    dut._log.info(f"{sum(queue.answers.values())} commands")
