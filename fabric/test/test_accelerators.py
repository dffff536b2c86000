"""The accelerators joined, with the test as software, task and memory: the map of their pages, and that the block stays
as it is while it is not busy."""

import cocotb
from cocotb.triggers import FallingEdge, Timer

from axi import OKAY, AxiLiteMaster
from common import reset
from test_configuration_port import AT, LENGTH, SOURCE, TARGET, ReadMemory, bitstream
from test_configuration_port import GO as PORT_GO
from test_configuration_port import IRQ_ENABLE as PORT_IRQ_ENABLE
from test_hw_interface import ASKED, INT_CTRL, START, STATE, cycles, pulse
from test_hw_interface import IRQ_ENABLE as VM_IRQ_ENABLE
from test_region import CLIENT, COMMAND, CONNECT, EXPIRED, HOLD
from test_region import IRQ_ENABLE as REGION_IRQ_ENABLE
from test_region_allocator import ANSWERS, FIRST, LINE, MANAGER, OFF, ON, Answers
from test_region_allocator import GO as ALLOCATE
from test_region_allocator import IRQ_ENABLE as ALLOCATOR_IRQ_ENABLE
from test_region_allocator import REQUEST as ALLOCATOR_REQUEST
from test_region_monitor import COMPATIBILITY, GO, REQUEST
from test_region_monitor import IRQ_ENABLE as MONITOR_IRQ_ENABLE

# The interfaces are as many as blocks.toml has.
REGIONS, INTERFACES = 3, 3
MONITOR, PORT, REGION, ALLOCATOR, MANAGERS, DEVICES, OTHER = (
    page << 12 for page in (0x00, 0x01, 0x02, 0x05, 0x08, 0x10, 0x18))
# The task is in the smallest region, whose bitstreams have this length.
TASK, BYTES, INTERFACE, WAITING_INTERFACE = 2, 32_340, 1, 2

# Cycles without an access and without busy_o after which accelerators_design reports the block as quiet.
SETTLE_CYCLES = 31
# Whatever the test makes the block wait for takes longer.
LONG = 3 * SETTLE_CYCLES

LINES = ("monitor_irq_o", "port_irq_o", "allocator_irq_o", "region_irq_o", "fault_irq_o", "interface_irq_o")
REQUESTS = ("m_axi_awvalid", "m_axi_wvalid", "m_axi_arvalid", "a_axi_awvalid", "a_axi_wvalid", "other_awvalid_o",
            "other_wvalid_o", "other_arvalid_o")
ANSWERED = ("s_axil_bvalid", "s_axil_rvalid")
OUTPUTS = (*LINES, *REQUESTS, *ANSWERED, "busy_o", "reconfiguring_o", "loaded_o", "to_task_o", "config_valid_o",
           "m_axi_rready", "m_axi_bready", "a_axi_bready")
ACCESSES = ("s_axil_awvalid", "s_axil_wvalid", "s_axil_arvalid")


class Rest:
    """Counts cycles at rest as accelerators_design does, and asserts that only an access of software ends the rest."""

    def __init__(self, dut):
        self.dut = dut
        self.cycles = self.since_access = 0
        # Cycles in which an output changed though software's last access was long ago.
        self.changes_alone = 0
        cocotb.start_soon(self.watch())

    def signal(self, name):
        return int(getattr(self.dut, name).value)

    async def watch(self):
        before = [self.signal(name) for name in OUTPUTS]
        while True:
            await Timer(4, units="ns")
            now = [self.signal(name) for name in OUTPUTS]
            changed = [name for name, old, new in zip(OUTPUTS, before, now) if old != new]
            access = any(self.signal(name) for name in ACCESSES)
            if self.cycles >= SETTLE_CYCLES and not access:
                assert not changed, f"at rest for {self.cycles} cycles, then {changed} changed"
                pending = [name for name in REQUESTS if self.signal(name)]
                assert not pending, f"at rest with {pending} pending"
            if self.since_access > SETTLE_CYCLES and changed:
                self.changes_alone += 1
            access = access or any(self.signal(name) for name in ANSWERED)
            self.since_access = 0 if access else self.since_access + 1
            self.cycles = 0 if access or self.signal("busy_o") else self.cycles + 1
            before = now
            await FallingEdge(self.dut.clk_i)

    async def settle(self, within):
        """Waits until the block is at rest, and then for longer than any event that it may still await."""
        for _ in range(within):
            if self.cycles >= SETTLE_CYCLES:
                return await cycles(self.dut, 2 * LONG)
            await FallingEdge(self.dut.clk_i)
        raise AssertionError("the block does not come to rest")


class SlowPage:
    """The slave behind the page of others: it takes a read late, and answers it late."""

    WORD = 0x1234_5678

    def __init__(self, dut):
        self.dut = dut
        for name in ("awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rdata", "rresp"):
            getattr(dut, f"other_{name}_i").value = 0
        cocotb.start_soon(self.run())

    async def run(self):
        dut = self.dut
        dut.other_rdata_i.value = self.WORD
        while True:
            await FallingEdge(dut.clk_i)
            if dut.other_arvalid_o.value == 1:
                await cycles(dut, LONG)
                await pulse(dut, other_arready_i=1)
                await cycles(dut, LONG)
                await pulse(dut, other_rvalid_i=1)


