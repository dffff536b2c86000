"""The flash's I/O VMM and driver with a part behind them, against bytes that are written and erased in Python."""

import random

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, Timer

from common import reset
from io_vmm import (BAD_ADDRESS, BAD_LENGTH, CONTROL, DEVICE_FAILED, DONE, LENGTH_MAX, PROTECTED, READ, WRITE, IoVmm)

SECTOR, BLOCK, PAGE = 4096, 65536, 256
# In the address of a Write: more is to follow.
MORE = 1 << 31
# First sector, sectors, writable. The third reads what the second writes, the last has nothing.
AREAS = ((0, 16, True), (16, 4, True), (16, 4, False), (0, 0, True))


def overhead(dut):
    """Cycles of a byte on the wire, and of a command beside its bytes."""
    return 16 * int(dut.HALF_CYCLES.value), 5 + 1


def read_bound(dut, length, goes_on=False):
    byte, rest = overhead(dut)
    # Behind anything but a read it has an opcode. Before: what is left of the command before, and what is asked for;
    # behind: its response.
    return (0 if goes_on else byte) + byte // 4 * (6 + length) + rest + 4


def leave_bound(dut):
    """Before a command that is not a read, behind one that is."""
    byte, rest = overhead(dut)
    return byte + rest


def poll_bound(dut, busy):
    """From a command that makes the part busy to the answer that says that it is not any more."""
    byte, rest = overhead(dut)
    return busy + 2 * (2 * byte + rest + 2) + 2


def write_bound(dut, addr, length, busy):
    byte, rest = overhead(dut)
    pages = (addr % PAGE + length + PAGE - 1) // PAGE
    # Bytes come into the page first, and go over the wire when the page is full.
    return (12 + leave_bound(dut) + (byte + 1) * length
            + pages * (byte + rest + 4 * byte + rest + 8 + poll_bound(dut, busy)))


def before_bound(dut, busy):
    """Before a request: what is kept for the port is programmed, when the part has done what it was told last."""
    return poll_bound(dut, busy) + write_bound(dut, 0, PAGE - 1, busy)


def erase_bound(dut, busy):
    byte, rest = overhead(dut)
    return 12 + leave_bound(dut) + byte + rest + 4 * byte + rest + 4 + poll_bound(dut, busy)


class Wire:
    """What goes over the wire: how many commands the part ignored; with `bits`, the bytes of each, as far as the driver
    sends them, that the clock keeps to mode 0, and on how many lines. A read that goes on from another has no opcode."""

    def __init__(self, dut, bits):
        self.dut, self.commands, self.ignored = dut, [], 0
        if bits:
            cocotb.start_soon(self.commands_of())
        cocotb.start_soon(self.ignored_ones())

    async def commands_of(self):
        dut = self.dut
        while True:
            await FallingEdge(dut.cs_no)
            assert dut.sck_o.value == 0
            clocks = []
            over = cocotb.start_soon(self.until_deselected())
            while True:
                rise = RisingEdge(dut.sck_o)
                if await cocotb.triggers.First(rise, over.join()) is not rise:
                    break
                clocks.append((int(dut.io_o.value), int(dut.io_oe_o.value)))
            single = [io for io, drives in clocks if drives == 0b1101]
            quad = [io for io, drives in clocks if drives == 0b1111]
            # First one line, then four, and then four that are the part's.
            assert [drives for _, drives in clocks] == (len(single) * [0b1101] + len(quad) * [0b1111]
                                                        + (len(clocks) - len(single) - len(quad)) * [0])
            assert all(io >> 2 == 0b11 for io in single)
            assert len(single) % 8 == 0 and len(clocks) % 2 == 0 and clocks
            bits = [io & 1 for io in single] + [io >> place & 1 for io in quad for place in (3, 2, 1, 0)]
            self.commands.append(bytes(int("".join(map(str, bits[i:i + 8])), 2) for i in range(0, len(bits), 8)))
            # Four clocks, and data.
            assert not quad or (len(quad) == 8 and len(clocks) - len(single) > 8 + 4)

    async def until_deselected(self):
        await RisingEdge(self.dut.cs_no)

    async def ignored_ones(self):
        while True:
            await RisingEdge(self.dut.ignored_o)
            self.ignored += 1


