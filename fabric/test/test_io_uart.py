"""The UART with its I/O VMM, against a line that is read and driven bit by bit."""

import random

import cocotb
from cocotb.triggers import FallingEdge, Timer

from common import reset
from io_vmm import BAD_ADDRESS, BAD_LENGTH, BAD_OP, CONTROL, DONE, PROTECTED, READ, WRITE, IoVmm

CYCLE_NS = 10


class Line:
    """The other end of the line."""

    def __init__(self, dut):
        self.dut, self.came = dut, bytearray()
        self.bit = CYCLE_NS * int(dut.DIVISOR.value)
        dut.rxd_i.value = 1
        cocotb.start_soon(self.listen())

    async def listen(self):
        while True:
            await FallingEdge(self.dut.txd_o)
            await Timer(self.bit // 2, units="ns")
            bits = []
            for _ in range(10):
                bits.append(int(self.dut.txd_o.value))
                if len(bits) < 10:
                    await Timer(self.bit, units="ns")
            assert bits[0] == 0 and bits[9] == 1
            self.came.append(sum(bit << n for n, bit in enumerate(bits[1:9])))

    async def send(self, data, stop=1, skew=1.0):
        bit = int(self.bit * skew)
        for byte in data:
            for level in (0, *(byte >> n & 1 for n in range(8)), stop):
                self.dut.rxd_i.value = level
                await Timer(bit, units="ns")
            self.dut.rxd_i.value = 1
        # Until it has come through.
        await Timer(self.bit, units="ns")


async def begin(dut, reader=2):
    vmm = IoVmm(dut)
    dut.reader_i.value = reader
    dut.rxd_i.value = 1
    await reset(dut)
    line = Line(dut)
    await Timer(5 * CYCLE_NS, units="ns")
    await FallingEdge(dut.clk_i)
    return vmm, line


def write_bound(dut, length):
    return length * (10 * int(dut.DIVISOR.value) + 1) + 6


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def sends_each_request_in_one_piece(dut):
    vmm, line = await begin(dut)
    text = bytearray()
    for length in (1, 2, 3, 4, 5, 8, 30):
        data = random.randbytes(length)
        answer = await vmm.ask(random.randrange(4), WRITE, 0, data)
        assert answer.status == DONE and answer.cycles <= write_bound(dut, length)
        text += data
    await Timer(12 * line.bit, units="ns")
    assert line.came == text


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def gives_what_came_to_its_reader_alone(dut):
    vmm, line = await begin(dut)
    data = random.randbytes(7)
    await line.send(data[:4], skew=1.02)
    await line.send(data[4:], skew=0.98)
    await FallingEdge(dut.clk_i)
    for port in (0, 1, 3):
        assert (await vmm.ask(port, READ, length=8)).status == PROTECTED
    answers = [await vmm.ask(2, READ, length=n) for n in (3, 1, 100, 1)]
    assert [(a.status, a.data) for a in answers] == [
        (DONE, data[:3]), (DONE, data[3:4]), (DONE, data[4:]), (DONE, b"")]
    assert all(a.cycles <= 8 + int(dut.QUEUE_BYTES.value) for a in answers)
    # More than there is room for: what comes last is lost. A broken byte is none.
    await line.send(b"123456789")
    await line.send(b"?", stop=0)
    await FallingEdge(dut.clk_i)
    assert (await vmm.ask(2, READ, length=64)).data == b"12345678"
    # What waits for one reader is not for the next one.
    await line.send(b"secret")
    await FallingEdge(dut.clk_i)
    dut.reader_i.value = 1
    await FallingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    assert (await vmm.ask(2, READ, length=8)).status == PROTECTED
    assert (await vmm.ask(1, READ, length=8)).data == b""
    await line.send(b"hello")
    await FallingEdge(dut.clk_i)
    assert (await vmm.ask(1, READ, length=8)).data == b"hello"


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def refuses_what_a_uart_has_not(dut):
    vmm, line = await begin(dut)
    for op, addr, data, length, status in ((CONTROL, 0, b"", 0, BAD_OP), (WRITE, 4, b"x", None, BAD_ADDRESS),
                                           (WRITE, 0, b"", 0, BAD_LENGTH), (READ, 1, b"", 4, BAD_ADDRESS),
                                           (READ, 0, b"", 0, BAD_LENGTH)):
        answer = await vmm.ask(2, op, addr, data, length)
        assert answer.status == status and answer.cycles <= 4
    await Timer(12 * line.bit, units="ns")
    assert not line.came
