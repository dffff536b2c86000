"""A port, with a VM that asks for anything, devices that take and give what they like, and memory that is slow: against a model."""

import random

import cocotb
from cocotb.triggers import FallingEdge, Timer

from axi import AxiLiteMaster
from common import reset

STATUS, ADDRESS, DATA, REQUEST, RESPONSE, IRQ_ENABLE, RESET, BUFFER = 0x04, 0x08, 0x0C, 0x10, 0x14, 0x18, 0x24, 0x800
READ, WRITE, CONTROL, RESERVED = range(4)
DONE, MALFORMED, NO_DEVICE, DENIED = range(4)
MEMORY_FAILED = 9
# There is no device 0, 5, 6 or 7; the port may not use 3.
THERE, ALLOWED = 0b0001_1110, 0b0001_0110
# The VM's memory: two pages, the last 256 bytes of which answer with errors.
BASE, SIZE, BROKEN = 0x3000, 0x2000, 0x1F00
PLACES = 4


class Device:
    """All devices: takes the request that it is granted, some of its words, gives some, and answers."""

    def __init__(self, dut):
        self.dut = dut
        self.log = []
        for name in ("grant_i", "in_ready_i", "out_valid_i", "out_data_i", "response_valid_i", "response_i"):
            getattr(dut, name).value = 0

    async def pause(self):
        for _ in range(random.choice((0, 0, 0, 1, 5))):
            await FallingEdge(self.dut.clk_i)

    async def run(self):
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)
            asked = int(dut.ask_o.value)
            if not asked:
                continue
            assert asked & (asked - 1) == 0, "two devices are asked"
            await self.pause()
            packed = int(dut.request_o.value)
            dut.grant_i.value = 1
            await FallingEdge(dut.clk_i)
            dut.grant_i.value = 0
            assert packed >> 45 == 0, "the port's number is 0"
            op, length, address = packed >> 43 & 3, packed >> 32 & 0x7FF, packed & 0xFFFF_FFFF
            words = (length + 3) // 4
            taken, given = [], []
            status = random.choice((DONE, DONE, DONE, 4, 8))
            back = 0
            if op == READ:
                if status == DONE:
                    back = random.choice((length, random.randint(0, length)))
                for _ in range((back + 3) // 4):
                    await self.pause()
                    given.append(random.getrandbits(32))
                    dut.out_valid_i.value, dut.out_data_i.value = 1, given[-1]
                    await FallingEdge(dut.clk_i)
                    dut.out_valid_i.value = 0
            else:
                for _ in range(random.choice((words, words, random.randint(0, words)))):
                    await self.pause()
                    dut.in_ready_i.value = 1
                    await Timer(4, units="ns")
                    assert dut.in_valid_o.value == 1, "a device waits for a word"
                    taken.append(int(dut.in_data_o.value))
                    await FallingEdge(dut.clk_i)
                    dut.in_ready_i.value = 0
                if len(taken) == words:
                    assert dut.in_valid_o.value == 0, "there is a word too many"
            await self.pause()
            dut.response_valid_i.value, dut.response_i.value = 1, status << 11 | back
            self.log.append((asked.bit_length() - 1, op, length, address, taken, given, status, back))
            await FallingEdge(dut.clk_i)
            dut.response_valid_i.value = 0


class Memory:
    """What the port's place in the tree reaches; it may go nowhere but to the VM's memory."""

    def __init__(self, dut):
        self.dut = dut
        self.bytes = bytearray(random.randbytes(SIZE))
        for name in ("access_ready_i", "reply_valid_i", "reply_i"):
            getattr(dut, name).value = 0

    async def run(self):
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)
            if dut.access_valid_o.value == 0 or random.randrange(3) == 0:
                continue
            access = int(dut.access_o.value)
            dut.access_ready_i.value = 1
            await FallingEdge(dut.clk_i)
            dut.access_ready_i.value = 0
            write, words, at = access >> 106, 1 << (access >> 104 & 3), access >> 72 & 0xFFFF_FFFF
            data, strobe = access >> 8 & (1 << 64) - 1, access & 0xFF
            assert at % 8 == 0 and BASE <= at and at + 8 * words <= BASE + SIZE, f"{at:#x} is not the VM's"
            at -= BASE
            for word in range(words):
                for _ in range(random.choice((0, 0, 1, 4))):
                    await FallingEdge(dut.clk_i)
                place = at + 8 * word
                if write:
                    assert words == 1
                    for byte in range(8):
                        if strobe >> byte & 1 and place < BROKEN:
                            self.bytes[place + byte] = data >> 8 * byte & 0xFF
                value = int.from_bytes(self.bytes[place:place + 8], "little")
                reply = write << 66 | (word == words - 1) << 65 | (place >= BROKEN) << 64 | value
                dut.reply_valid_i.value, dut.reply_i.value = 1, reply
                await FallingEdge(dut.clk_i)
                dut.reply_valid_i.value = 0


