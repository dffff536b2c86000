"""A virtual device from a VM's first write to its answer: interface, configuration port and region together, with the
test as VM, device manager and task."""

import random

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge, Timer

from axi import OKAY, SLVERR, AxiLiteMaster
from common import reset
from test_configuration_port import AT, CORRUPT, GO, ReadMemory, bitstream
from test_hw_interface import (ASKED, CMD, CONTEXT, CUSTOM, DATA_ADDR, DATA_SIZE, END, ENDED, FAIL, FAILED, FAULTS,
                               INT_CTRL, IRQ_ENABLE, IRQ_OVER, OVER, RESULT, RESUME, START, STAT, STATE, TAKEN, UNFINISHED,
                               WINDOW_BASE, WINDOW_PAGES)
from test_hw_interface import COMMAND as INTERFACE_COMMAND
from test_isolator import BASE, PAGE, PAGES, REGION, HeldMemory, Task, request
from test_region import ANSWER, BUSY, CLIENT, COMMAND, CONNECT, DESCRIPTOR, HOLDS, IDLE, KILL, STOP, SWITCH, TAKE

TASK, INTERFACE = 5, 2
PORT_STATUS, PORT_SOURCE, PORT_LENGTH, PORT_TARGET, PORT_IRQ_ENABLE, PORT_IRQ_CLEAR = 0x04, 0x08, 0x10, 0x14, 0x1C, 0x24


class Accelerator:
    def __init__(self, dut):
        self.dut = dut
        self.vm, self.manager, self.region, self.port = (
            AxiLiteMaster(dut, f"s_axil_{name}") for name in ("vm", "manager", "region", "port"))
        self.task = Task(dut)
        self.memory, self.bitstreams = HeldMemory(dut, prefix="r_axi"), ReadMemory(dut, bitstream(TASK, 0))
        for name in ("done", "stopped", "ctx_we", "ctx_addr", "ctx_wdata"):
            getattr(dut, f"task_{name}_i").value = 0

    async def pulse(self, **signals):
        for name, value in signals.items():
            getattr(self.dut, name).value = value
        await FallingEdge(self.dut.clk_i)
        for name in signals:
            getattr(self.dut, name).value = 0

    async def command(self, bits):
        await self.region.write(COMMAND, bits)
        assert await self.region.read(ANSWER) == 0

    async def state(self):
        return await self.region.read(DESCRIPTOR) & 7

    async def configure(self):
        """Returns the port's error."""
        await self.port.write(PORT_TARGET, GO | TASK << 8)
        if self.dut.port_irq_o.value == 0:
            await RisingEdge(self.dut.port_irq_o)
        await self.port.write(PORT_IRQ_CLEAR, 1)
        return await self.port.read(PORT_STATUS) >> 4


async def begin(dut):
    a = Accelerator(dut)
    await reset(dut)
    await a.manager.write(WINDOW_BASE, BASE)
    await a.manager.write(WINDOW_PAGES, PAGES)
    await a.port.write64(PORT_SOURCE, AT)
    await a.port.write(PORT_LENGTH, len(a.bitstreams.content))
    await a.port.write(PORT_IRQ_ENABLE, 1)
    await a.region.write(CLIENT, 7 << 24 | INTERFACE)
    await a.vm.write(INT_CTRL, IRQ_ENABLE)
    for address, value in ((DATA_ADDR, 64), (CUSTOM[0], PAGE), (DATA_SIZE, 8), (CMD, 9)):
        await a.vm.write(address, value)
    return a


