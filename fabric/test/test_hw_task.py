"""Each hardware task against its model in Python: frames, stops at consistency points, errors."""

import json
import random
from pathlib import Path

import cocotb
import numpy as np

import hw_task_models as models
from common import reset
from hw_task import Surroundings

NO_ERROR, READ_FAILED, WRITE_FAILED, BAD_ADDRESS, BAD_LENGTH, OUT_OF_RANGE, BAD_CONTEXT = range(7)
NUMBERS = {"passthrough": 1, "qam16": 2, "qam64": 3, "fft512": 4, "fft1024": 5, "crc32": 9, "sha256": 10,
           "aes": 11, "convolution": 12}
MARK = 0x485401

# A frame of 18,800 bits, or the 4,700 symbols that 16-QAM makes of it.
FRAME_BITS = 18_800
SIZE = 1 << 16
# Has the figures of the transforms' noise.
PAGE = Path(__file__).parents[2] / "docs" / "src" / "reference" / "hardware-tasks.md"
SOURCE, TARGET = 0x400, 0x6000

# Cycles of 10 ns that a frame, and the wait for a consistency point, may take; the copy has no limit of its own.
LIMITS = {"qam16": (2600, 500), "qam64": (1800, 500), "fft512": (6000, 1200), "fft1024": (6500, 2200),
          "crc32": (500, 300), "sha256": (2700, 300), "aes": (5000, 300),
          "convolution": (2700, 400),
          "passthrough": (None, None)}


def documented_snr(kind, points):
    """The signal-to-noise ratio that the page has for a kind of input, as text."""
    rows = [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in PAGE.open() if line.startswith("|")]
    heading = next(row for row in rows if row[0] == "input of the FFT")
    return next(row[heading.index(f"{points} points")] for row in rows if row[0] == kind)


