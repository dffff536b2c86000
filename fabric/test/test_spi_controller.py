"""The SPI controller with a flash: what software does to it, as a driver would, and what it does wrong."""

import random

import cocotb
from cocotb.triggers import FallingEdge
from cocotb.utils import get_sim_time

from axi import AxiLiteMaster
from common import reset

ID, STATUS, CLEAR, TXDATA, TRANSFER, RXDATA = 0x00, 0x04, 0x08, 0x200, 0x400, 0x404
KEEP, QUAD = 1 << 31, 1 << 30
DUMMY = 1 << 10
BUSY, OVERFLOW, UNDERFLOW, SELECTED = 1, 2, 4, 8


class Flash:
    def __init__(self, dut):
        self.dut, self.master = dut, AxiLiteMaster(dut)

    async def transfer(self, data, receive=0, how=0):
        """Sends bytes, and gives those that were received. `how`: other fields of TRANSFER."""
        words = [int.from_bytes(data[i:i + 4], "little") for i in range(0, len(data), 4)]
        for i, word in enumerate(words):
            await self.master.write(TXDATA + 4 * (i % 128), word)
        await self.master.write(TRANSFER, how | receive << 16 | len(data))
        got = b"".join([(await self.master.read(RXDATA)).to_bytes(4, "little") for _ in range((receive + 3) // 4)])
        assert got[receive:] == bytes(len(got) - receive)
        return got[:receive]

    async def program(self, address, data):
        await self.transfer(b"\x06")
        await self.transfer(b"\x02" + address.to_bytes(3, "big") + data)
        while (await self.transfer(b"\x05", 1))[0] & 1:
            pass

    async def quad_enable(self, enable=True):
        await self.transfer(b"\x50")
        await self.transfer(bytes((0x31, 2 * enable)))

    async def quad_read(self, address, size):
        """From a part that expects the address."""
        return await self.transfer(address.to_bytes(3, "big") + b"\xa0", size, QUAD | 4 * DUMMY)

    async def idle(self):
        while await self.master.read(STATUS) & BUSY:
            pass


async def begin(dut):
    flash = Flash(dut)
    await reset(dut)
    assert await flash.master.read(ID) == 0x5343_0002
    # The part may be as the test before has left it: out of its continuous read mode.
    await flash.transfer(b"\xff")
    await flash.idle()
    return flash


@cocotb.test(timeout_time=500, timeout_unit="us")
async def identifies(dut):
    flash = await begin(dut)
    for _ in range(2):
        assert await flash.transfer(b"\x9f", 3) == b"\xef\x40\x16"
    # In three transfers, between which it stays selected.
    assert await flash.transfer(b"\x9f", 0, KEEP) == b""
    await flash.idle()
    assert await flash.master.read(STATUS) == SELECTED
    assert await flash.transfer(b"", 1, KEEP) == b"\xef"
    assert await flash.transfer(b"", 2) == b"\x40\x16"
    await flash.idle()
    assert await flash.master.read(STATUS) == 0
    assert dut.cs_no.value == 1


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def programs_and_reads(dut):
    flash = await begin(dut)
    memory = bytearray(b"\xff" * 1024)
    for _ in range(4):
        size = random.choice([1, 2, 3, 7, 64, 256])
        address = 256 * random.randrange(4) if size == 256 else random.randrange(1024 - size) & ~0xFF
        data = random.randbytes(size)
        await flash.program(address, data)
        for i, byte in enumerate(data):
            memory[address + i] &= byte
    for _ in range(12):
        size = random.choice([1, 2, 3, 4, 5, 8, 63, 256, 512])
        address = random.randrange(1025 - size)
        assert await flash.transfer(b"\x03" + address.to_bytes(3, "big"), size) == memory[address:address + size]
    assert dut.ignored_o.value == 0
    # On four lines: one that has no right to them gives nothing; and where each goes on from the one before.
    await flash.quad_enable(False)
    await flash.transfer(b"\xeb", 0, KEEP)
    assert await flash.quad_read(0, 4) == b"\xff" * 4
    await flash.quad_enable()
    await flash.transfer(b"\xeb", 0, KEEP)
    for _ in range(12):
        size = random.choice([1, 2, 3, 4, 5, 8, 63, 256, 512])
        address = random.randrange(1025 - size)
        assert await flash.quad_read(address, size) == memory[address:address + size]
    # Until it is told to end that.
    await flash.transfer(b"\xff")
    assert await flash.transfer(b"\x9f", 3) == b"\xef\x40\x16"


@cocotb.test(timeout_time=500, timeout_unit="us")
async def is_as_fast_as_its_clock(dut):
    """A transfer takes 16 cycles for each byte, on four lines 4 and 2 for each clock between, and a few more."""
    flash = await begin(dut)
    for size in (1, 16, 64):
        begun = get_sim_time("ns")
        await flash.transfer(b"\x03\x00\x00\x00", size)
        taken = (get_sim_time("ns") - begun) / 10
        assert taken <= 16 * (4 + size) + 40, (size, taken)
    await flash.quad_enable()
    await flash.transfer(b"\xeb", 0, KEEP)
    await flash.idle()
    for size in (1, 16, 64):
        begun = get_sim_time("ns")
        await flash.quad_read(0, size)
        taken = (get_sim_time("ns") - begun) / 10
        # A word is read in no fewer than 10 cycles.
        assert 24 + 4 * size <= taken <= 24 + 4 * size + 40, (size, taken)


@cocotb.test(timeout_time=500, timeout_unit="us")
async def what_is_not_there_is_not_waited_for(dut):
    flash = await begin(dut)
    # Nothing to receive.
    assert await flash.master.read(RXDATA) == 0
    # More than there is to send.
    await flash.master.write(TXDATA, 0x0000_0006)
    await flash.master.write(TRANSFER, 9)
    assert await flash.master.read(RXDATA) == 0
    assert await flash.master.read(STATUS) == UNDERFLOW
    await flash.master.write(CLEAR, UNDERFLOW)
    assert await flash.master.read(STATUS) == 0
    # What was not read is gone with the next transfer.
    await flash.master.write(TXDATA, 0x9F)
    await flash.master.write(TRANSFER, 8 << 16 | 1)
    await flash.idle()
    assert await flash.master.read(STATUS) == 2 << 16
    assert await flash.transfer(b"\x9f", 3) == b"\xef\x40\x16"
    # More than fits.
    for i in range(129):
        await flash.master.write(TXDATA, i)
    assert await flash.master.read(STATUS) & (OVERFLOW | 0xFF00) == OVERFLOW | 128 << 8


@cocotb.test(timeout_time=500, timeout_unit="us")
async def is_not_selected_between(dut):
    """For 5 cycles at least."""
    flash = await begin(dut)
    high = []

    async def watch():
        count = 0
        while True:
            await FallingEdge(dut.clk_i)
            if dut.cs_no.value == 1:
                count += 1
            elif count:
                high.append(count)
                count = 0

    cocotb.start_soon(watch())
    for _ in range(5):
        await flash.master.write(TXDATA, 0x06)
        await flash.master.write(TRANSFER, 1)
    await flash.idle()
    assert len(high) == 5 and min(high) >= 5, high
