"""A hart's interface to the mesh, against a model: packets go out whole, as they were written, from this place; what
arrives is there whole or counted; and no response of the I/O hypervisor is ever lost."""

import random
from collections import deque

import cocotb
from cocotb.triggers import FallingEdge, Timer

from axi import SLVERR, AxiLiteMaster
from common import reset

(ID, STATUS, PLACES, ROOM, PACKET, HEADER, RESPONSE, MESSAGE, IRQ_ENABLE, BUFFER) = (
    0x00, 0x04, 0x08, 0x0C, 0x10, 0x14, 0x18, 0x1C, 0x20, 0x800)
HERE, IO, OTHER, NOWHERE = 0, 1, 3 << 3 | 2, 7 << 3
DEPTH, WORDS = 4, 512
SENDING, ASKED, RESPONSE_WAITS, MESSAGE_WAITS, RESPONSE_BEGUN, MESSAGE_BEGUN = (1 << i for i in range(6))
READ, WRITE, QUIET = 0, 1 << 15, 1 << 14


class Router:
    """The mesh beside the interface: takes packets, slowly where told, and sends those in `queue`, whatever becomes of
    them."""

    def __init__(self, dut, take=1.0, send=1.0):
        self.dut, self.take, self.send = dut, take, send
        self.packets, self.queue = [], deque()
        self.coming, self.kept = [], 0
        self.credits = DEPTH
        for name in ("out_credit_i", "in_valid_i", "in_last_i", "in_data_i"):
            getattr(dut, name).value = 0
        cocotb.start_soon(self.run())

    def give(self, source, words):
        """Sends a packet: of its first word the lower 20 bits count."""
        flits = [HERE << 26 | source << 20 | words[0] & 0xF_FFFF, *words[1:]]
        self.queue.extend((flit, i == len(flits) - 1) for i, flit in enumerate(flits))
        return [1 << 31 | flits[0], *words[1:]]

    async def given(self):
        while self.queue:
            await FallingEdge(self.dut.clk_i)
        for _ in range(4):
            await FallingEdge(self.dut.clk_i)

    async def run(self):
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)
            credit = self.kept > 0 and random.random() < self.take
            self.kept -= credit
            dut.out_credit_i.value = credit
            sends = bool(self.queue) and self.credits > 0 and random.random() < self.send
            if sends:
                dut.in_data_i.value, dut.in_last_i.value = self.queue.popleft()
                self.credits -= 1
            dut.in_valid_i.value = sends
            await Timer(4, units="ns")
            if dut.rst_ni.value != 1:
                continue
            self.credits += dut.in_credit_o.value == 1
            if dut.out_valid_o.value == 1:
                self.kept += 1
                assert self.kept <= DEPTH, "a flit for which there is no room"
                self.coming.append(int(dut.out_data_o.value))
                if dut.out_last_o.value == 1:
                    self.packets.append(self.coming)
                    self.coming = []


class Hart:
    def __init__(self, dut, master):
        self.dut, self.master = dut, master
        self.buffer = [None] * WORDS

    async def fill(self, first, words):
        await self.master.writes([(BUFFER + 4 * ((first + i) % WORDS), word, 0xF) for i, word in enumerate(words)])
        for i, word in enumerate(words):
            self.buffer[(first + i) % WORDS] = word

    async def send(self, to, head, first, count):
        """Two stores. Bits that say where it comes from are not the hart's: any are written."""
        await self.master.write(PACKET, count << 16 | first)
        await self.master.write(HEADER, to << 26 | random.getrandbits(6) << 20 | head)
        return [to << 26 | HERE << 20 | head, *(self.buffer[(first + i) % WORDS] for i in range(count))]

    async def status(self):
        return await self.master.read(STATUS)

    async def idle(self):
        while await self.status() & SENDING:
            pass
        await FallingEdge(self.dut.clk_i)

    async def take(self, register, count):
        return [data for _, data in await self.master.reads([register] * count)]


async def begin(dut, **how):
    dut.reach_i.value = 1 << HERE | 1 << IO | 1 << OTHER
    router, hart = Router(dut, **how), Hart(dut, AxiLiteMaster(dut))
    await reset(dut)
    return router, hart