class Task:
    """What the tests have to know of a task, by its module."""

    def __init__(self, dut):
        self.unit, self.block, self.bits, self.points = 1, 1024, 0, 0
        # Words of state in the context.
        self.state = 0
        # Whether the parameter's lowest bits choose what is computed; blocks before the first that has output.
        self.modes, self.lead = False, 0
        if dut._name == "hw_task_qam":
            self.bits = int(dut.SYMBOL_BITS.value)
            self.name, self.block = f"qam{2**self.bits}", 32 * self.bits
            self.model = lambda frame, param: models.qam(frame, self.bits)
        elif dut._name == "hw_task_fft":
            self.points = 1 << int(dut.LOG2_POINTS.value)
            self.name, self.unit, self.block = f"fft{self.points}", 4, 4 * self.points
            self.model = lambda frame, param: models.fft(frame, self.points)
        elif dut._name == "hw_task_crc32":
            self.name, self.state = "crc32", 1
            self.model = lambda frame, param: models.crc32(frame)
        elif dut._name == "hw_task_sha256":
            self.name, self.block, self.state = "sha256", 64, 10
            self.model = lambda frame, param: models.sha256(frame)
        elif dut._name == "hw_task_aes":
            self.name, self.block, self.state, self.model = "aes", 64, 13, models.aes
            self.modes = True
        elif dut._name == "hw_task_convolution":
            self.name, self.block, self.state, self.lead = "convolution", 128, 67, 3
            self.model = models.convolution
        else:
            self.name, self.model = "passthrough", models.passthrough
        self.frame_bytes = FRAME_BITS // 4 * 4 if self.name.startswith("fft") else FRAME_BITS // 8

    def length(self, blocks):
        """Of any frame of about so many blocks, beside those without output."""
        return self.unit * random.randint(1, round(blocks * self.block) // self.unit) + self.lead * self.block


async def begin(dut, **memory):
    around = Surroundings(dut, SIZE, **memory)
    await reset(dut)
    return Task(dut), around


def check(task, around, before, source, target, length, param):
    """The output is the model's, and nothing else has changed."""
    expected = bytearray(before)
    output = task.model(bytes(before[source:source + length]), param)
    expected[target:target + len(output)] = output
    if around.bytes != expected:
        wrong = [i for i in range(SIZE) if around.bytes[i] != expected[i]]
        raise AssertionError(f"{len(wrong)} bytes are wrong of {len(output)} at {target:#x}, the first at {wrong[0]:#x}")
    assert around.written == ((target, target + len(output)) if output else None)


async def whole_frame(task, around, source, target, length, param=0):
    before = bytes(around.bytes)
    around.written = None
    begun = around.cycle
    await around.command(source=source, target=target, length=length, param=param)
    assert await around.ended() == NO_ERROR
    check(task, around, before, source, target, length, param)
    return around.cycle - begun


def record(dut, metric, cycles):
    """Into measures.json beside the test's log."""
    dut._log.info("%s %.2f us", metric, cycles / 100)
    try:
        with open("measures.json") as file:
            measures = json.load(file)
    except FileNotFoundError:
        measures = {}
    measures[metric] = cycles / 100
    with open("measures.json", "w") as file:
        json.dump(measures, file, indent=1)


@cocotb.test()
async def the_model_is_what_it_is_called(dut):
    """A constellation that is Gray coded and has a mean power of 1; a transform as near as its rounding lets it."""
    task = Task(dut)
    if task.bits:
        # Every symbol once: as many of them as a whole number of bytes.
        numbers = "".join(f"{n:0{task.bits}b}" for n in range(1 << task.bits))
        frame = int(numbers, 2).to_bytes(len(numbers) // 8, "big")
        symbols = np.frombuffer(models.qam(frame, task.bits), "<i2").reshape(-1, 2) / 2**models.POINT
        assert abs((symbols**2).sum(axis=1).mean() - 1) < 1e-3
        distances = np.abs(symbols[:, None] - symbols[None]).sum(axis=2)
        least = distances[distances > 0].min()
        for a, b in zip(*np.nonzero((distances > 0) & (distances < 1.01 * least))):
            assert (int(a) ^ int(b)).bit_count() == 1, (a, b)
    if task.name == "aes":
        # FIPS 197, C.1 and C.3; SP 800-38A, F.5.1 and F.5.5.
        plain = bytes.fromhex("00112233445566778899aabbccddeeff")
        counter, text = bytes(range(0xF0, 0x100)), bytes.fromhex("6bc1bee22e409f96e93d7e117393172a")
        for mode, key, first, data, cipher in (
                (0, bytes(range(16)), bytes(16), plain, "69c4e0d86a7b0430d8cdb78070b4c55a"),
                (2, bytes(range(32)), bytes(16), plain, "8ea2b7ca516745bfeafc49904b496089"),
                (1, bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c"), counter, text, "874d6191b620e3261bef6864990db6ce"),
                (3, bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"), counter, text,
                 "601ec313775789a5b7a7f504bbf3d228")):
            assert models.aes(key.ljust(32, b"\0") + first + bytes(16) + data, mode).hex() == cipher
    if task.name == "convolution":
        image = np.random.default_rng(1).integers(0, 256, (9, 128), np.uint8)
        for kernel, shift, expected in (
                # As it is; all around, with zeros beside it; a slope of 2 a pixel by Sobel's kernel; limits.
                ((0, 0, 0, 0, 1, 0, 0, 0, 0), 0, image[1:-1]), ((0, 0, 0, 0, 16, 0, 0, 0, 0), 4, image[1:-1]),
                ((0, 0, 0, 1, 0, 0, 0, 0, 0), 0, np.pad(image[1:-1, :-1], ((0, 0), (1, 0)))),
                ((0, 0, 0, 0, 0, 0, 0, 0, 1), 0, np.pad(image[2:, 1:], ((0, 0), (0, 1)))),
                ((0, 0, 0, 0, 127, 0, 0, 0, 0), 0, np.minimum(image[1:-1] * 127.0, 255)),
                ((0, 0, 0, 0, -128, 0, 0, 0, 0), 15, 0 * image[1:-1])):
            header = np.array(kernel, np.int8).tobytes().ljust(128, b"\xa5")
            got = np.frombuffer(models.convolution(header + image.tobytes(), shift), np.uint8)
            assert (got.reshape(-1, 128) == expected).all(), kernel
        slope = np.tile(np.arange(0, 256, 2, np.uint8), (3, 1))
        header = np.array((-1, 0, 1, -2, 0, 2, -1, 0, 1), np.int8).tobytes().ljust(128, b"\0")
        assert models.convolution(header + slope.tobytes(), 3)[1:-1] == bytes([2] * 126)
    if task.points:
        for kind, frame in models.fft_inputs(task.points).items():
            largest, snr = models.fft_error(frame, task.points)
            dut._log.info("fft%d, %s: at most %.2f units of the last place from the exact transform, SNR %.1f dB",
                          task.points, kind, largest, snr)
            assert largest < 2.5
            assert f"{snr:.1f}" == documented_snr(kind, task.points), f"{PAGE} has another figure for {kind}"


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def a_frame_in_time(dut):
    """The frame of the papers, from start_i to done_o, with a memory of a word a cycle and 20 cycles of latency."""
    task, around = await begin(dut)
    # Of AES by CTR with a key of 256 bits.
    param = random.getrandbits(32) | (3 if task.modes else 0)
    cycles = await whole_frame(task, around, SOURCE, TARGET, task.frame_bytes, param)
    record(dut, f"frame_us_{task.name}", cycles)
    limit = LIMITS[task.name][0]
    assert limit is None or cycles <= limit


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def frames_are_as_the_model_says(dut):
    """Of any length, anywhere, one after the other, with a memory that takes its time."""
    task, around = await begin(dut, pause=0.3)
    for mode, blocks in enumerate((0.1, 1, 2.5, 2.5) if not task.modes else (2.5, 3, 4, 5)):
        around.latency = random.randrange(40)
        source, target = SOURCE + 8 * random.randrange(64), TARGET + 8 * random.randrange(64)
        await whole_frame(task, around, source, target, task.length(blocks), random.getrandbits(32) & ~3 | mode)
    # Whole blocks, and the largest and smallest numbers.
    around.pause = 0.0
    length = task.block * (2 + task.lead)
    extremes = random.choices((0x7FFF, 0x8000), k=length // 2)
    around.bytes[SOURCE:SOURCE + length] = b"".join(x.to_bytes(2, "little") for x in extremes)
    await whole_frame(task, around, SOURCE, TARGET, length)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def stopped_at_every_consistency_point(dut):
    """The papers' frame, stopped behind each of its blocks, and resumed by a fresh task that has the context alone."""
    task, around = await begin(dut)
    before, param = bytes(around.bytes), random.getrandbits(32)
    await around.command(source=SOURCE, target=TARGET, length=task.frame_bytes, param=param)
    if task.modes:
        # The counter goes on.
        param |= 1
    worst, stops = 0, 0
    while True:
        # As soon as the first burst of a block is on its way: the worst moment there is. Where a block has no output,
        # as soon as it has ended, and the next one begins.
        bursts, behind = around.bursts_written, task.frame_bytes - (stops + 1) * task.block
        while around.bursts_written == bursts and not (task.state and int(dut.core_left.value) == behind):
            await around.step()
            assert around.busy
        dut.stop_i.value = 1
        asked = around.cycle
        error = await around.ended()
        if error is not None:
            break
        worst = max(worst, around.cycle - asked)
        stops += 1
        rest = task.frame_bytes - stops * task.block
        assert around.context[0] == MARK << 8 | NUMBERS[task.name]
        assert around.context[1] == SOURCE + stops * task.block
        assert around.context[3:5] == [rest, param]
        for i in range(5 + task.state, 256):
            around.context[i] = random.getrandbits(32)
        await around.replace()
        assert dut.stopped_o.value == 0
        await around.command(resume=True)
    assert error == NO_ERROR and stops == -(-task.frame_bytes // task.block) - 1
    check(task, around, before, SOURCE, TARGET, task.frame_bytes, param)
    record(dut, f"consistency_us_max_{task.name}", worst)
    limit = LIMITS[task.name][1]
    assert limit is None or worst <= limit


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def stopped_at_any_time(dut):
    """At random, also before it begins; the memory takes its time; the same task or a fresh one goes on."""
    task, around = await begin(dut, pause=0.2)
    before, param, length = bytes(around.bytes), random.getrandbits(32), (3 + task.lead) * task.block + task.unit
    dut.stop_i.value = 1
    await around.command(source=SOURCE, target=TARGET, length=length, param=param)
    assert await around.ended() is None and around.written is None
    error, stops = None, 0
    while error is None:
        dut.stop_i.value = 0
        if random.random() < 0.5:
            await around.replace()
        await around.command(resume=True)
        # Later each time, so that the frame comes to its end.
        for _ in range(random.randrange(200 + stops * task.block // 8)):
            await around.step()
            if not around.busy:
                break
        if around.is_done:
            error = int(dut.error_o.value)
            break
        dut.stop_i.value = 1
        error = await around.ended()
        stops += 1
    dut._log.info("%d stops", stops)
    assert error == NO_ERROR
    check(task, around, before, SOURCE, TARGET, length, param)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def errors_of_memory_end_a_frame(dut):
    task, around = await begin(dut, pause=0.1)
    length = (2 + task.lead) * task.block
    for reads in (True, False):
        before = bytes(around.bytes)
        output = task.model(bytes(before[SOURCE:SOURCE + length]), 0)
        if reads:
            around.refused_reads = range(SOURCE + 8 * random.randrange(length // 8), SIZE)
        else:
            around.refused_writes = range(TARGET + 8 * random.randrange(len(output) // 8), SIZE)
        around.written, done = None, around.done
        # Stopping does not hide it.
        dut.stop_i.value = 0
        await around.command(source=SOURCE, target=TARGET, length=length)
        assert await around.ended() == (READ_FAILED if reads else WRITE_FAILED)
        low, high = around.written or (TARGET, TARGET)
        assert TARGET <= low <= high <= TARGET + len(output)
        for at in range(TARGET, TARGET + len(output)):
            assert around.bytes[at] in (before[at], output[at - TARGET])
        for _ in range(50):
            await around.step()
        assert around.done == done + 1, "done once"
        assert dut.stopped_o.value == 0
        around.refused_reads = around.refused_writes = range(0)
        # And it works again.
        await whole_frame(task, around, SOURCE, TARGET, task.length(1))


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def what_cannot_be_is_refused(dut):
    task, around = await begin(dut)
    before = bytes(around.bytes)
    good = {"source": SOURCE, "target": TARGET, "length": task.block, "param": 0}
    bad = [({"source": SOURCE + 1}, BAD_ADDRESS), ({"target": TARGET + 4}, BAD_ADDRESS), ({"length": 0}, BAD_LENGTH),
           ({"source": 0xFFFF_FFF8}, OUT_OF_RANGE), ({"target": 0xFFFF_FFF8}, OUT_OF_RANGE),
           ({"length": 0xFFFF_FFFC}, OUT_OF_RANGE)]
    if task.unit > 1:
        bad.append(({"length": 6}, BAD_LENGTH))
    for change, error in bad:
        await around.command(**{**good, **change})
        assert await around.ended() == error, change
    # Contexts: another task's, another version's, and one of this task that has become nonsense.
    context = [MARK << 8 | NUMBERS[task.name], SOURCE, TARGET, task.block, 0]
    for at, value, error in ((0, MARK << 8 | NUMBERS[task.name] ^ 0xFF, BAD_CONTEXT),
                             (0, MARK + 1 << 8 | NUMBERS[task.name], BAD_CONTEXT),
                             (1, SOURCE + 3, BAD_ADDRESS), (3, 0, BAD_LENGTH), (2, 0xFFFF_FFF8, OUT_OF_RANGE)):
        around.context[:5] = context
        around.context[at] = value
        await around.command(resume=True)
        assert await around.ended() == error, (at, value)
    assert around.bytes == before and around.written is None
    # Commands to a task that is busy are not listened to.
    await around.command(**good)
    await around.command(source=1)
    await around.command(resume=True)
    assert await around.ended() == NO_ERROR
    check(task, around, before, SOURCE, TARGET, task.block, 0)