async def begin(dut, bits=False):
    vmm = IoVmm(dut)
    dut.area_first_i.value = sum(first << 10 * n for n, (first, _, _) in enumerate(AREAS))
    dut.area_sectors_i.value = sum(count << 11 * n for n, (_, count, _) in enumerate(AREAS))
    dut.area_writable_i.value = sum(writable << n for n, (_, _, writable) in enumerate(AREAS))
    dut.cut_i.value = 0
    dut.cut_level_i.value = 0
    dut.power_i.value = 1
    dut.seed_i.value = 0
    # The part keeps what it has from one test to the next.
    for page in range(20 * SECTOR // PAGE):
        dut.u_part.memory[page].value = (1 << 8 * PAGE) - 1
    await reset(dut)
    return vmm, Wire(dut, bits)


def times(dut):
    return (int(dut.PROGRAM_CYCLES.value), int(dut.SECTOR_CYCLES.value), int(dut.BLOCK_CYCLES.value))


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def reads_as_fast_as_the_wire(dut):
    """The paper's lengths; and the first, last and longest that there are."""
    vmm, wire = await begin(dut, bits=True)
    goes_on = False
    asked = []
    content = random.randbytes(16 * SECTOR)
    for page in range(len(content) // PAGE):
        dut.u_part.memory[page].value = int.from_bytes(content[page * PAGE:][:PAGE], "little")
    for addr, length in ((5, 1), (0, 4), (1000, 64), (200, 256), (16 * SECTOR - LENGTH_MAX, LENGTH_MAX)):
        answer = await vmm.ask(0, READ, addr, length=length)
        assert (answer.status, answer.data) == (DONE, content[addr:addr + length])
        bound = read_bound(dut, length, goes_on)
        assert answer.cycles <= bound
        dut._log.info("read of %d bytes: %d cycles, bound %d", length, answer.cycles, bound)
        asked.append((b"" if goes_on else b"\xeb") + addr.to_bytes(3, "big") + b"\xa0")
        goes_on = True
    await Timer(200, units="ns")
    # After reset: out of any mode, whether it is busy, which part it is, and that it may use four lines; then nothing
    # but what was asked for.
    assert [c[:1] for c in wire.commands[:6]] == [b"\xff", b"\x05", b"\x9f", b"\x50", b"\x31", b"\x35"]
    assert wire.commands[4] == b"\x31\x02" and wire.commands[6:] == asked
    assert wire.ignored == 0


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_reset_while_the_part_goes_on(dut):
    """The part does not notice that reset: it is in its continuous read mode, or in the middle of something."""
    vmm, _ = await begin(dut)
    for cycles in (0, 11, 20, 37, 60):
        dut.u_part.memory[0].value = 0x04030201
        assert (await vmm.ask(0, READ, 0, length=4)).data == b"\x01\x02\x03\x04"
        asks = cocotb.start_soon(vmm.ask(0, READ, 0, length=16))
        await ClockCycles(dut.clk_i, 1 + cycles)
        asks.kill()
        dut.rst_ni.value = 0
        await ClockCycles(dut.clk_i, 2)
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        vmm = IoVmm(dut)
        answer = await vmm.ask(0, READ, 1, length=3)
        assert (answer.status, answer.data) == (DONE, b"\x02\x03\x04"), cycles
        assert (await vmm.ask(0, WRITE, 300, b"x")).status == DONE


@cocotb.test(timeout_time=50, timeout_unit="ms")
async def writes_and_erases_as_a_part_does(dut):
    vmm, wire = await begin(dut)
    program, sector, block = times(dut)
    memory = bytearray(b"\xff" * 20 * SECTOR)

    async def write(port, addr, data):
        base = AREAS[port][0] * SECTOR
        answer = await vmm.ask(port, WRITE, addr, data)
        assert answer.status == DONE and answer.cycles <= write_bound(dut, addr, len(data), program)
        for n, byte in enumerate(data):
            memory[base + addr + n] &= byte

    async def erase(port, addr):
        base, size = AREAS[port][0] * SECTOR + (addr & ~1), BLOCK if addr & 1 else SECTOR
        answer = await vmm.ask(port, CONTROL, addr)
        assert answer.status == DONE
        assert answer.cycles <= erase_bound(dut, block if addr & 1 else sector)
        memory[base:base + size] = b"\xff" * size

    async def same():
        for addr in range(0, len(memory), PAGE):
            page = int(dut.u_part.memory[addr // PAGE].value).to_bytes(PAGE, "little")
            assert page == memory[addr:addr + PAGE]

    # Over the ends of pages; again, over what is there; at the very end; all that a request takes.
    await write(0, 250, random.randbytes(600))
    await write(0, 300, random.randbytes(5))
    await write(1, 4 * SECTOR - 1, b"\x5a")
    await write(0, 4 * SECTOR - 700, random.randbytes(LENGTH_MAX))
    await same()
    answer = await vmm.ask(2, READ, 4 * SECTOR - 2, length=2)
    assert (answer.status, answer.data) == (DONE, b"\xff\x5a")
    await erase(0, 3 * SECTOR)
    await same()
    await erase(0, 0 | 1)
    await same()
    assert wire.ignored == 0


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def refuses_what_is_not_the_ports(dut):
    vmm, wire = await begin(dut, bits=True)
    await vmm.ask(0, READ, 0, length=1)
    asked = len(wire.commands)
    end = 4 * SECTOR
    for port, op, addr, data, length, status in (
            (1, READ, end, b"", 1, BAD_ADDRESS), (1, READ, end - 3, b"", 4, BAD_ADDRESS),
            (1, READ, 0xFFFF_FFFF, b"", 2, BAD_ADDRESS), (1, READ, 0, b"", 0, BAD_LENGTH),
            (1, WRITE, end - 1, b"ab", None, BAD_ADDRESS), (1, WRITE, 0, b"", 0, BAD_LENGTH),
            (1, WRITE, 0xFFFF_FFFE, b"abcd", None, BAD_ADDRESS),
            (1, CONTROL, end, b"", 0, BAD_ADDRESS), (1, CONTROL, 8, b"", 0, BAD_ADDRESS),
            (1, CONTROL, 1, b"", 0, BAD_ADDRESS), (1, CONTROL, 0, b"x", None, BAD_LENGTH),
            (0, CONTROL, SECTOR | 1, b"", 0, BAD_ADDRESS),
            (2, WRITE, 0, b"no", None, PROTECTED), (2, CONTROL, 0, b"", 0, PROTECTED),
            (3, READ, 0, b"", 1, BAD_ADDRESS), (3, WRITE, 0, b"x", None, BAD_ADDRESS)):
        answer = await vmm.ask(port, op, addr, data, length)
        assert (answer.status, answer.data) == (status, b""), (port, op, addr)
        assert answer.cycles <= 6
    await Timer(2, units="us")
    assert len(wire.commands) == asked


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def what_is_to_be_followed_is_kept(dut):
    """Bytes that are written one by one are programmed a page at a time; what is asked for between them is what it would be
    otherwise."""
    vmm, wire = await begin(dut, bits=True)
    program = times(dut)[0]

    def programs():
        return [int.from_bytes(c[1:4], "big") for c in wire.commands if c[:1] == b"\x02"]

    async def write(port, addr, data, cycles):
        answer = await vmm.ask(port, WRITE, addr, data)
        assert answer.status == DONE and answer.cycles <= cycles, (addr, answer)

    # Two ports at once, from within a page: nothing but the ends of pages are programmed, and the answer does not wait.
    data = [random.randbytes(2 * PAGE) for _ in range(2)]
    short, full = 8 + 1, before_bound(dut, program)
    for n in range(PAGE - 10):
        for port in (0, 1):
            await write(port, MORE | 10 + n, data[port][n:n + 1], full if n == PAGE - 11 else short)
    assert programs() == [10, 16 * SECTOR + 10]
    # What was refused has changed nothing; the last ends a page and leaves nothing to be programmed.
    await write(0, MORE | PAGE, b"abc", short + 2)
    for op, addr, length, status in ((READ, 16 * SECTOR, 1, BAD_ADDRESS), (READ, MORE, 1, BAD_ADDRESS), (READ, 0, 0, BAD_LENGTH),
                                     (WRITE, MORE | PAGE + 3, 0, BAD_LENGTH), (WRITE, MORE | 16 * SECTOR - 1, 2, BAD_ADDRESS),
                                     (CONTROL, MORE, 0, BAD_ADDRESS)):
        assert (await vmm.ask(0, op, addr, bytes(length) if op == WRITE else b"", length)).status == status
    assert len(programs()) == 2
    await write(0, PAGE + 3, data[0][:PAGE - 3], write_bound(dut, 0, PAGE, program) + poll_bound(dut, program))
    assert programs()[2:] == [PAGE]
    answer = await vmm.ask(0, READ, PAGE, length=PAGE)
    assert answer.data == b"abc" + data[0][:PAGE - 3] and answer.cycles <= read_bound(dut, PAGE)
    # Whatever does not go on from there has it programmed first: a Write elsewhere, also behind a page; a Read; an
    # erasure.
    await write(0, MORE | 600, b"def", short + 2)
    await write(0, MORE | 604, b"ghi", full + short + 2)
    await write(0, MORE | 607, b"j", short)
    answer = await vmm.ask(0, READ, 600, length=8)
    assert answer.data == b"def\xffghij" and answer.cycles <= full + read_bound(dut, 8)
    await write(0, MORE | 700, b"k", short)
    assert (await vmm.ask(0, CONTROL, SECTOR)).status == DONE
    assert programs()[3:] == [600, 604, 700]
    # A long one is in pages.
    await write(0, MORE | 1000, bytes(1000), full + write_bound(dut, 1000, 1000, program))
    await write(0, 2000, b"l", full + poll_bound(dut, program))
    assert programs()[6:] == [1000, 1024, 1280, 1536, 1792]
    assert wire.ignored == 0


@cocotb.test(timeout_time=50, timeout_unit="ms")
async def random_requests_against_bytes(dut):
    """Ports read, write and erase at random; what one writes is seen by itself at once, by those who share it when it is in
    the part, and by no others."""
    vmm, wire = await begin(dut)
    program, sector, _ = times(dut)
    areas = [bytearray(b"\xff" * 16 * SECTOR), bytearray(b"\xff" * 4 * SECTOR)]
    # Where each goes on.
    appends = [0, 0]
    for _ in range(150):
        port = random.choice((0, 1))
        bytes_of = areas[port]
        length = random.choice((1, 3, 4, 5, 64, random.randint(1, 300)))
        addr = random.choice((appends[port], appends[port], 0, random.randint(0, 600), len(bytes_of) - length))
        what = random.choice((READ, READ, WRITE, WRITE, MORE, MORE, MORE, MORE, MORE, CONTROL))
        if what in (WRITE, MORE):
            data = random.randbytes(length)
            answer = await vmm.ask(port, WRITE, addr | (what & MORE), data)
            assert answer.status == DONE
            assert answer.cycles <= before_bound(dut, program) + write_bound(dut, addr, length, program)
            for n, byte in enumerate(data):
                bytes_of[addr + n] &= byte
            end = addr + length
            appends[port] = end if end + 300 < len(bytes_of) else random.randint(0, 3 * PAGE)
        elif what == READ:
            answer = await vmm.ask(port, READ, addr, length=length)
            assert (answer.status, answer.data) == (DONE, bytes_of[addr:addr + length])
            assert answer.cycles <= before_bound(dut, program) + read_bound(dut, length)
        else:
            answer = await vmm.ask(port, CONTROL, 0)
            assert answer.status == DONE
            assert answer.cycles <= before_bound(dut, program) + erase_bound(dut, sector)
            bytes_of[:SECTOR] = b"\xff" * SECTOR
    # A read by each, and all is in the part.
    for port in (0, 1):
        assert (await vmm.ask(port, READ, 0, length=1)).data == areas[port][:1]
        base = AREAS[port][0] * SECTOR
        for page in range(len(areas[port]) // PAGE):
            found = int(dut.u_part.memory[base // PAGE + page].value).to_bytes(PAGE, "little")
            assert found == areas[port][page * PAGE:][:PAGE]
    answer = await vmm.ask(2, READ, 0, length=300)
    assert (answer.status, answer.data) == (DONE, areas[1][:300])
    assert wire.ignored == 0


async def without_a_part(dut, level):
    """Where nothing answers, requests fail, and none hangs."""
    vmm, _ = await begin(dut)
    dut.cut_i.value = 1
    dut.cut_level_i.value = level
    answers = [await vmm.ask(0, READ, 0, length=4), await vmm.ask(0, WRITE, 0, b"x"), await vmm.ask(0, CONTROL, 0)]
    assert [a.status for a in answers] == 3 * [DEVICE_FAILED]
    assert all(a.cycles <= 6 for a in answers)


factory = cocotb.regression.TestFactory(cocotb.test(timeout_time=20, timeout_unit="ms")(without_a_part))
factory.add_option("level", [0, 1])
factory.generate_tests()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_part_that_stays_busy_is_given_up(dut):
    vmm, _ = await begin(dut)
    assert (await vmm.ask(0, WRITE, 0, b"good")).status == DONE
    cocotb.start_soon(cut_when_busy(dut))
    answer = await vmm.ask(0, WRITE, 10, b"late")
    assert answer.status == DEVICE_FAILED
    assert answer.cycles <= write_bound(dut, 10, 4, times(dut)[0] * 11 // 10)
    answer = await vmm.ask(0, READ, 0, length=4)
    assert answer.status == DEVICE_FAILED and answer.cycles <= 6


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def who_asks_next_is_told_that_it_was_given_up(dut):
    """The answer of a Write of which more follows does not wait for the part; what was kept for others is lost, too."""
    vmm, _ = await begin(dut)
    assert (await vmm.ask(1, WRITE, MORE | 3, b"kept")).status == DONE
    cocotb.start_soon(cut_when_busy(dut))
    assert (await vmm.ask(0, WRITE, MORE | 0, bytes(PAGE))).status == DONE
    answer = await vmm.ask(1, WRITE, 7, b"lost")
    assert answer.status == DEVICE_FAILED
    assert answer.cycles <= poll_bound(dut, times(dut)[0] * 11 // 10) + 20
    answer = await vmm.ask(0, WRITE, MORE | PAGE, b"x")
    assert answer.status == DEVICE_FAILED and answer.cycles <= 6


async def cut_when_busy(dut):
    await RisingEdge(dut.busy_o)
    dut.cut_i.value = 1
    dut.cut_level_i.value = 1


STEP = 0x9e37_79b9_7f4a_7c15
WORD = (1 << 64) - 1


def mixed(number):
    """A number that looks random, of another one: splitmix64."""
    number = (number ^ number >> 30) * 0xbf58_476d_1ce4_e5b9 & WORD
    number = (number ^ number >> 27) * 0x94d0_49bb_1331_11eb & WORD
    return number ^ number >> 31


def some(seed):
    """A page of which each bit is set with a probability that is drawn first."""
    number = mixed(seed)
    share, bits = number & 15, 0
    for place in range(32):
        word = 0
        for bit in range(4):
            number = number + STEP & WORD
            word = word | mixed(number) if share >> bit & 1 else word & mixed(number)
        bits |= (WORD if share == 15 else word) << 64 * place
    return bits


def torn(seed, page, before, programmed=None):
    """What is left of a page that was being programmed, or erased."""
    touched = some(seed ^ page << 32)
    if programmed is not None:
        return before & (programmed | ~touched)
    return touched if mixed(seed + STEP & WORD) & 1 else before & ~touched


def page_of(dut, page):
    return int(dut.u_part.memory[page].value)


async def lose_power(dut, seed):
    """The supply fails, and comes again; all is reset. Gives the VMM's side of then."""
    dut.seed_i.value = seed
    dut.power_i.value = 0
    await ClockCycles(dut.clk_i, 256)
    dut.rst_ni.value = 0
    dut.power_i.value = 1
    await ClockCycles(dut.clk_i, 2)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    return IoVmm(dut)


@cocotb.test(timeout_time=60, timeout_unit="ms")
async def a_program_without_power_is_torn(dut):
    """Any of the bits that were to become 0 have; nothing else of the part changes, and it works again."""
    vmm, wire = await begin(dut)
    shares = set()
    for round in range(12):
        old, new = random.randbytes(PAGE), random.randbytes(PAGE)
        dut.u_part.memory[2].value = int.from_bytes(old, "little")
        dut.u_part.memory[1].value, dut.u_part.memory[3].value = 11, 13
        written = cocotb.start_soon(vmm.ask(0, WRITE, 2 * PAGE, new))
        await RisingEdge(dut.busy_o)
        await ClockCycles(dut.clk_i, random.choice((1, 2, random.randint(3, times(dut)[0] - 2))))
        written.kill()
        seed = random.getrandbits(64)
        vmm = await lose_power(dut, seed)
        before, programmed = int.from_bytes(old, "little"), int.from_bytes(new, "little")
        found = page_of(dut, 2)
        assert found == torn(seed, 2, before, programmed)
        assert found & ~before == 0 and before & programmed & ~found == 0
        shares.add((before & ~found).bit_count() * 8 // max(1, (before & ~programmed).bit_count()))
        assert (page_of(dut, 1), page_of(dut, 3)) == (11, 13)
        answer = await vmm.ask(0, READ, 2 * PAGE, length=PAGE)
        assert (answer.status, answer.data) == (DONE, found.to_bytes(PAGE, "little"))
    # From almost nothing to almost all.
    assert len(shares) >= 4, shares
    assert (await vmm.ask(0, CONTROL, 0)).status == DONE
    assert (await vmm.ask(0, WRITE, 5, b"good")).status == DONE
    assert (await vmm.ask(0, READ, 4, length=6)).data == b"\xffgood\xff"
    assert wire.ignored == 0


@cocotb.test(timeout_time=60, timeout_unit="ms")
async def an_erasure_without_power_is_torn(dut):
    """Of each page any bits are 0 that were 1, or any are 1; those behind and before the sector are as they were."""
    vmm, _ = await begin(dut)
    phases = set()
    pages = SECTOR // PAGE
    for round in range(10):
        old = [random.getrandbits(8 * PAGE) for _ in range(3 * pages)]
        for page, value in enumerate(old):
            dut.u_part.memory[page].value = value
        erased = cocotb.start_soon(vmm.ask(0, CONTROL, SECTOR))
        await RisingEdge(dut.busy_o)
        sector = times(dut)[1]
        # The last pages change in the last cycles.
        left = random.choice((sector - 1, random.randint(20, sector - 2), 9, 3))
        await ClockCycles(dut.clk_i, sector - left)
        await FallingEdge(dut.clk_i)
        erased.kill()
        seed = random.getrandbits(64)
        assert int(dut.u_part.busy_q.value) > 0
        first = int(dut.u_part.page_q.value)
        vmm = await lose_power(dut, seed)
        phases.add(mixed(seed + STEP & WORD) & 1)
        for page, before in enumerate(old):
            expected = before
            if page // pages == 1:
                expected = torn(seed, page, before) if page >= first else (1 << 8 * PAGE) - 1
            assert page_of(dut, page) == expected, (page, first, left)
    assert phases == {0, 1}
    assert (await vmm.ask(0, CONTROL, SECTOR)).status == DONE
    assert (await vmm.ask(0, READ, SECTOR, length=64)).data == 64 * b"\xff"


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_part_without_power_keeps_what_it_has(dut):
    """The part keeps what it was not changing. A piece that waits for its port's next one is lost."""
    vmm, _ = await begin(dut)
    assert (await vmm.ask(0, WRITE, 7, b"whole")).status == DONE
    assert (await vmm.ask(0, WRITE, MORE | 12, b"kept")).status == DONE
    assert (await vmm.ask(1, READ, 0, length=8)).status == DONE
    vmm = await lose_power(dut, 5)
    assert (await vmm.ask(0, READ, 0, length=20)).data == 7 * b"\xff" + b"whole" + 8 * b"\xff"
