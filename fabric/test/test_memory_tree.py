"""Memory trees of 2 to 64 requesters that want as much as they can get: no access ever waits longer than the bound."""

import json

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from common import reset

SIZES = (2, 4, 8, 16, 32, 64)


def bounds(requesters, number, interval, blocked_max):
    """For how many cycles at most an access of a requester waits to be taken, and is on its way to the root's output:
    the time in which it leaves a node, from the root down, and the sum of these."""
    times = [interval]
    below = requesters // 2
    while below:
        right = number // below % 2
        times.append(times[-1] * (blocked_max + 1 if right else 2))
        below //= 2
    return times[-1], sum(times)


async def figures(dut, size, number):
    dut.size_i.value = size
    dut.number_i.value = number
    await Timer(1, units="ns")
    return tuple(int(getattr(dut, f"{name}_o").value) for name in ("wait_max", "total_max", "taken", "arrived"))


async def run(dut, interval, load, cycles):
    """(wait, total) of each requester of each size, the longest there were."""
    dut.interval_i.value = interval
    dut.load_i.value = load
    dut.forget_i.value = 0
    await reset(dut)
    await ClockCycles(dut.clk_i, cycles)
    await FallingEdge(dut.clk_i)
    assert dut.wrong_o.value == 0, "an access was lost, came twice or out of order"
    measured = {}
    for size, requesters in enumerate(SIZES):
        for number in range(requesters):
            wait, total, taken, arrived = await figures(dut, size, number)
            assert 0 <= taken - arrived <= size + 1, f"{requesters} requesters, {number}: {taken} taken, {arrived} arrived"
            assert taken > 1, f"{requesters} requesters, {number} starves: {taken} taken"
            measured[requesters, number] = wait, total
    return measured


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def no_access_waits_longer_than_its_bound(dut):
    blocked_max = int(dut.BLOCKED_MAX.value)
    table = {}
    for interval, load, cycles in ((2, 255, 700), (2, 40, 500), (1, 255, 300)):
        for (requesters, number), (wait, total) in (await run(dut, interval, load, cycles)).items():
            wait_bound, total_bound = bounds(requesters, number, interval, blocked_max)
            where = f"{requesters} requesters, {number}, one each {interval} cycles, load {load}"
            assert wait <= wait_bound, f"{where}: waited {wait} cycles, {wait_bound} at most are allowed"
            assert total <= total_bound, f"{where}: {total} cycles to the root, {total_bound} at most are allowed"
            row = table.setdefault((requesters, interval, load), [0, 0, 0, 0])
            row[:] = max(row[0], wait), max(row[1], wait_bound), max(row[2], total), max(row[3], total_bound)
    lines = [{"requesters": r, "interval": i, "load": l, "wait": w, "wait_bound": wb, "total": t, "total_bound": tb}
             for (r, i, l), (w, wb, t, tb) in sorted(table.items())]
    with open("measures.json", "w") as file:
        json.dump(lines, file, indent=1)
    for line in lines:
        dut._log.info("%s", line)
    # The bound of waiting is no looser than it has to be: under full load it is reached.
    for line in lines:
        if line["load"] == 255 and line["interval"] > 1:
            assert line["wait"] == line["wait_bound"], f"{line}: the bound is not reached"