@cocotb.test(timeout_time=100, timeout_unit="us")
async def is_identified(dut):
    _, hart = await begin(dut)
    assert await hart.master.read(ID) == 0x4D49_0001
    assert await hart.master.read(PLACES) == IO << 8 | HERE
    assert await hart.master.read(ROOM) == WORDS << 16 | WORDS
    assert (await hart.master.reads([BUFFER]))[0][0] == SLVERR


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def packets_go_out_as_they_were_written(dut):
    router, hart = await begin(dut, take=0.7)
    await hart.fill(0, [random.getrandbits(32) for _ in range(WORDS)])
    refused = 0
    for _ in range(60):
        first, count = random.randrange(WORDS), random.choice((0, 1, 2, 3, random.randrange(40)))
        if random.random() < 0.5:
            await hart.fill(first, [random.getrandbits(32) for _ in range(count)])
        to = random.choice((HERE, OTHER, OTHER, NOWHERE))
        expected = await hart.send(to, random.getrandbits(20), first, count)
        if to != NOWHERE and count > 12 and random.random() < 0.5:
            # While that one is being sent, if it is: the words go on, and so does the packet.
            if await hart.status() & SENDING:
                await hart.send(OTHER, 0, 0, 0)
                refused += 1
        await hart.idle()
        refused += to == NOWHERE
        assert (router.packets.pop() if router.packets else None) == (None if to == NOWHERE else expected)
        assert not router.packets
    assert await hart.status() == refused << 8
    longest = await hart.send(OTHER, 5, 100, 511)
    await hart.idle()
    assert router.packets == [longest]


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def messages_are_whole_or_counted(dut):
    router, hart = await begin(dut, send=0.8)
    await hart.master.write(IRQ_ENABLE, 2)
    kept, used, lost = deque(), 0, 0
    for size in (1, 2, 300, 207, 1, 2, 1, 5, 600):
        packet = router.give(OTHER, [random.getrandbits(32) for _ in range(size)])
        if used + size <= WORDS:
            kept.append(packet)
            used += size
        else:
            lost += 1
    assert lost == 3
    await router.given()
    assert dut.irq_o.value == 1
    for packet in kept:
        assert await hart.take(MESSAGE, 1) == packet[:1]
        assert await hart.status() == lost << 16 | (MESSAGE_BEGUN if len(packet) > 1 else 0) | (
            0 if packet is kept[-1] and len(packet) == 1 else MESSAGE_WAITS)
        assert await hart.take(MESSAGE, len(packet) - 1) == packet[1:]
    assert await hart.take(MESSAGE, 1) == [0]
    assert dut.irq_o.value == 0
    # From now on the hart takes while they come.
    kept = [router.give(OTHER, [random.getrandbits(32) for _ in range(random.randint(1, 60))]) for _ in range(20)]
    for packet in kept:
        while not await hart.status() & MESSAGE_WAITS:
            pass
        assert await hart.take(MESSAGE, len(packet)) == packet
    assert await hart.status() == lost << 16


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def responses_always_find_room(dut):
    """Requests at random, quiet or not, and an I/O hypervisor that answers whatever it may, while messages flood."""
    router, hart = await begin(dut, send=0.9)
    await hart.master.write(IRQ_ENABLE, 1)
    requests = expected = refused = taken = 0
    asked, waiting, under_way = False, deque(), deque()
    for _ in range(150):
        quiet, op = random.random() < 0.7, random.choice((READ, WRITE))
        length = random.choice((0, 1, 10, 400, 1536, 2047)) if op == READ else 0
        count = random.choice((1, 2, 2, 30, 200, 400))
        answer = 1 if op != READ or quiet else 1 + (length + 3) // 4
        free = WORDS - sum(map(len, waiting)) - expected
        fits = not asked and requests + count + 1 <= (WORDS - 2 if quiet else WORDS) and answer <= free
        assert await hart.master.read(ROOM) == free << 16 | WORDS - requests
        await hart.send(IO, op | (QUIET if quiet else 0) | length, 0, count)
        await hart.idle()
        assert len(router.packets) == fits
        router.packets.clear()
        if fits:
            requests, expected, asked = requests + count + 1, expected + answer, not quiet
            under_way.append((quiet, op, length))
        else:
            refused = min(refused + 1, 255)
        if random.random() < 0.3:
            router.give(OTHER, [0] * 50)
        while under_way and (asked or random.random() < 0.4):
            quiet, op, length = under_way.popleft()
            if quiet and random.random() < 0.5:
                continue
            done = op == READ and not quiet and random.random() < 0.8
            words = [random.getrandbits(32) for _ in range((length + 3) // 4)] if done else []
            head = length if done else 8 << 13 | quiet
            waiting.append(router.give(IO, [head, *words]))
            expected -= 1 if quiet else 0
            if not quiet:
                requests, expected, asked = 0, 0, False
        await router.given()
        assert dut.irq_o.value == bool(waiting)
        while waiting and random.random() < 0.6:
            packet = waiting.popleft()
            assert await hart.take(RESPONSE, len(packet)) == packet
            taken += 1
        status = await hart.status()
        assert status >> 8 & 0xFF == refused and status & (ASKED | RESPONSE_BEGUN) == 0
    assert taken > 30 and refused > 20