@cocotb.test(timeout_time=100, timeout_unit="us")
async def from_a_first_write_to_the_result_and_back_after_a_preemption(dut):
    a = await begin(dut)
    # The VM asks; there is no region; the manager has one configured and connects it: the task starts by itself.
    await a.vm.write(START, 1)
    assert await a.manager.read(STATE) == ASKED
    assert await a.configure() == 0 and await a.state() == SWITCH
    await a.command(CONNECT)
    assert await a.state() == BUSY
    assert [int(getattr(dut, f"task_{n}_o").value) for n in ("src", "dst", "length", "param")] == [64, PAGE, 8, 9]
    word = (await a.task.start_reads([(64, 1)]))[0]
    assert word["data"] == int.from_bytes(a.memory.before[BASE * PAGE + 64:BASE * PAGE + 72], "little")
    assert await a.task.start_writes([(PAGE, [(word["data"] ^ 1, 0xFF)])]) == [{"resp": OKAY}]
    await a.pulse(task_done_i=1)
    assert await a.vm.read(OVER) == 1 and await a.vm.read(RESULT) == 0 and dut.vm_irq_o.value == 1
    at = (BASE + 1) * PAGE
    assert int.from_bytes(a.memory.bytes[at:at + 8], "little") == word["data"] ^ 1 and await a.state() == IDLE
    await a.vm.write(INT_CTRL, IRQ_ENABLE | IRQ_OVER)

    # Again, from Idle and without any help; it is preempted, saves its context, and goes on later.
    await a.vm.write(START, 1)
    assert await a.state() == BUSY
    await a.command(STOP)
    assert dut.task_stop_o.value == 1
    context = [random.getrandbits(32) for _ in range(5)]
    for i, value in enumerate(context):
        await a.pulse(task_ctx_we_i=1, task_ctx_addr_i=i, task_ctx_wdata_i=value)
    await a.pulse(task_stopped_i=1)
    assert await a.state() == SWITCH and await a.vm.read(STAT) == UNFINISHED
    assert [data for _, data in await a.manager.reads([CONTEXT + 4 * i for i in range(5)])] == context
    assert await a.configure() == 0
    await a.command(CONNECT)
    assert await a.state() == HOLDS
    await a.manager.write(INTERFACE_COMMAND, RESUME)
    assert await a.state() == BUSY
    for i, value in enumerate(context):
        dut.task_ctx_addr_i.value = i
        await FallingEdge(dut.clk_i)
        await Timer(1, units="ns")
        assert dut.task_ctx_rdata_o.value == value
    await a.pulse(task_done_i=1)
    assert await a.vm.read(OVER) == 1 and await a.vm.read(RESULT) == 0


@cocotb.test(timeout_time=100, timeout_unit="us")
async def what_is_hostile_or_corrupt_is_contained_and_told(dut):
    a = await begin(dut)
    await a.vm.write(START, 1)
    # A corrupt bitstream: the region is empty, and the VM gets an error.
    a.bitstreams.content[50] ^= 4
    assert await a.configure() == CORRUPT
    assert await a.region.read(DESCRIPTOR) >> 8 & 0xFF == 0 and await a.state() == IDLE
    await a.manager.write(INTERFACE_COMMAND, FAIL)
    assert await a.vm.read(OVER) == 1 and await a.vm.read(RESULT) == FAILED
    # A task that reaches for what is not its VM's, and then never ends.
    a.bitstreams.content[50] ^= 4
    await a.command(TAKE)
    assert await a.configure() == 0
    await a.command(CONNECT)
    await a.vm.write(START, 1)
    assert (await a.task.start_reads([(PAGES * PAGE, 1)]))[0]["resp"] == SLVERR
    assert await a.task.start_writes([(0xFFFF_F000, [(1, 0xFF)])]) == [{"resp": SLVERR}]
    assert dut.fault_o.value == 1 and await a.manager.read(FAULTS) == 2
    await a.command(STOP)
    await a.command(KILL)
    assert await a.state() == SWITCH
    assert await a.vm.read(OVER) == 1 and await a.vm.read(RESULT) == TAKEN
    assert a.memory.outside_is_untouched() and a.memory.bytes == a.memory.before


async def loaded(a):
    assert await a.configure() == 0
    await a.command(CONNECT)


