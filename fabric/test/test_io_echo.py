"""The echo, against a model, with the interface's rules looked at."""

import random

import cocotb
from cocotb.triggers import FallingEdge, Timer

from common import reset

READ, WRITE, CONTROL = range(3)
DONE, BAD_OP, BAD_ADDRESS, BAD_LENGTH = 0, 4, 5, 6


def packed(port, op, length, address):
    """request_t, as a number."""
    return port << 45 | op << 43 | length << 32 | address


async def ask(dut, port, op, length, address, data):
    """One request; returns its status, its length and the words that came back."""
    dut.request_i.value = packed(port, op, length, address)
    dut.request_valid_i.value = 1
    await Timer(4, units="ns")
    while dut.request_ready_o.value == 0:
        await FallingEdge(dut.clk_i)
        await Timer(4, units="ns")
    await FallingEdge(dut.clk_i)
    dut.request_valid_i.value = 0
    left = list(data)
    back = []
    wait = random.randrange(2)
    for _ in range(200):
        dut.in_valid_i.value = bool(left) and wait == 0
        if left and wait == 0:
            dut.in_data_i.value = left[0]
        await Timer(4, units="ns")
        if dut.out_valid_o.value == 1:
            back.append(int(dut.out_data_o.value))
        over = dut.response_valid_o.value == 1
        response = int(dut.response_o.value)
        if left and wait == 0 and dut.in_ready_o.value == 1:
            left.pop(0)
            wait = random.randrange(2)
        elif wait:
            wait -= 1
        await FallingEdge(dut.clk_i)
        if over:
            dut.in_valid_i.value = 0
            return response >> 11, response & 0x7FF, back
    raise AssertionError("no response within 200 cycles")


@cocotb.test(timeout_time=100, timeout_unit="us")
async def what_a_port_writes_it_reads_back(dut):
    for name in ("request_valid_i", "in_valid_i"):
        getattr(dut, name).value = 0
    await reset(dut)
    owner, kept = None, b""
    done = set()
    for _ in range(300):
        port = random.randrange(3)
        op = random.choice((READ, READ, WRITE, WRITE, CONTROL))
        length = random.choice((0, 1, random.randint(0, 64), random.randint(0, 256), 256, 257, 1536))
        address = random.choice((0, 0, 0, 0, 4))
        words = [random.getrandbits(32) for _ in range((length + 3) // 4)] if op != READ else []
        status, back, data = await ask(dut, port, op, length, address, words)
        if op == CONTROL:
            expected = BAD_OP
        else:
            expected = BAD_ADDRESS if address else BAD_LENGTH if length > 256 else DONE
        assert status == expected, f"status {status}, and not {expected}"
        done.add((op, status))
        if status != DONE or op != READ:
            assert back == 0 and not data
        else:
            mine = kept[:length] if owner == port else b""
            assert back == len(mine)
            assert b"".join(w.to_bytes(4, "little") for w in data)[:back] == mine, "not what was written"
        if status == DONE and op == WRITE:
            owner, kept = port, b"".join(w.to_bytes(4, "little") for w in words)[:length]
    assert len(done) == 7, f"not all there is to test came up: {done}"
