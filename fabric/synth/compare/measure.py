"""Cycles from one command to the next, of a queue with ready_queue's command port, while its answers are checked.

Run by compare.py, which says through the environment what the queue can do and where to write the result.
"""

import json
import os
import random
from collections import defaultdict

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from common import reset
from ready_queue_model import Model, Op, Status


@cocotb.test()
async def cycles(dut):
    depth, priorities = int(os.environ["QUEUE_DEPTH"]), 256
    able = [Op[name] for name in os.environ["QUEUE_OPS"].split()]
    spent = defaultdict(list)
    model = Model(depth, priorities)
    cocotb.start_soon(Clock(dut.clk_i, 10, units="ns").start())
    dut.command_valid_i.value = 0
    if hasattr(dut, "clear_i"):
        dut.clear_i.value = 0
    await reset(dut)
    while not dut.initialised_o.value:
        await FallingEdge(dut.clk_i)

    async def command(op, priority=0, handle=0):
        assert dut.command_ready_o.value
        dut.command_valid_i.value = 1
        dut.command_op_i.value = op
        dut.command_priority_i.value = priority
        dut.command_handle_i.value = handle
        passed = 0
        while passed == 0 or not dut.answer_valid_o.value:
            await FallingEdge(dut.clk_i)
            passed += 1
            dut.command_valid_i.value = 0
            assert passed < 100
        status, found = model.apply(op, priority, handle)
        what = f"{op.name} {priority} {handle}"
        assert Status(int(dut.answer_status_o.value)) == status, what
        if found is not None:
            assert (int(dut.answer_handle_o.value), int(dut.answer_priority_o.value)) == found, what
        if status == Status.DONE:
            spent[op].append(passed)

    # Fill it, exchange what comes first for others, empty it: as a scheduler does, at its worst.
    for phase, count in ((1.0, depth), (0.5, 1000), (0.0, depth + 1)):
        for _ in range(count):
            if random.random() < phase:
                free = [h for h in range(depth) if h not in model.level]
                if free:
                    await command(random.choice([Op.INSERT_TAIL, Op.INSERT_HEAD]), random.randrange(priorities),
                                  random.choice(free))
            elif Op.TAKE in able and model.level and random.random() < 0.3:
                await command(Op.TAKE, random.choice(list(model.level.values())))
            elif Op.REMOVE in able and model.level and random.random() < 0.3:
                await command(Op.REMOVE, 0, random.choice(list(model.level)))
            else:
                await command(Op.TAKE_HIGHEST)
    with open(os.environ["QUEUE_RESULT"], "w") as file:
        json.dump({op.name: [min(s), sum(s) / len(s), max(s)] for op, s in spent.items()}, file)
