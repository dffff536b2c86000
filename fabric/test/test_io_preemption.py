"""Ports that share a flash by fixed priority: requests are preempted, and data and times are what they are without."""

import random

import cocotb
from cocotb.triggers import Edge, FallingEdge, Timer

from common import reset
from io_vmm import CONTROL, DONE, LENGTH_MAX, READ, WRITE

SECTOR, PAGE, AREA = 4096, 256, 2 * 4096
PORTS = 3
FIXED_PRIORITY = 1
# In the address of a Write: more is to follow.
MORE = 1 << 31
# From an ask to the turn and from the turn to the response beside what the I/O VMM takes.
AROUND = 8


def read_bound(length):
    """A read's turn, with an opcode (docs/src/reference/io-devices.md)."""
    return 4 * (10 + length) + 10


# What a read delays a request of a higher priority by, at most: the rest of the word that moves, and one more.
READ_PIECE = read_bound(8)


class Ports:
    """The ports, and what each area has."""

    def __init__(self, dut):
        self.dut = dut
        self.go, self.asks = 0, [0] * PORTS
        self.areas = [bytearray(random.randbytes(AREA)) for _ in range(PORTS)]

    async def begin(self):
        dut = self.dut
        dut.go_i.value = 0
        dut.ask_i.value = 0
        dut.policy_i.value = FIXED_PRIORITY
        content = b"".join(self.areas)
        for page in range(len(content) // PAGE):
            dut.u_part.memory[page].value = int.from_bytes(content[page * PAGE:][:PAGE], "little")
        await reset(dut)

    @property
    def suspensions(self):
        return [int(self.dut.suspensions_o.value) >> 32 * port & 0xFFFF_FFFF for port in range(PORTS)]

    async def ask(self, port, op, addr, data=b"", length=None):
        """Status, data and cycles of a request; called at a falling edge of the clock."""
        dut = self.dut
        length = len(data) if length is None else length
        u_port = getattr(dut, f"u_port_{port}")
        padded = data + bytes((0xA5, 0x5A, 0xC3))
        for word in range((len(data) + 3) // 4):
            u_port.sends[word].value = int.from_bytes(padded[4 * word:4 * word + 4], "little")
        self.asks[port] = port << 45 | op << 43 | length << 32 | addr
        self.go |= 1 << port
        dut.ask_i.value = sum(ask << 51 * n for n, ask in enumerate(self.asks))
        dut.go_i.value = self.go
        await FallingEdge(dut.clk_i)
        self.go &= ~(1 << port)
        dut.go_i.value = self.go
        while not int(dut.done_o.value) >> port & 1:
            await Edge(dut.done_o)
        await FallingEdge(dut.clk_i)
        cycles = int(dut.cycles_o.value) >> 32 * port & 0xFFFF_FFFF
        answer = int(dut.answer_o.value) >> 15 * port & 0x7FFF
        status, length = answer >> 11, answer & 0x7FF
        came = b"".join(int(u_port.came[n].value).to_bytes(4, "little") for n in range((length + 3) // 4))
        return status, came[:length], cycles

    async def read(self, port, addr, length):
        status, data, cycles = await self.ask(port, READ, addr, length=length)
        assert (status, data) == (DONE, self.areas[port][addr:addr + length]), (port, addr, length)
        return cycles

    async def write(self, port, addr, data, more=False):
        status, _, cycles = await self.ask(port, WRITE, addr | (MORE if more else 0), data)
        assert status == DONE
        for n, byte in enumerate(data):
            self.areas[port][addr + n] &= byte
        return cycles

    async def erase(self, port, addr):
        status, _, _ = await self.ask(port, CONTROL, addr, length=0)
        assert status == DONE
        self.areas[port][addr:addr + SECTOR] = b"\xff" * SECTOR

    def in_part(self):
        pages = 3 * AREA // PAGE
        return b"".join(int(self.dut.u_part.memory[n].value).to_bytes(PAGE, "little") for n in range(pages))


async def pause(dut, cycles):
    """Some cycles, or one; to a falling edge of the clock."""
    await Timer(10 * max(cycles, 1) - 5, units="ns")
    await FallingEdge(dut.clk_i)


async def begin(dut):
    ports = Ports(dut)
    await ports.begin()
    await FallingEdge(dut.clk_i)
    # After reset the part is told what it needs.
    await ports.read(0, 0, 1)
    return ports


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_read_is_preempted_behind_a_word(dut):
    """Whenever a read of a higher priority is asked for, it waits for a word, and both get all their data."""
    ports = await begin(dut)
    longest = 0
    for length in (1, 64):
        for delay in (*range(80), *random.choices(range(80, 1000), k=10)):
            low = cocotb.start_soon(ports.read(2, random.randrange(AREA - 256), 256))
            await pause(dut, 1 + delay)
            cycles = await ports.read(0, random.randrange(AREA - length), length)
            longest = max(longest, cycles - read_bound(length))
            assert cycles <= READ_PIECE + read_bound(length) + AROUND, (length, delay, cycles)
            await low
    dut._log.info("reads of a lower priority delay one by %d cycles at most", longest)
    assert ports.suspensions[2] > 100 and ports.suspensions[:2] == [0, 0]


@cocotb.test(timeout_time=50, timeout_unit="ms")
async def a_write_is_preempted_behind_a_page(dut):
    """A read waits for one page that is told to the part, and for what the part was told before; none of it is lost."""
    ports = await begin(dut)
    program = int(dut.PROGRAM_CYCLES.value)
    # A page on the wire; what the part does with it, until it is known to have done so.
    page, busy = 16 * (5 + PAGE) + 60, program + program // 10 + 100
    for delay in random.choices(range(9000), k=8):
        addr = random.randrange(AREA - LENGTH_MAX)
        low = cocotb.start_soon(ports.write(1, addr, random.randbytes(LENGTH_MAX)))
        await pause(dut, 1 + delay)
        cycles = await ports.read(0, random.randrange(AREA - 4), 4)
        assert cycles <= page + 2 * busy + read_bound(4), (delay, cycles)
        await low
        assert ports.in_part()[AREA:][addr:addr + LENGTH_MAX] == ports.areas[1][addr:addr + LENGTH_MAX]
    assert ports.suspensions[1] > 4


@cocotb.test(timeout_time=50, timeout_unit="ms")
async def a_request_is_preempted_again_and_again(dut):
    """A read of the lowest priority goes on while both others ask; one that is preempted preempts."""
    ports = await begin(dut)
    low = cocotb.start_soon(ports.read(2, 3, LENGTH_MAX))
    await pause(dut, 300)
    middle = cocotb.start_soon(ports.read(1, 7, 1001))
    for _ in range(10):
        await pause(dut, random.randrange(200))
        await ports.read(0, 1, 30)
    await middle
    await low
    assert ports.suspensions[1] > 5 and ports.suspensions[2] >= 1


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def random_requests_of_all_ports(dut):
    """Reads, writes, joined writes and erasures of three ports at once, while the policy changes."""
    ports = await begin(dut)

    async def client(port):
        at = 0
        for _ in range(20):
            await pause(dut, random.randrange(1, 500 * (PORTS - port)))
            length = random.choice((1, 3, 4, 5, 64, random.randint(1, 700), LENGTH_MAX))
            addr = random.choice((at, random.randrange(AREA - length))) if at + length < AREA else 0
            what = random.choice((READ, READ, WRITE, MORE, MORE, CONTROL))
            if what == READ:
                await ports.read(port, addr, length)
            elif what == CONTROL:
                await ports.erase(port, addr // SECTOR * SECTOR)
            else:
                await ports.write(port, addr, random.randbytes(length), more=what == MORE)
                at = addr + length
        await ports.read(port, 0, 1)

    async def policies():
        while True:
            await pause(dut, random.randrange(1, 3000))
            dut.policy_i.value = random.choice((FIXED_PRIORITY, FIXED_PRIORITY, FIXED_PRIORITY, 0, 2))

    changes = cocotb.start_soon(policies())
    clients = [cocotb.start_soon(client(port)) for port in range(PORTS)]
    for one in clients:
        await one
    changes.kill()
    assert ports.in_part() == b"".join(ports.areas)
    assert dut.ignored_o.value == 0
    assert ports.suspensions[0] == 0 and ports.suspensions[2] > 5