class Model:
    """What has to become of requests, one after the other."""

    def __init__(self, memory):
        self.to_devices = bytearray(2048)
        # None: it has not been written yet.
        self.from_devices = [None] * 2048
        self.memory = bytearray(memory)

    def answer(self, request, log):
        """The status and the length of the answer; takes what a device has done from its log."""
        device, op, length, address, place, memory = request
        whole = (length + 3) // 4 * 4
        placed = place % 64 == 0 if memory else place % 4 == 0 and place < 2048 and place + length <= 2048
        if op == RESERVED or length > 1536 or not placed:
            return MALFORMED, 0
        if not THERE >> device & 1:
            return NO_DEVICE, 0
        if not ALLOWED >> device & 1:
            return DENIED, 0
        if memory and op != READ:
            # By whole lines.
            end = place + (length + 63) // 64 * 64
            if length and (end > SIZE or end > BROKEN):
                return MEMORY_FAILED, 0
            data = bytes(self.memory[place:place + whole])
        else:
            data = bytes(self.to_devices[place:place + whole])
        got = log.pop(0)
        assert got[:4] == (device, op, length, address), f"{got[:4]} was asked for, and not {request}"
        _, _, _, _, taken, given, status, back = got
        for word, value in enumerate(taken):
            expected = int.from_bytes(data[4 * word:4 * word + 4], "little")
            # What is beyond the request in its last word is anything.
            bits = 8 * min(4, length - 4 * word)
            assert (value ^ expected) & (1 << bits) - 1 == 0, f"word {word} of {request} is another"
        if status != DONE:
            return status, 0
        came = b"".join(word.to_bytes(4, "little") for word in given)
        if not memory:
            self.from_devices[place:place + len(came)] = came
            return DONE, back
        # By rows of eight bytes, up to the first that is not there.
        for row in range(0, back, 8):
            if place + row + 8 > SIZE or place + row >= BROKEN:
                return MEMORY_FAILED, 0
            part = came[row:min(row + 8, back)]
            self.memory[place + row:place + row + len(part)] = part
        return DONE, back


