"""The bridge from packets to registers, against a model: each request is carried out whole, in order and with its sender's
number, and answered once, or not at all if it is quiet; what is not right changes nothing but its answer."""

import random

import cocotb
from cocotb.triggers import FallingEdge, Timer

from common import reset
from mesh_side import MeshSide

HERE = 4 << 3 | 1
WRITE, QUIET, FIXED, ERROR = 1 << 15, 1 << 14, 1 << 13, 1 << 13
WORDS = 512


def place(tile):
    return tile // 4 << 3 | tile % 4


class Registers:
    """16 pages of registers, which answer when they like. What is in `broken`, by page and address, answers with errors.
    `accesses` has all: (page, address, data or None)."""

    def __init__(self, dut, pause=0.0):
        self.dut, self.pause = dut, pause
        self.words, self.broken, self.accesses = {}, set(), []
        for name in ("awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rdata", "rresp"):
            getattr(dut, f"m_axil_{name}").value = 0

    async def rest(self):
        while random.random() < self.pause:
            await FallingEdge(self.dut.clk_i)

    async def run(self):
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)
            if dut.rst_ni.value != 1:
                continue
            if dut.m_axil_arvalid.value == 1:
                await self.rest()
                at = divmod(int(dut.m_axil_araddr.value), 0x1000)
                dut.m_axil_arready.value = 1
                await FallingEdge(dut.clk_i)
                dut.m_axil_arready.value = 0
                await self.rest()
                self.accesses.append((*at, None))
                dut.m_axil_rvalid.value = 1
                dut.m_axil_rdata.value = self.words.get(at, 0)
                dut.m_axil_rresp.value = 2 if at in self.broken else 0
                await self.taken(dut.m_axil_rready)
                dut.m_axil_rvalid.value = 0
            elif dut.m_axil_awvalid.value == 1 and dut.m_axil_wvalid.value == 1:
                await self.rest()
                at, data = divmod(int(dut.m_axil_awaddr.value), 0x1000), int(dut.m_axil_wdata.value)
                assert dut.m_axil_wstrb.value == 0xF
                # In either order.
                first, second = random.sample([dut.m_axil_awready, dut.m_axil_wready], 2)
                first.value = 1
                if random.random() < 0.5:
                    await FallingEdge(dut.clk_i)
                    first.value = 0
                second.value = 1
                await FallingEdge(dut.clk_i)
                first.value = second.value = 0
                await self.rest()
                self.accesses.append((*at, data))
                if at not in self.broken:
                    self.words[at] = data
                dut.m_axil_bvalid.value = 1
                dut.m_axil_bresp.value = 2 if at in self.broken else 0
                await self.taken(dut.m_axil_bready)
                dut.m_axil_bvalid.value = 0

    async def taken(self, ready):
        while True:
            await Timer(4, units="ns")
            seen = ready.value == 1
            await FallingEdge(self.dut.clk_i)
            if seen:
                return


class Model:
    """What a request does, and its answer; None for none."""

    def __init__(self):
        self.words, self.accesses = {}, []

    def carry_out(self, tile, packet, broken):
        head = packet[0] & 0xF_FFFF
        count, tag, write = head & 0x1FF, head >> 16 & 15, head & WRITE
        error, data = True, []
        size = 2 + (count if write else 0)
        if len(packet) == size and not head & 0x1E00 and 1 <= count <= 256:
            address = packet[1]
            if not address & 3 and address < 0x1000 and (head & FIXED or address + 4 * count <= 0x1000):
                error = False
                for i in range(count):
                    at = (tile, address + (0 if head & FIXED else 4 * i))
                    self.accesses.append((*at, packet[2 + i] if write else None))
                    error = at in broken
                    if error:
                        break
                    if write:
                        self.words[at] = packet[2 + i]
                    else:
                        data.append(self.words.get(at, 0))
        if head & QUIET:
            return None
        if error or write:
            data = []
        return [place(tile) << 26 | HERE << 20 | tag << 16 | (WRITE if write else 0) | (ERROR if error else 0) | len(data),
                *data]


async def begin(dut, take=1.0, send=1.0, pause=0.0):
    mesh, registers = MeshSide(dut, take, send), Registers(dut, pause)
    await reset(dut)
    cocotb.start_soon(mesh.run())
    cocotb.start_soon(registers.run())
    await FallingEdge(dut.clk_i)
    return mesh, registers


