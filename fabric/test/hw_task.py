"""A hardware task's surroundings for tests: its VM's memory over AXI4, the context buffer, and control.

All of it is one coroutine, driven at falling edges and looked at just before rising ones, as in axi.py: frames are long.
"""

import random
from collections import deque

from cocotb.triggers import FallingEdge, Timer

READS_MAX, WRITES_MAX = 4, 8
BEATS_MAX = 16
OKAY, SLVERR = 0, 2
# What a task that has not ended by then has hung; a frame takes at most a tenth of it.
CYCLES_MAX = 60_000


class Surroundings:
    """Memory takes and gives a word a cycle, and answers `latency` cycles after it was asked; with `pause`, each channel
    rests for a cycle as often: 0 never, 1 always. Words of reads whose addresses are in the range `refused_reads`, and
    bursts of writes with one in `refused_writes`, get errors."""

    def __init__(self, dut, size, latency=20, pause=0.0):
        self.dut, self.latency, self.pause = dut, latency, pause
        self.bytes = bytearray(random.randbytes(size))
        self.context = [random.getrandbits(32) for _ in range(256)]
        self.refused_reads = self.refused_writes = range(0)
        self.cycle = 0
        # Of writes: the lowest address with a byte enabled, and the one behind the highest.
        self.written = None
        self.bursts_written = 0
        self.done = 0
        self.rest()

    def rest(self):
        """No input says anything, and nothing is under way."""
        for name in ("start_i", "resume_i", "src_i", "dst_i", "length_i", "param_i", "stop_i", "ctx_rdata_i",
                     "m_axi_awready", "m_axi_wready", "m_axi_bvalid", "m_axi_bresp", "m_axi_arready", "m_axi_rvalid",
                     "m_axi_rdata", "m_axi_rresp", "m_axi_rlast"):
            getattr(self.dut, name).value = 0
        # Read words and bursts under way: (cycle when due, data, response, last).
        self.read_words, self.write_bursts, self.whole_bursts, self.answers = deque(), deque(), deque(), deque()
        self.reads = self.writes = 0
        self.burst_words = []
        self.r_up = self.b_up = False

    async def replace(self):
        """A fresh task, which knows nothing of the one before. Begins and ends in the middle of a cycle."""
        self.rest()
        self.dut.rst_ni.value = 0
        for _ in range(3):
            await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1

    def rests(self):
        return self.pause and random.random() < self.pause

    async def step(self):
        """One cycle: from the middle of one to the middle of the next. Returns nothing; `dut` has its outputs of before
        the edge in `busy`, `is_done`, `stopped`."""
        dut = self.dut
        aw_ready, w_ready, ar_ready = not self.rests(), not self.rests(), not self.rests()
        dut.m_axi_awready.value = aw_ready
        dut.m_axi_wready.value = w_ready
        dut.m_axi_arready.value = ar_ready
        if not self.r_up and self.read_words and self.read_words[0][0] <= self.cycle and not self.rests():
            _, data, response, last = self.read_words[0]
            dut.m_axi_rdata.value = data
            dut.m_axi_rresp.value = response
            dut.m_axi_rlast.value = last
            self.r_up = True
        dut.m_axi_rvalid.value = self.r_up
        if not self.b_up and self.answers and self.answers[0][0] <= self.cycle and not self.rests():
            dut.m_axi_bresp.value = self.answers[0][1]
            self.b_up = True
        dut.m_axi_bvalid.value = self.b_up
        await Timer(4, units="ns")

        self.busy, self.is_done, self.stopped = (int(s.value) for s in (dut.busy_o, dut.done_o, dut.stopped_o))
        if self.is_done or self.stopped:
            assert not self.busy
            assert self.reads == self.writes == 0, "the bus is at rest when a task has ended"
        self.done += self.is_done
        if ar_ready and dut.m_axi_arvalid.value == 1:
            self.read(int(dut.m_axi_araddr.value), int(dut.m_axi_arlen.value) + 1)
        if self.r_up and dut.m_axi_rready.value == 1:
            self.reads -= self.read_words.popleft()[3]
            self.r_up = False
        if aw_ready and dut.m_axi_awvalid.value == 1:
            self.writes += 1
            self.bursts_written += 1
            assert self.writes <= WRITES_MAX
            self.write_bursts.append((int(dut.m_axi_awaddr.value), int(dut.m_axi_awlen.value) + 1))
        if w_ready and dut.m_axi_wvalid.value == 1:
            self.burst_words.append((int(dut.m_axi_wdata.value), int(dut.m_axi_wstrb.value)))
            if dut.m_axi_wlast.value == 1:
                self.whole_bursts.append(self.burst_words)
                self.burst_words = []
        if self.whole_bursts and self.write_bursts:
            self.write(*self.write_bursts.popleft(), self.whole_bursts.popleft())
        if self.b_up and dut.m_axi_bready.value == 1:
            self.answers.popleft()
            self.writes -= 1
            self.b_up = False
        at = int(dut.ctx_addr_o.value)
        word = self.context[at]
        if dut.ctx_we_o.value == 1:
            self.context[at] = int(dut.ctx_wdata_o.value)

        await FallingEdge(dut.clk_i)
        dut.ctx_rdata_i.value = word
        self.cycle += 1

    def read(self, address, words):
        assert words <= BEATS_MAX and address % (8 * words) == 0
        self.reads += 1
        assert self.reads <= READS_MAX
        for i in range(words):
            at = address + 8 * i
            response = SLVERR if at in self.refused_reads else OKAY
            data = int.from_bytes(self.bytes[at:at + 8], "little")
            self.read_words.append((self.cycle + self.latency, data, response, i == words - 1))

    def write(self, address, words, burst):
        assert words == len(burst) <= BEATS_MAX and address % (8 * words) == 0
        response = SLVERR if any(address + 8 * i in self.refused_writes for i in range(words)) else OKAY
        for i, (data, strobe) in enumerate(burst):
            for lane in range(8):
                if strobe >> lane & 1:
                    at = address + 8 * i + lane
                    low, high = self.written or (at, at)
                    self.written = min(low, at), max(high, at + 1)
                    if response == OKAY:
                        self.bytes[at] = data >> 8 * lane & 0xFF
        self.answers.append((self.cycle + self.latency, response))

    async def command(self, resume=False, source=0, target=0, length=0, param=0):
        """start_i or resume_i for a cycle. What else is on the ports is of no interest when it resumes."""
        dut = self.dut
        dut.src_i.value, dut.dst_i.value, dut.length_i.value, dut.param_i.value = source, target, length, param
        (dut.resume_i if resume else dut.start_i).value = 1
        await self.step()
        dut.start_i.value = dut.resume_i.value = 0
        for port in (dut.src_i, dut.dst_i, dut.length_i, dut.param_i):
            port.value = random.getrandbits(32)

    async def ended(self):
        """Until the task is done or stopped. Returns its error, or None when it is stopped."""
        begun = self.cycle
        while True:
            await self.step()
            if self.is_done:
                return int(self.dut.error_o.value)
            if self.stopped:
                return None
            assert self.cycle - begun < CYCLES_MAX, "the task has hung"