def any_request():
    device = random.choice((1, 2, 4, 1, 2, 4, 1, 2, 4, 3, 0, 5, 7))
    op = random.choice((READ, READ, READ, WRITE, WRITE, WRITE, CONTROL, RESERVED))
    length = random.choice((0, 1, random.randint(0, 40), random.randint(0, 300), 1536, 1537, 2047))
    memory = random.randrange(2)
    if memory:
        place = random.choice((64 * random.randrange(SIZE // 64), BROKEN - 64, SIZE - 64, SIZE, 8, 0xFFFF_FFC0))
    else:
        place = random.choice((4 * random.randrange(512), max(0, 2048 - length) & ~3, 2, 2048, 1 << 20))
    return device, op, length, random.getrandbits(32), place, memory


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def requests_are_carried_out_as_they_were_written(dut):
    bus = AxiLiteMaster(dut, pause=0.1)
    device, memory = Device(dut), Memory(dut)
    dut.devices_i.value, dut.window_base_i.value, dut.window_pages_i.value = ALLOWED, BASE >> 12, SIZE >> 12
    await reset(dut)
    cocotb.start_soon(device.run())
    cocotb.start_soon(memory.run())
    model = Model(memory.bytes)
    for word in range(512):
        await bus.write(BUFFER + 4 * word, 0)
    refused, seen = 0, set()
    for batch in range(40):
        for _ in range(12):
            word, value, strobe = random.randrange(512), random.getrandbits(32), random.choice((0xF, 0xF, random.randrange(16)))
            await bus.write(BUFFER + 4 * word, value, strobe)
            for byte in range(4):
                if strobe >> byte & 1:
                    model.to_devices[4 * word + byte] = value >> 8 * byte & 0xFF
        await bus.write(IRQ_ENABLE, batch % 2)
        there = []
        for _ in range(random.randint(1, 7)):
            request = any_request()
            which, op, length, address, place, in_memory = request
            quiet, tag = random.randrange(4) == 0, random.randrange(4)
            await bus.write(ADDRESS, address)
            await bus.write(DATA, place)
            await bus.write(REQUEST, which << 17 | op << 15 | quiet << 14 | in_memory << 13 | tag << 11 | length)
            # The count is in the next cycle.
            now = await bus.read(STATUS) >> 16 & 0xFF
            assert now - refused in (0, 1) or now == 255
            if now == refused:
                there.append((request, quiet, tag))
            else:
                seen.add("refused")
            refused = now
        # The VM takes no response: no more than there is room for come.
        for _ in range(random.choice((0, 4000))):
            await FallingEdge(dut.clk_i)
        waiting = await bus.read(STATUS) >> 8 & 7
        assert waiting <= PLACES
        assert dut.irq_o.value == (waiting > 0 and batch % 2) or waiting < PLACES
        if waiting == PLACES:
            seen.add("full")
        answers = []
        while True:
            status = await bus.read(STATUS)
            response = await bus.read(RESPONSE)
            if response >> 31:
                answers.append(response)
            elif status & 7 == PLACES:
                break
            else:
                assert response == 0
        for request, quiet, tag in there:
            status, length = model.answer(request, device.log)
            seen.add(status)
            if quiet and status == DONE:
                continue
            expected = 1 << 31 | request[0] << 17 | status << 13 | tag << 11 | length
            assert answers.pop(0) == expected, f"another answer to {request}"
        assert not answers and not device.log, "there was more than was asked for"
        assert memory.bytes == model.memory, "memory has other data"
        for word in random.sample(range(512), 12):
            expected = model.from_devices[4 * word:4 * word + 4]
            found = (await bus.read(BUFFER + 4 * word)).to_bytes(4, "little")
            assert None in expected or found == bytes(expected), f"word {word} of the buffer is another"
    assert seen == {DONE, MALFORMED, NO_DEVICE, DENIED, 4, 8, MEMORY_FAILED, "refused", "full"}, f"not all came up: {seen}"


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def what_was_asked_for_ends_with_reset(dut):
    bus = AxiLiteMaster(dut)
    device, memory = Device(dut), Memory(dut)
    dut.devices_i.value, dut.window_base_i.value, dut.window_pages_i.value = ALLOWED, BASE >> 12, SIZE >> 12
    await reset(dut)
    cocotb.start_soon(device.run())
    cocotb.start_soon(memory.run())

    async def ask(request, tag):
        which, op, length, address, place, in_memory = request
        await bus.write(ADDRESS, address)
        await bus.write(DATA, place)
        await bus.write(REQUEST, which << 17 | op << 15 | in_memory << 13 | tag << 11 | length)

    seen = set()
    for _ in range(60):
        await bus.write(IRQ_ENABLE, 1)
        for _ in range(random.randint(1, 6)):
            await ask(random.choice((any_request(), (2, READ, 1536, 0, 0, 1))), 1)
        for _ in range(random.choice((0, random.randrange(60), random.randrange(2000)))):
            await FallingEdge(dut.clk_i)
        seen.add(f"{await bus.read(STATUS) >> 8 & 7} wait")
        await bus.write(RESET, 1)
        for _ in range(4):
            await FallingEdge(dut.clk_i)
        assert dut.irq_o.value == 0 and await bus.read(IRQ_ENABLE) == 0
        status = await bus.read(STATUS)
        assert status >> 8 == 0, "something is left of what was before"
        assert status & 7 >= PLACES - 1, "a request is left that had not begun"
        if status & 7 < PLACES:
            seen.add("under way")
        # The access that was under way is over by then.
        for _ in range(40):
            await FallingEdge(dut.clk_i)
        stored, asked = bytes(memory.bytes), len(device.log)
        # Whatever was asked for before, the next request is the next that is answered.
        word = random.getrandbits(32)
        await bus.write(BUFFER, word)
        await ask((1, WRITE, 4, 7, 0, 0), 2)
        while not (response := await bus.read(RESPONSE)):
            pass
        assert response & ~(0xF << 13) == 1 << 31 | 1 << 17 | 2 << 11, f"{response:#x} answers another request"
        assert response >> 13 & 0xF == device.log[-1][6] and device.log[-1][:4] == (1, WRITE, 4, 7)
        assert device.log[-1][4] in ([word], []), "the device got other data"
        assert len(device.log) <= asked + 2, "a request was carried out that had not begun"
        assert memory.bytes == stored, "a request that was dropped has changed memory"
    assert seen >= {"under way", "0 wait", "1 wait"}, f"not all came up: {seen}"