def request(tile, head, address=None, data=()):
    return [HERE << 26 | place(tile) << 20 | head, *([] if address is None else [address]), *data]


@cocotb.test(timeout_time=200, timeout_unit="us")
async def writes_and_reads(dut):
    mesh, registers = await begin(dut)
    mesh.send(request(5, WRITE | 3 << 16 | 3, 0x10, [7, 8, 9]))
    assert await mesh.packet() == [place(5) << 26 | HERE << 20 | 3 << 16 | WRITE]
    assert registers.words == {(5, 0x10): 7, (5, 0x14): 8, (5, 0x18): 9}
    mesh.send(request(5, 2, 0x14))
    assert await mesh.packet() == [place(5) << 26 | HERE << 20 | 2, 8, 9]
    mesh.send(request(5, FIXED | 2, 0x18))
    assert await mesh.packet() == [place(5) << 26 | HERE << 20 | 2, 9, 9]
    # Another's page has none of it.
    mesh.send(request(6, 1, 0x14))
    assert await mesh.packet() == [place(6) << 26 | HERE << 20 | 1, 0]
    mesh.send(request(5, WRITE | QUIET | 1, 0x14, [1]))
    mesh.send(request(5, 256, 0x0))
    answer = await mesh.packet()
    assert len(answer) == 257 and answer[1 + 5] == 1


async def requests(dut, take, send, pause):
    """Of all tiles, one after the other, right and wrong ones."""
    mesh, registers = await begin(dut, take, send, pause)
    model = Model()
    for _ in range(300):
        tile, count = random.randrange(16), random.choice([1, 1, 2, 3, 8, 40])
        head = random.getrandbits(4) << 16 | count
        for bit in (WRITE, QUIET, FIXED):
            head |= bit * random.getrandbits(1)
        address = 4 * random.randrange(24)
        registers.broken = {(random.randrange(16), 4 * random.randrange(32)) for _ in range(60)}
        if random.random() < 0.1:
            head |= 1 << random.randrange(9, 13)
        if random.random() < 0.1:
            head &= ~0x1FF
        if random.random() < 0.1:
            address = random.choice([2, 0x1000, 0xFFC, 1 << 31])
        data = [random.getrandbits(32) for _ in range(head & 0x1FF if head & WRITE else 0)]
        if random.random() < 0.1:
            data = data[1:] if random.getrandbits(1) else [*data, 5]
        packet = request(tile, head, None if random.random() < 0.05 else address, data)
        wanted = model.carry_out(tile, packet, registers.broken)
        mesh.send(packet)
        if wanted is None:
            # The one behind it has an answer, when that is over.
            await request_over(mesh, model, tile)
        else:
            assert await mesh.packet() == wanted, [hex(word) for word in packet]
    assert registers.accesses == model.accesses
    assert not mesh.packets


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def random_requests(dut):
    await requests(dut, 1.0, 1.0, 0.0)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def random_requests_slowly(dut):
    await requests(dut, 0.4, 0.6, 0.5)


async def request_over(mesh, model, tile):
    packet = request(tile, 9, 0x800)
    mesh.send(packet)
    assert await mesh.packet() == model.carry_out(tile, packet, ())


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def floods(dut):
    """More than there is room for: each packet is carried out whole or lost, and those of strangers are dropped."""
    mesh, registers = await begin(dut, pause=0.8)
    lost, sent = 0, 60
    for i in range(sent):
        mesh.send(request(i % 16, WRITE | 30, 0x0, [i << 8 | k for k in range(30)]))
        mesh.send([HERE << 26 | (7 << 3 | 7) << 20 | WRITE | 1, 0, 0])
    seen = 0
    while mesh.queue or seen < 100:
        await FallingEdge(dut.clk_i)
        lost += dut.lost_o.value == 1
        seen = seen + 1 if not mesh.queue else 0
    answers = 0
    while True:
        try:
            answer = await mesh.packet()
        except AssertionError:
            break
        assert not answer[0] & ERROR
        answers += 1
    assert lost > 0 and answers + lost == sent
    assert len(registers.accesses) == 30 * answers
    for i in range(answers):
        part = registers.accesses[30 * i:30 * i + 30]
        assert [at for _, at, _ in part] == list(range(0, 120, 4))
        assert {(data >> 8) % 16 for _, _, data in part} == {part[0][0]}
    # There is room again.
    mesh.send(request(3, 1, 0x0))
    assert len(await mesh.packet()) == 2
