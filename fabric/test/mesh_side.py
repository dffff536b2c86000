"""The mesh beside a place's block, for tests: takes packets, slowly where told, and sends those that are queued."""

import random
from collections import deque

from cocotb.triggers import FallingEdge, Timer

DEPTH = 4


class MeshSide:
    def __init__(self, dut, take=1.0, send=1.0):
        self.dut, self.take, self.send_rate = dut, take, send
        self.queue, self.packets, self.coming = deque(), deque(), []
        self.credits, self.kept, self.flits, self.cycle = DEPTH, 0, 0, 0
        for name in ("out_credit_i", "in_valid_i", "in_last_i", "in_data_i"):
            getattr(dut, name).value = 0

    def send(self, flits):
        self.queue.extend((flit, i == len(flits) - 1) for i, flit in enumerate(flits))

    async def packet(self, cycles=20_000):
        """The next packet that comes."""
        for _ in range(cycles):
            if self.packets:
                return self.packets.popleft()
            await FallingEdge(self.dut.clk_i)
        raise AssertionError("no packet has come")

    async def run(self):
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)
            self.cycle += 1
            credit = self.kept > 0 and random.random() < self.take
            self.kept -= credit
            dut.out_credit_i.value = credit
            sends = bool(self.queue) and self.credits > 0 and random.random() < self.send_rate
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
                self.flits += 1
                assert self.kept <= DEPTH, "a flit for which there is no room"
                self.coming.append(int(dut.out_data_o.value))
                if dut.out_last_o.value == 1:
                    self.packets.append(self.coming)
                    self.coming = []
