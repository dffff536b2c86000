"""The memory tree's root between a tree and a memory that takes its time: each access is done, in order, with its number."""

import random

import cocotb
from cocotb.triggers import FallingEdge, Timer

from axi import AxiMemory
from common import reset

SIZE = 1 << 12


def access(write, log2_words, address, data=0, strobe=0):
    """access_t, as a number."""
    return write << 106 | log2_words << 104 | address << 72 | data << 8 | strobe


@cocotb.test(timeout_time=200, timeout_unit="us")
async def memory_is_as_a_model_says(dut):
    numbers = 1 << len(dut.number_i)
    dut.valid_i.value = 0
    memory = AxiMemory(dut, SIZE, pause=0.2, error_from=SIZE * 7 // 8)
    await reset(dut)
    model, expected, left = bytearray(SIZE), [], 150
    offered = False
    while left or expected or offered:
        if not offered and left and random.random() < 0.7:
            offered, left = True, left - 1
            write, log2_words = random.randrange(2), random.randrange(4)
            address, number = random.randrange(0, SIZE, 8), random.randrange(numbers)
            data, strobe = random.getrandbits(64), random.getrandbits(8)
            dut.access_i.value = access(write, 0 if write else log2_words, address, data, strobe)
            dut.number_i.value = number
        dut.valid_i.value = offered
        await Timer(4, units="ns")
        taken = offered and dut.ready_o.value == 1
        if dut.reply_valid_o.value == 1:
            assert expected, "a reply that no requester waits for"
            reply = int(dut.reply_o.value)
            got = int(dut.reply_number_o.value), reply >> 66, reply >> 65 & 1, reply >> 64 & 1
            want = expected.pop(0)
            assert got == want[:4], f"number, write, last, error: {got}, and not {want[:4]}"
            assert want[4] is None or reply & (1 << 64) - 1 == want[4], "a word that memory does not hold"
        if taken:
            assert not expected, "an access is taken before the last one is over"
            offered = False
            if write:
                error = address >= SIZE * 7 // 8
                for lane in range(8):
                    if strobe >> lane & 1 and not error:
                        model[address + lane] = data >> 8 * lane & 0xFF
                expected.append((number, 1, 1, int(error), None))
            else:
                start = address & ~((8 << log2_words) - 1)
                for i in range(1 << log2_words):
                    at = start + 8 * i
                    word = int.from_bytes(model[at:at + 8], "little")
                    expected.append((number, 0, int(i == (1 << log2_words) - 1), int(at >= SIZE * 7 // 8), word))
        await FallingEdge(dut.clk_i)
    assert memory.bytes == model
