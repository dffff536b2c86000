"""Both sides of AXI buses for tests, in cycles of a clock.

Everything is driven at falling edges and looked at just before rising ones, when all has settled: with Verilator, a
test that wakes at a rising edge already sees what the flip-flops became by it.
"""

import random

import cocotb
from cocotb.triggers import FallingEdge, Timer

OKAY, SLVERR = 0, 2


class Bus:
    """A bus of a design by the prefix of its signals, at a clock with a period of 10 ns."""

    def __init__(self, dut, prefix, clock="clk_i", pause=0.0):
        self.dut, self.prefix, self.clock = dut, prefix, getattr(dut, clock)
        # How often a channel rests for a cycle: 0 never, 1 always.
        self.pause = pause

    def signal(self, name):
        return getattr(self.dut, f"{self.prefix}_{name}")

    async def rest(self):
        while random.random() < self.pause:
            await FallingEdge(self.clock)

    async def before_edge(self):
        await Timer(4, units="ns")

    async def send(self, channel, items):
        """Offers items, a dict of a channel's signals each, one after the other."""
        valid, ready = self.signal(f"{channel}valid"), self.signal(f"{channel}ready")
        await FallingEdge(self.clock)
        for item in items:
            await self.rest()
            for name, value in item.items():
                self.signal(channel + name).value = value
            valid.value = 1
            taken = False
            while not taken:
                await self.before_edge()
                taken = ready.value == 1
                await FallingEdge(self.clock)
            valid.value = 0

    async def receive(self, channel, names, count=None, into=None):
        """Takes `count` items, or goes on for ever, and returns them, or puts them `into` a list: dicts of the signals
        named."""
        valid, ready = self.signal(f"{channel}valid"), self.signal(f"{channel}ready")
        items = [] if into is None else into
        await FallingEdge(self.clock)
        while count is None or len(items) < count:
            await self.rest()
            ready.value = 1
            await self.before_edge()
            if valid.value == 1:
                items.append({name: int(self.signal(channel + name).value) for name in names})
            await FallingEdge(self.clock)
            ready.value = 0
        return items


class AxiLiteMaster(Bus):
    """Reads and writes of an AXI4-Lite slave. Reset has to be on when it is made."""

    def __init__(self, dut, prefix="s_axil", pause=0.0):
        super().__init__(dut, prefix, pause=pause)
        for name in ("awvalid", "awaddr", "awprot", "wvalid", "wdata", "wstrb", "bready", "arvalid", "araddr", "arprot",
                     "rready"):
            self.signal(name).value = 0

    async def writes(self, requests):
        """(address, data, strobe) each, as fast as the slave takes them; returns the responses."""
        cocotb.start_soon(self.send("aw", [{"addr": address} for address, _, _ in requests]))
        cocotb.start_soon(self.send("w", [{"data": data, "strb": strobe} for _, data, strobe in requests]))
        return [item["resp"] for item in await self.receive("b", ["resp"], len(requests))]

    async def reads(self, addresses):
        """As fast as the slave takes them; returns (response, data) each."""
        cocotb.start_soon(self.send("ar", [{"addr": address} for address in addresses]))
        return [(item["resp"], item["data"]) for item in await self.receive("r", ["resp", "data"], len(addresses))]

    async def write(self, address, data, strobe=0xF):
        response, = await self.writes([(address, data, strobe)])
        assert response == OKAY, f"write of {address:#x}: response {response}"

    async def read(self, address):
        (response, data), = await self.reads([address])
        assert response == OKAY, f"read of {address:#x}: response {response}"
        return data

    async def write64(self, address, data):
        """The lower word first."""
        await self.write(address, data & 0xFFFF_FFFF)
        await self.write(address + 4, data >> 32)

    async def read64(self, address):
        """The lower word first."""
        low = await self.read(address)
        return low | await self.read(address + 4) << 32


class AxiMemory(Bus):
    """A memory behind an AXI4 master, in bursts that increment. From `error_from` on it answers with errors.

    Requests are kept until they are answered; reset has to be on when it is made.
    """

    def __init__(self, dut, size, prefix="m_axi", pause=0.0, error_from=None):
        super().__init__(dut, prefix, pause=pause)
        self.bytes = bytearray(size)
        self.error_from = size if error_from is None else error_from
        # The bursts in the order in which they came, each its `addr` and `len`.
        self.reads, self.writes = [], []
        self.answered_reads = self.answered_writes = 0
        self.word_bytes = len(self.signal("wdata")) // 8
        # Words of writes as they come.
        self.words = []
        for name in ("awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rdata", "rresp", "rlast"):
            self.signal(name).value = 0
        for task in (self.receive("aw", ["addr", "len"], into=self.writes),
                     self.receive("ar", ["addr", "len"], into=self.reads),
                     self.receive("w", ["data", "strb", "last"], into=self.words),
                     self.answer_reads(), self.answer_writes()):
            cocotb.start_soon(task)

    @staticmethod
    def burst(request):
        return request["addr"], request["len"] + 1

    def response(self, address):
        return SLVERR if address >= self.error_from else OKAY

    async def answer_reads(self):
        while True:
            while self.answered_reads == len(self.reads):
                await FallingEdge(self.clock)
            address, words = self.burst(self.reads[self.answered_reads])
            beats = []
            for i in range(words):
                at = address + i * self.word_bytes
                beats.append({"data": int.from_bytes(self.bytes[at:at + self.word_bytes], "little"),
                              "resp": self.response(at), "last": i == words - 1})
            await self.send("r", beats)
            self.answered_reads += 1

    async def answer_writes(self):
        taken = 0
        while True:
            while self.answered_writes == len(self.writes):
                await FallingEdge(self.clock)
            address, words = self.burst(self.writes[self.answered_writes])
            while len(self.words) < taken + words:
                await FallingEdge(self.clock)
            response = self.response(address)
            for i in range(words):
                word = self.words[taken + i]
                assert word["last"] == (i == words - 1), "the last word of a burst is marked, and no other"
                data = word["data"].to_bytes(self.word_bytes, "little")
                for lane in range(self.word_bytes):
                    if word["strb"] >> lane & 1 and response == OKAY:
                        self.bytes[address + i * self.word_bytes + lane] = data[lane]
            taken += words
            await self.send("b", [{"resp": response}])
            self.answered_writes += 1
