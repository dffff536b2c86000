"""The display with its I/O VMM: what a monitor sees by the sync signals, against a picture drawn in Python."""

import random
import struct
import zlib
from pathlib import Path

import cocotb
import numpy
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from cocotb.utils import get_sim_time

from common import reset
from io_vmm import BAD_LENGTH, BAD_OP, CONTROL, DONE, READ, WRITE, IoVmm

WIDTH, HEIGHT = 32, 24
# Corner and size. The third lies across what the first two leave; the last is beside the buffer in part.
WINDOWS = ((0, 0, 16, 12), (16, 0, 16, 12), (3, 14, 20, 8), (28, 20, 10, 10))
# Of the harness: front porch, sync, back porch.
H, V = (4, 8, 5), (3, 2, 4)


def set_windows(dut, windows):
    for part, name in enumerate(("x", "y", "width", "height")):
        getattr(dut, f"window_{name}_i").value = sum(w[part] << 10 * n for n, w in enumerate(windows))


async def begin(dut):
    vmm = IoVmm(dut)
    set_windows(dut, WINDOWS)
    await reset(dut)
    return vmm


async def capture(dut):
    """A frame as a monitor has it: the lines from one vertical sync's end to the next one's begin, each from the end of
    a horizontal sync."""
    await RisingEdge(dut.vsync_no)
    lines, before = [], 1
    while dut.vsync_no.value == 1:
        await RisingEdge(dut.pixel_o)
        await Timer(1, units="ns")
        hsync = int(dut.hsync_no.value)
        if hsync and not before:
            lines.append([])
        if lines:
            lines[-1].append(int(dut.colour_o.value))
        before = hsync
    # The last one was cut off.
    return lines[:-1]


def png(picture):
    """A picture of bytes with 3, 3 and 2 bits of red, green and blue as a PNG file (W3C PNG, 8 bits, RGB)."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    red, green, blue = picture >> 5, picture >> 2 & 7, picture & 3
    pixels = numpy.stack((red * 255 // 7, green * 255 // 7, blue * 255 // 3), axis=2).astype(numpy.uint8)
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    header = struct.pack(">IIBBBBB", picture.shape[1], picture.shape[0], 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def draw(picture, port, x, y, width, height, colours):
    """A rectangle in a port's window: in the picture as far as it lies in the window and in the buffer."""
    left, top, window_width, window_height = WINDOWS[port]
    for row in range(y, min(y + height, window_height, HEIGHT - top)):
        for column in range(x, min(x + width, window_width, WIDTH - left)):
            picture[top + row, left + column] = colours[(column - x) % len(colours)]


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def shows_what_is_drawn(dut):
    vmm = await begin(dut)
    # What is in the buffer at first is undefined: a port whose window is all of it makes it one colour.
    set_windows(dut, 4 * ((0, 0, WIDTH, HEIGHT),))
    answer = await vmm.ask(0, CONTROL, 0, struct.pack("<HHB", 1000, 1000, 0x49))
    assert answer.status == DONE and answer.cycles <= WIDTH * HEIGHT + 20
    picture = numpy.full((HEIGHT, WIDTH), 0x49, dtype=numpy.uint16)
    set_windows(dut, WINDOWS)

    for _ in range(60):
        port = random.randrange(4)
        x, y = (random.choice((0, random.randrange(24), 65535)) for _ in range(2))
        if random.random() < 0.5:
            colours = random.randbytes(random.choice((1, 2, 5, 40)))
            answer = await vmm.ask(port, WRITE, y << 16 | x, colours)
            assert answer.cycles <= len(colours) + 10
            draw(picture, port, x, y, len(colours), 1, colours)
        else:
            width, height = (random.choice((0, 1, random.randrange(20), 65535)) for _ in range(2))
            colour = random.randbytes(1)
            answer = await vmm.ask(port, CONTROL, y << 16 | x, struct.pack("<HH", width, height) + colour)
            assert answer.cycles <= WINDOWS[port][2] * WINDOWS[port][3] + 20
            draw(picture, port, x, y, width, height, colour)
        assert answer.status == DONE

    lines = await capture(dut)
    visible = int(dut.H_VISIBLE.value), int(dut.V_VISIBLE.value)
    assert len(lines) >= V[2] - 1 + visible[1]
    assert all(len(line) == visible[0] + sum(H) for line in lines)
    # The vertical sync ends as a line's picture would begin: the first whole line is the second of the back porch.
    seen = numpy.array(lines, dtype=numpy.uint16)
    place = (slice(V[2] - 1, V[2] - 1 + visible[1]), slice(H[2], H[2] + visible[0]))
    shown = seen[place].copy()
    assert (shown == picture.repeat(2, axis=0).repeat(2, axis=1)).all()
    # Black beside it.
    seen[place] = 0
    assert not seen.any()
    Path("screen.png").write_bytes(png(shown))


async def lasts(signal, period_ns, low_ns):
    """Two periods of a sync signal."""
    fell = None
    for _ in range(3):
        await FallingEdge(signal)
        assert fell is None or get_sim_time("ns") - fell == period_ns
        fell = get_sim_time("ns")
        await RisingEdge(signal)
        assert get_sim_time("ns") - fell == low_ns


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def keeps_its_timing(dut):
    await begin(dut)
    pixel_ns = int(dut.PIXEL_CYCLES.value) * 10
    line_ns = pixel_ns * (int(dut.H_VISIBLE.value) + sum(H))
    frame_ns = line_ns * (int(dut.V_VISIBLE.value) + sum(V))
    of_lines = cocotb.start_soon(lasts(dut.hsync_no, line_ns, H[1] * pixel_ns))
    await lasts(dut.vsync_no, frame_ns, V[1] * line_ns)
    await of_lines


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def refuses_what_is_no_drawing(dut):
    vmm = await begin(dut)
    for op, data, length, status in ((READ, b"", 4, BAD_OP), (WRITE, b"", 0, BAD_LENGTH), (CONTROL, b"", 0, BAD_LENGTH),
                                     (CONTROL, bytes(4), None, BAD_LENGTH), (CONTROL, bytes(6), None, BAD_LENGTH)):
        answer = await vmm.ask(1, op, 0, data, length)
        assert answer.status == status and answer.cycles <= 4
