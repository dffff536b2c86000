"""Ethernet with its I/O VMM, against frames that Python makes and checks; zlib has the check sequence."""

import random
import struct
import zlib
from pathlib import Path

import cocotb
from cocotb.triggers import FallingEdge, Timer

from common import reset
from io_vmm import BAD_ADDRESS, BAD_LENGTH, BAD_OP, CONTROL, DONE, READ, WRITE, IoVmm

MACS = tuple(bytes((0x02, 0, 0, 0, 0, n)) for n in (1, 2, 3, 4))
ALL = b"\xff" * 6
PREAMBLE = b"\x55" * 7 + b"\xd5"


def frame(to, payload, source=b"\x02\x99\x99\x99\x99\x99", kind=0x88B5):
    """A frame without check sequence, of a type for experiments."""
    return to + source + struct.pack(">H", kind) + payload


def on_the_wire(data):
    data = data.ljust(60, b"\0")
    return data + struct.pack("<I", zlib.crc32(data))


class Wire:
    """The PHY: frames that were sent, with the cycles between them; sends frames."""

    def __init__(self, dut):
        self.dut, self.sent, self.gaps = dut, [], []
        dut.rx_dv_i.value = dut.rx_er_i.value = dut.rxd_i.value = 0
        cocotb.start_soon(self.listen())

    async def listen(self):
        data, gap = bytearray(), 0
        while True:
            await FallingEdge(self.dut.clk_i)
            if self.dut.tx_en_o.value == 1:
                if not data and self.sent:
                    self.gaps.append(gap)
                data.append(int(self.dut.txd_o.value))
                gap = 0
            else:
                if data:
                    self.sent.append(bytes(data))
                    data = bytearray()
                gap += 1

    async def receive(self, data, preamble=PREAMBLE, error_at=None):
        for n, byte in enumerate(preamble + data):
            self.dut.rx_dv_i.value = 1
            self.dut.rxd_i.value = byte
            self.dut.rx_er_i.value = int(n == error_at)
            await FallingEdge(self.dut.clk_i)
        self.dut.rx_dv_i.value = self.dut.rx_er_i.value = 0
        self.dut.rxd_i.value = random.getrandbits(8)
        for _ in range(12):
            await FallingEdge(self.dut.clk_i)


async def begin(dut):
    vmm = IoVmm(dut)
    dut.mac_i.value = sum(int.from_bytes(mac, "big") << 48 * n for n, mac in enumerate(MACS))
    wire = Wire(dut)
    await reset(dut)
    return vmm, wire


def write_bound(length):
    """With the rest of the frame before: at most its padding, check sequence and gap."""
    return 46 + 4 + 12 + 8 + length + 8


