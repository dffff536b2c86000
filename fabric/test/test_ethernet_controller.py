"""The Ethernet controller, its wires looped back: frames come as they were sent, whole; and what is not sent or read as it
should be does no harm."""

import random
import zlib

import cocotb
from cocotb.triggers import FallingEdge, Timer

from axi import AxiLiteMaster
from common import reset

ID, STATUS, PATIENCE, RELEASE, RX_LENGTH, RXDATA, FRAME, TXDATA = 0, 4, 8, 12, 0x1FC, 0x200, 0x7FC, 0x800
SENDING, RECEIVED = 1, 2


class Wire:
    """What is sent, frame by frame, and sent back unless it is cut."""

    def __init__(self, dut):
        self.dut, self.frames, self.cut, self.noise = dut, [], False, False
        for name in ("rx_dv_i", "rx_er_i", "rxd_i"):
            getattr(dut, name).value = 0

    async def run(self):
        dut, frame = self.dut, []
        while True:
            await FallingEdge(dut.clk_i)
            there, byte = dut.tx_en_o.value == 1, int(dut.txd_o.value)
            dut.rx_dv_i.value = there and not self.cut
            dut.rxd_i.value = byte ^ (self.noise and len(frame) == 30)
            if there:
                frame.append(byte)
            elif frame:
                assert bytes(frame[:8]) == b"\x55" * 7 + b"\xd5"
                data, check = bytes(frame[8:-4]), bytes(frame[-4:])
                assert zlib.crc32(data) == int.from_bytes(check, "little")
                self.frames.append(data)
                frame = []


async def begin(dut):
    master, wire = AxiLiteMaster(dut), Wire(dut)
    await reset(dut)
    cocotb.start_soon(wire.run())
    assert await master.read(ID) == 0x4543_0001
    return master, wire


def words(data):
    return [int.from_bytes(data[i:i + 4], "little") for i in range(0, len(data), 4)]


async def send(master, data):
    await master.write(FRAME, len(data))
    for i, word in enumerate(words(data)):
        await master.write(TXDATA + 4 * i, word)


async def receive(master):
    length = await master.read(RX_LENGTH)
    got = b"".join([(await master.read(RXDATA + i % 512)).to_bytes(4, "little") for i in range(0, length, 4)])
    return got[:length]


@cocotb.test(timeout_time=400, timeout_unit="us")
async def frames_come_as_they_were_sent(dut):
    master, wire = await begin(dut)
    assert await master.read(RX_LENGTH) == 0
    assert await master.read(RXDATA) == 0
    await master.write(PATIENCE, 4_000)
    for size in (60, 61, 62, 63, 64, 14, 1, 1514, 200):
        data = random.randbytes(size)
        await send(master, data)
        whole = data + bytes(max(60 - size, 0))
        assert await receive(master) == whole
        assert wire.frames.pop() == whole and not wire.frames
        # Read to its end, and so gone.
        await master.write(PATIENCE, 10)
        assert await master.read(RX_LENGTH) == 0
        assert await master.read(RXDATA) == 0
        await master.write(PATIENCE, 4_000)
    assert await master.read(STATUS) == 0


@cocotb.test(timeout_time=400, timeout_unit="us")
async def one_waits_and_others_are_lost(dut):
    master, wire = await begin(dut)
    frames = [random.randbytes(80) for _ in range(4)]
    for frame in frames:
        await send(master, frame)
    while await master.read(STATUS) & SENDING:
        pass
    assert wire.frames == frames
    for _ in range(10):
        await FallingEdge(dut.clk_i)
    assert await master.read(STATUS) == RECEIVED | 3 << 8
    assert await receive(master) == frames[0]
    # One that is thrown away.
    await send(master, frames[1])
    await master.write(PATIENCE, 500)
    assert await master.read(RX_LENGTH) == 80
    await master.write(RELEASE, 1)
    await master.write(PATIENCE, 0)
    assert await master.read(RX_LENGTH) == 0
    assert await master.read(RXDATA) == 0


@cocotb.test(timeout_time=400, timeout_unit="us")
async def what_is_wrong_is_nothing(dut):
    master, wire = await begin(dut)
    # A frame that is not whole, no frame, and one too long.
    await master.write(FRAME, 100)
    await master.write(TXDATA, 1)
    for size in (0, 1515):
        await master.write(FRAME, size)
        for i in range(380):
            await master.write(TXDATA + 4 * i, i)
    assert await master.read(STATUS) == 0 and not wire.frames
    # One that was spoilt on the wire.
    wire.noise = True
    await send(master, bytes(70))
    while await master.read(STATUS) & SENDING:
        pass
    await Timer(200, units="ns")
    assert await master.read(STATUS) == 0 and len(wire.frames) == 1
    wire.noise = False
    await send(master, b"z" * 70)
    await master.write(PATIENCE, 500)
    assert await receive(master) == b"z" * 70
