"""The AXI4-Lite slave between a master and a register bus that both take their time."""

import random

import cocotb
from cocotb.regression import TestFactory
from cocotb.triggers import FallingEdge, Timer

from axi import OKAY, SLVERR, AxiLiteMaster
from common import reset

# Words of the memory behind the register bus; reading or writing beyond is an error.
WORDS = 64


class RegisterBus:
    """A memory on the register bus, and the order in which it was asked."""

    def __init__(self, dut, slow):
        self.dut, self.slow = dut, slow
        self.memory = [0] * WORDS
        self.asked = []
        for name in ("req_stall_wr_i", "req_stall_rd_i", "rd_ack_i", "rd_err_i", "rd_data_i", "wr_ack_i", "wr_err_i"):
            getattr(dut, name).value = 0
        cocotb.start_soon(self.run())

    async def run(self):
        dut, answer_in = self.dut, None
        while True:
            await FallingEdge(dut.clk_i)
            dut.rd_ack_i.value = 0
            dut.wr_ack_i.value = 0
            stalls = {"wr": self.slow and random.randrange(3) > 0, "rd": self.slow and random.randrange(3) > 0}
            dut.req_stall_wr_i.value = stalls["wr"]
            dut.req_stall_rd_i.value = stalls["rd"]
            # The master drives at the same edge.
            await Timer(1, units="ns")
            kind = "wr" if dut.req_is_wr_o.value == 1 else "rd"
            if answer_in is None and dut.req_o.value == 1 and not stalls[kind]:
                request = (kind, *(int(getattr(dut, n).value) for n in ("addr_o", "wr_data_o", "wr_biten_o")))
                self.asked.append(request[:2])
                answer_in = random.randrange(4) if self.slow else 0
            if answer_in == 0:
                self.answer(*request)
                answer_in = None
            elif answer_in is not None:
                answer_in -= 1

    def answer(self, kind, address, data, mask):
        word = address // 4
        error = word >= WORDS
        if kind == "wr":
            self.dut.wr_ack_i.value = 1
            self.dut.wr_err_i.value = error
            if not error:
                self.memory[word] = self.memory[word] & ~mask | data & mask
        else:
            self.dut.rd_ack_i.value = 1
            self.dut.rd_err_i.value = error
            self.dut.rd_data_i.value = 0 if error else self.memory[word]


async def begin(dut, slow):
    bus = RegisterBus(dut, slow)
    master = AxiLiteMaster(dut, pause=0.3 if slow else 0.0)
    await reset(dut)
    return bus, master


async def reads_and_writes_at_once(dut, slow):
    """Many of both kinds under way: each arrives once and in order, and gets its own answer."""
    bus, master = await begin(dut, slow)
    addresses = [4 * i for i in range(WORDS)]
    for strobe, mask in ((0xF, 0xFFFF_FFFF), (0x6, 0x00FF_FF00)):
        bus.asked.clear()
        before = list(bus.memory)
        data = [random.getrandbits(32) for _ in range(WORDS)]
        reading = cocotb.start_soon(master.reads(addresses))
        assert await master.writes([(a, d, strobe) for a, d in zip(addresses, data)]) == [OKAY] * WORDS
        seen = await reading
        assert bus.memory == [b & ~mask | d & mask for b, d in zip(before, data)]
        for kind in ("wr", "rd"):
            assert [address for k, address in bus.asked if k == kind] == addresses
        # A read may come before the write of its word or after it.
        assert all(s in ((OKAY, b), (OKAY, a)) for s, b, a in zip(seen, before, bus.memory))
        assert await master.reads(addresses) == [(OKAY, word) for word in bus.memory]


factory = TestFactory(cocotb.test(timeout_time=100, timeout_unit="us")(reads_and_writes_at_once))
factory.add_option("slow", [False, True])
factory.generate_tests()


@cocotb.test(timeout_time=20, timeout_unit="us")
async def errors_come_back(dut):
    _, master = await begin(dut, slow=True)
    assert await master.reads([4 * WORDS, 0]) == [(SLVERR, 0), (OKAY, 0)]
    assert await master.writes([(4 * WORDS, 0, 0xF), (0, 0, 0xF)]) == [SLVERR, OKAY]


@cocotb.test(timeout_time=20, timeout_unit="us")
async def answers_one_cycle_later(dut):
    """What reading costs where nothing else is going on and the register answers at once."""
    bus, _ = await begin(dut, slow=False)
    bus.memory[2] = 0x1234_5678
    await FallingEdge(dut.clk_i)
    dut.s_axil_araddr.value = 8
    dut.s_axil_arvalid.value = 1
    await Timer(4, units="ns")
    assert dut.s_axil_arready.value == 1 and dut.s_axil_rvalid.value == 0
    await FallingEdge(dut.clk_i)
    dut.s_axil_arvalid.value = 0
    assert dut.s_axil_rvalid.value == 1 and dut.s_axil_rdata.value == 0x1234_5678