async def begin(dut):
    page, answers = AxiLiteMaster(dut), Answers(dut)
    ReadMemory(dut, bitstream(TASK, 0, size=BYTES), latency=LONG)
    SlowPage(dut)
    for name in ("m_axi_awready", "m_axi_wready", "m_axi_bvalid", "m_axi_bresp", "from_task_i"):
        getattr(dut, name).value = 0
    await reset(dut)
    return page, answers


@cocotb.test(timeout_time=50, timeout_unit="us")
async def each_page_is_where_the_map_has_it(dut):
    page, _ = await begin(dut)
    kinds = dict(enumerate([b"RM", b"CP", *[b"RG"] * REGIONS, b"RA", b"AT"]))
    for number in range(INTERFACES):
        kinds |= {(MANAGERS >> 12) + number: b"IM", (DEVICES >> 12) + number: b"VD"}
    for number in range(OTHER >> 12):
        (response, word), = await page.reads([number << 12])
        found = (word >> 16).to_bytes(2, "big") if response == OKAY else None
        assert found == kinds.get(number), f"page {number:#x}"
    # The two pages of an interface are in the same place of their order.
    for number in range(INTERFACES):
        await page.write(DEVICES + (number << 12) + START, 1)
        states = [await page.read(MANAGERS + (other << 12) + STATE) for other in range(INTERFACES)]
        assert [state == ASKED for state in states] == [other <= number for other in range(INTERFACES)]


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def what_is_not_busy_stays_as_it_is(dut):
    """An access, a configuration, a hold time, a computation and an answer to memory, each alone and long: the block is
    busy until all that follows from it has happened."""
    page, answers = await begin(dut)
    rest = Rest(dut)
    await page.write(MONITOR + MONITOR_IRQ_ENABLE, 1)
    await page.write(MONITOR + COMPATIBILITY, 1 << 4 * TASK)
    await page.write(PORT + PORT_IRQ_ENABLE, 1)
    await page.write64(PORT + SOURCE, AT)
    await page.write(PORT + LENGTH, BYTES)
    await page.write(REGION + REGION_IRQ_ENABLE, EXPIRED)
    await page.write(REGION + CLIENT, INTERFACE)
    await page.write(REGION + HOLD, LONG)
    await page.write(ALLOCATOR + ALLOCATOR_IRQ_ENABLE, FIRST)
    await page.write64(ALLOCATOR + ANSWERS, LINE | ON)
    await page.write(DEVICES + (INTERFACE << 12) + INT_CTRL, VM_IRQ_ENABLE)
    expected = dict.fromkeys(LINES, 0)
    loaded = 0

    async def ends(within=5 * LONG, **raised):
        """The block comes to rest, with these interrupt lines up beside those that were up before."""
        await rest.settle(within)
        expected.update(raised)
        assert {name: rest.signal(name) for name in LINES} == expected
        assert rest.signal("reconfiguring_o") == 0 and rest.signal("loaded_o") == loaded

    async def ends_alone(**options):
        await ends(**options)
        # Without such a change the accesses alone would have kept the block from rest.
        assert rest.changes_alone > 0, "nothing changed without an access"
        rest.changes_alone = 0

    await ends()
    assert rest.changes_alone == 0

    assert await page.read(OTHER) == SlowPage.WORD
    await ends_alone()

    await page.write(PORT + TARGET, PORT_GO | TASK << 8)
    await cycles(dut, LONG)
    assert rest.signal("reconfiguring_o") == 1
    loaded = TASK
    await ends_alone(within=BYTES, port_irq_o=1)

    # When the hold time is over, the region monitor finds the region for the interface that waits.
    await page.write(REGION + COMMAND, CONNECT)
    await page.write(MONITOR + REQUEST, GO | TASK << 8 | WAITING_INTERFACE)
    await ends_alone(region_irq_o=1, monitor_irq_o=1)

    await page.write(DEVICES + (INTERFACE << 12) + START, 1)
    await cycles(dut, LONG)
    # `done` of the smallest region's task: the first of its signals.
    await pulse(dut, from_task_i=1 << len(dut.from_task_i) // REGIONS - 1)
    await ends_alone(interface_irq_o=1 << INTERFACE)

    answers.responds = False
    await page.write(ALLOCATOR + ALLOCATOR_REQUEST, 1 << 24 | TASK << 8 | ALLOCATE | WAITING_INTERFACE)
    await cycles(dut, LONG)
    answers.responds = True
    await ends_alone(allocator_irq_o=1)
    answer = answers.answer(WAITING_INTERFACE)
    assert (answer.outcome, answer.reason) == (MANAGER, OFF)