async def computes(a):
    """The next computation of the VM is as any other."""
    at = (BASE + 1) * PAGE
    value = random.getrandbits(64)
    await a.vm.write(INT_CTRL, IRQ_ENABLE)
    await a.vm.write(START, 1)
    assert await a.state() == BUSY
    assert await a.task.start_writes([(PAGE, [(value, 0xFF)])]) == [{"resp": OKAY}]
    await a.pulse(task_done_i=1)
    assert await a.vm.read(OVER) == 1 and await a.vm.read(RESULT) == 0 and a.dut.vm_irq_o.value == 1
    assert int.from_bytes(a.memory.bytes[at:at + 8], "little") == value and await a.state() == IDLE


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def end_keeps_the_last_life_out_of_the_next_ones_memory(dut):
    """END at any time of a task that writes all the time: memory that is cleared afterwards stays clear."""
    a = await begin(dut)
    await loaded(a)
    for after in range(0, 60, 3):
        await a.vm.write(START, 1)
        running = [cocotb.start_soon(a.task.send("aw", [request(128 * i, 16) for i in range(16)])),
                   cocotb.start_soon(a.task.send("w", [{"data": i, "strb": 255, "last": int(i % 16 == 15)}
                                                       for i in range(256)])),
                   cocotb.start_soon(a.task.send("ar", [request(128 * i, 16) for i in range(16)]))]
        for _ in range(after):
            await FallingEdge(dut.clk_i)
        await a.vm.write(END, 1)
        while await a.vm.read(END):
            pass
        low, high = BASE * PAGE, (BASE + PAGES) * PAGE
        a.memory.bytes[low:high] = bytes(high - low)
        for _ in range(200):
            await FallingEdge(dut.clk_i)
        assert a.memory.bytes[low:high] == bytes(high - low)
        for each in running:
            each.kill()
        for name in REGION:
            a.task.signal(name).value = 0
        assert await a.vm.read(OVER) == 0 and await a.vm.read(RESULT) == ENDED and dut.vm_irq_o.value == 0
        assert dut.fault_o.value == 0 and await a.manager.read(FAULTS) == 0
        await computes(a)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def end_withdraws_what_waits_and_what_was_preempted(dut):
    a = await begin(dut)
    # Asked, without a region: the manager that comes with one finds nothing to do.
    await a.vm.write(START, 1)
    await a.vm.write(END, 1)
    assert await a.vm.read(END) == 0 and await a.manager.read(STATE) == 0
    await loaded(a)
    assert await a.state() == HOLDS and await a.vm.read(RESULT) == ENDED
    await computes(a)
    # Preempted: it is not resumed.
    await a.vm.write(START, 1)
    await a.command(STOP)
    await a.pulse(task_stopped_i=1)
    assert await a.vm.read(STAT) & UNFINISHED
    await a.vm.write(END, 1)
    assert await a.vm.read(END) == 0 and await a.vm.read(STAT) & UNFINISHED == 0
    await a.command(CONNECT)
    await a.manager.write(INTERFACE_COMMAND, RESUME)
    assert await a.state() == HOLDS
    await computes(a)
    # To be preempted: the manager, which waits for that, is told as when the task has stopped.
    await a.vm.write(START, 1)
    await a.command(STOP)
    await a.vm.write(END, 1)
    assert await a.vm.read(END) == 0 and await a.state() == SWITCH
    assert await a.vm.read(RESULT) == ENDED and await a.vm.read(STAT) & UNFINISHED == 0


@cocotb.test(timeout_time=100, timeout_unit="us")
async def end_waits_for_memory_also_after_the_region_was_taken(dut):
    a = await begin(dut)
    await loaded(a)
    await a.vm.write(START, 1)
    a.memory.held = True
    cocotb.start_soon(a.task.send("aw", [request(0, 1)]))
    cocotb.start_soon(a.task.send("w", [{"data": 1, "strb": 255, "last": 1}]))
    for _ in range(20):
        await FallingEdge(dut.clk_i)
    await a.command(KILL)
    assert await a.vm.read(OVER) == 1 and await a.vm.read(RESULT) == TAKEN
    await a.vm.write(END, 1)
    for _ in range(5):
        assert await a.vm.read(END) == 1
    # Disconnected, and over: there is nothing to be ended any more.
    assert await a.vm.read(RESULT) == TAKEN and await a.vm.read(OVER) == 0
    a.memory.held = False
    for _ in range(5):
        await FallingEdge(dut.clk_i)
    assert await a.vm.read(END) == 0
