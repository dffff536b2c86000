"""The VGA controller: what it draws, against a picture drawn in Python; a monitor's view of it is looked at."""

import random

import cocotb
from cocotb.triggers import FallingEdge

from axi import AxiLiteMaster
from common import reset
from test_io_vga import H, HEIGHT, WIDTH, capture

ID, PIXEL, ROW, COLOURS = 0x00, 0x04, 0x7FC, 0x800


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def draws(dut):
    """Pixels and rows, within the display and beyond."""
    master = AxiLiteMaster(dut)
    await reset(dut)
    assert await master.read(ID) == 0x5643_0001
    picture = [[None] * WIDTH for _ in range(HEIGHT)]

    def draw(x, y, colour):
        if x < WIDTH and y < HEIGHT:
            picture[y][x] = colour

    for y in range(HEIGHT):
        await master.write(ROW, WIDTH << 20 | y << 10)
        for x in range(0, WIDTH, 4):
            await master.write(COLOURS + x, 0)
            for i in range(4):
                draw(x + i, y, 0)
    for _ in range(100):
        x, y, colour = random.randrange(WIDTH + 4), random.randrange(HEIGHT + 4), random.getrandbits(8)
        await master.write(PIXEL, colour << 20 | y << 10 | x)
        draw(x, y, colour)
        x, y, count = random.randrange(WIDTH), random.randrange(HEIGHT), random.choice([1, 3, 4, 5, 10, 30])
        # Some more than are to be drawn.
        colours = random.randbytes((count + random.randrange(8) + 3) // 4 * 4)
        await master.write(ROW, count << 20 | y << 10 | x)
        for i in range(0, len(colours), 4):
            await master.write(COLOURS + i, int.from_bytes(colours[i:i + 4], "little"))
        for i in range(min(count, len(colours))):
            draw(x + i, y, colours[i])
    for _ in range(8):
        await FallingEdge(dut.clk_i)
    lines = await capture(dut)
    lines = [line[H[2]:H[2] + 2 * WIDTH] for line in lines if any(line)]
    shown = [[line[2 * x] for x in range(WIDTH)] for line in lines[::2]]
    assert [row for row in picture if any(row)] == [row for row in shown if any(row)]