def pcap(frames):
    """A capture of frames that tcpdump, tshark and scapy read: link type 1, Ethernet."""
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for n, data in enumerate(frames):
        out += struct.pack("<IIII", 0, n, len(data), len(data)) + data
    return out


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def sends_whole_frames(dut):
    vmm, wire = await begin(dut)
    expected = []
    for port, size in ((0, 14), (1, 15), (2, 59), (3, 60), (0, 61), (1, 64), (2, 1038), (3, 1514), (3, 14)):
        data = frame(random.randbytes(6), random.randbytes(size - 14))
        answer = await vmm.ask(port, WRITE, 0, data)
        assert answer.status == DONE and answer.cycles <= write_bound(size), (size, answer)
        dut._log.info("frame of %d bytes: %d cycles, bound %d", size, answer.cycles, write_bound(size))
        # Whatever source it names, it is from the port.
        expected.append(data[:6] + MACS[port] + data[12:])
    await Timer(1, units="us")
    assert wire.sent == [PREAMBLE + on_the_wire(data) for data in expected]
    assert all(gap >= 12 for gap in wire.gaps)
    # For other tools, without preamble and check sequence, as captures are.
    Path("sent.pcap").write_bytes(pcap([data[8:-4] for data in wire.sent]))


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def gives_each_port_its_frames(dut):
    vmm, wire = await begin(dut)
    nothing = await vmm.ask(0, READ, 0, length=1514)
    assert (nothing.status, nothing.data) == (DONE, b"") and nothing.cycles <= 8
    mine, longest, short = (frame(MACS[1], random.randbytes(n)) for n in (100, 1500, 1))
    await wire.receive(on_the_wire(mine))
    for port in (0, 2, 3):
        assert (await vmm.ask(port, READ, 0, length=1514)).data == b""
    # What the port has not read stays; the next is lost, for this port alone.
    await wire.receive(on_the_wire(longest))
    await wire.receive(on_the_wire(frame(MACS[0], b"zero")))
    answer = await vmm.ask(1, READ, 0, length=1514)
    assert answer.data == mine and answer.cycles <= len(mine) + 8
    assert (await vmm.ask(0, READ, 0, length=20)).data == frame(MACS[0], b"zero")[:20].ljust(20, b"\0")
    assert (await vmm.ask(0, READ, 0, length=1514)).data == b""
    await wire.receive(on_the_wire(longest))
    answer = await vmm.ask(1, READ, 0, length=1514)
    assert answer.data == longest and answer.cycles <= 1514 + 8
    await wire.receive(on_the_wire(short))
    assert (await vmm.ask(1, READ, 0, length=1514)).data == short.ljust(60, b"\0")
    await wire.receive(on_the_wire(frame(ALL, b"to all")))
    for port in range(4):
        assert (await vmm.ask(port, READ, 0, length=1514)).data == frame(ALL, b"to all").ljust(60, b"\0")


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def drops_what_is_not_whole(dut):
    vmm, wire = await begin(dut)
    good = on_the_wire(frame(MACS[2], random.randbytes(60)))
    for n in (0, 7, 13, len(good) - 1):
        bad = bytearray(good)
        bad[n] ^= 1 << random.randrange(8)
        await wire.receive(bytes(bad))
    await wire.receive(good[:-1])
    await wire.receive(good, error_at=40)
    await wire.receive(good, preamble=b"\x55" * 3)
    await wire.receive(good, preamble=b"\xd5")
    await wire.receive(b"")
    # Their check sequences are right.
    runt, giant = MACS[2] + b"runt", frame(MACS[2], random.randbytes(1501))
    await wire.receive(runt + struct.pack("<I", zlib.crc32(runt)))
    await wire.receive(giant + struct.pack("<I", zlib.crc32(giant)))
    # Nearly the port's address, nearly all's, and a group's.
    for to in (MACS[2][:5] + b"\x83", ALL[:5] + b"\xfe", b"\x01\0\x5e\0\0\1"):
        await wire.receive(on_the_wire(frame(to, b"")))
    for port in range(4):
        assert (await vmm.ask(port, READ, 0, length=1514)).data == b""
    await wire.receive(good, preamble=b"\x55\xd5")
    assert (await vmm.ask(2, READ, 0, length=1514)).data == good[:-4]


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def refuses_what_is_no_frame(dut):
    vmm, wire = await begin(dut)
    for op, addr, data, length, status in (
            (CONTROL, 0, b"", 0, BAD_OP), (WRITE, 1, bytes(60), None, BAD_ADDRESS), (READ, 1, b"", 60, BAD_ADDRESS),
            (READ, 0, b"", 0, BAD_LENGTH), (WRITE, 0, b"", 0, BAD_LENGTH), (WRITE, 0, bytes(13), None, BAD_LENGTH),
            (WRITE, 0, bytes(1515), None, BAD_LENGTH)):
        answer = await vmm.ask(1, op, addr, data, length)
        assert answer.status == status and answer.cycles <= 4
    await Timer(1, units="us")
    assert not wire.sent


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def sends_while_it_receives(dut):
    vmm, wire = await begin(dut)
    data = [frame(MACS[n], random.randbytes(200)) for n in range(4)]

    # What begins with the reset may be the rest of something.
    await Timer(20, units="ns")
    await FallingEdge(dut.clk_i)

    async def receive():
        for one in data:
            await wire.receive(on_the_wire(one))

    receiving = cocotb.start_soon(receive())
    for port in range(4):
        assert (await vmm.ask(port, WRITE, 0, frame(ALL, random.randbytes(150)))).status == DONE
    await receiving
    for port in range(4):
        assert (await vmm.ask(port, READ, 0, length=1514)).data == data[port]
    assert len(wire.sent) == 4 and all(zlib.crc32(f[8:]) == 0x2144DF1C for f in wire.sent)
