"""The interface between a VM's page, the device manager's page and a task."""

import random

import cocotb
from cocotb.regression import TestFactory
from cocotb.triggers import FallingEdge, Timer

from axi import OKAY, SLVERR, AxiLiteMaster
from common import reset

# The VM's page.
ID, STAT, START, OVER, CMD, DATA_ADDR, DATA_SIZE, INT_CTRL, RESULT = range(0, 0x24, 4)
END = 0x28
CUSTOM = range(0x40, 0x60, 4)
CONNECTED, RUNNING, UNFINISHED = 1, 2, 4
IRQ_ENABLE, IRQ_OVER = 1, 1 << 8
# The manager's page.
STATE, COMMAND, WINDOW_BASE, WINDOW_PAGES, FAULTS, FAULT_ADDR, CONTEXT = 0x04, 0x08, 0x0C, 0x10, 0x14, 0x18, 0x400
ASKED = 8
RESUME, FAIL, CLEAR_FAULTS = 1, 2, 4
ENDED, TAKEN, FAILED = 13, 14, 15

TASK_SIDE = ("connected_i", "region_i", "done_i", "stopped_i", "error_i", "ctx_we_i", "ctx_addr_i", "ctx_wdata_i",
             "refused_outside_i", "refused_illegal_i", "wrong_last_i", "refused_addr_i")


class Watch:
    """Counts the starts and resumes, and keeps what the task was given with each start."""

    def __init__(self, dut):
        self.dut, self.starts, self.resumes = dut, [], 0
        cocotb.start_soon(self.watch())

    async def watch(self):
        while True:
            await FallingEdge(self.dut.clk_i)
            await Timer(4, units="ns")
            if self.dut.start_o.value == 1:
                self.starts.append(tuple(int(getattr(self.dut, f"{n}_o").value)
                                         for n in ("src", "dst", "length", "param")))
            self.resumes += int(self.dut.resume_o.value)


async def begin(dut, connected=True, pause=0.0):
    vm, manager = AxiLiteMaster(dut, "s_axil_vm", pause), AxiLiteMaster(dut, "s_axil_manager", pause)
    for name in TASK_SIDE:
        getattr(dut, name).value = 0
    dut.connected_i.value = int(connected)
    dut.drained_i.value = 1
    dut.resume_i.value = 0
    dut.region_i.value = 2
    await reset(dut)
    return vm, manager, Watch(dut)


async def cycles(dut, count):
    for _ in range(count):
        await FallingEdge(dut.clk_i)


async def pulse(dut, **signals):
    """Sets inputs for a cycle."""
    for name, value in signals.items():
        getattr(dut, name).value = value
    await FallingEdge(dut.clk_i)
    for name in signals:
        getattr(dut, name).value = 0


async def program(vm, values):
    for address, value in zip((DATA_ADDR, CUSTOM[0], DATA_SIZE, CMD), values, strict=True):
        await vm.write(address, value)


@cocotb.test(timeout_time=50, timeout_unit="us")
async def pages_are_identified_and_closed(dut):
    vm, manager, _ = await begin(dut)
    assert await vm.read(ID) == 0x5644_0001
    assert await manager.read(ID) == 0x494D_0001
    for address in (0x2C, 0x3C, 0x60, 0x400, 0xFFC):
        assert await vm.reads([address]) == [(SLVERR, 0)]
        assert await vm.writes([(address, 1, 0xF)]) == [SLVERR]
    for address in (0x1C, 0x3FC, 0x800, 0xFFC):
        assert (await manager.reads([address]))[0][0] == SLVERR
        assert await manager.writes([(address, 1, 0xF)]) == [SLVERR]
    for address in (ID, STAT, OVER, RESULT, RESULT + 4):
        assert await vm.writes([(address, 0xFFFF_FFFF, 0xF)]) == [SLVERR]


@cocotb.test(timeout_time=100, timeout_unit="us")
async def what_is_written_stays_whatever_happens_to_the_connection(dut):
    vm, _, watch = await begin(dut, connected=False)
    registers = [CMD, DATA_ADDR, DATA_SIZE, *CUSTOM]
    values = {address: random.getrandbits(32) for address in registers}
    for address, value in values.items():
        await vm.write(address, value)
    for connected in (1, 0, 1):
        dut.connected_i.value = connected
        await cycles(dut, 3)
        assert {address: await vm.read(address) for address in registers} == values
        assert await vm.read(STAT) == (CONNECTED | 2 << 16 if connected else 0)
    assert not watch.starts


@cocotb.test(timeout_time=50, timeout_unit="us")
async def a_computation_starts_and_ends(dut):
    vm, manager, watch = await begin(dut)
    await vm.write(INT_CTRL, IRQ_ENABLE)
    for error in (0, 3, 0):
        values = tuple(random.getrandbits(32) for _ in range(4))
        await program(vm, values)
        await vm.write(START, 1)
        # The page's registers may be written for the next one at once: the task has its parameters.
        assert watch.starts[-1:] == [values] and await vm.read(START) == 0
        assert await vm.read(STAT) & (RUNNING | UNFINISHED) == RUNNING and await vm.read(OVER) == 0
        assert await manager.read(STATE) == 2 << 16 | RUNNING | CONNECTED
        await cycles(dut, 50)
        await pulse(dut, done_i=1, error_i=error)
        await cycles(dut, 2)
        assert dut.irq_o.value == 1
        assert await vm.read(OVER) == 1 and await vm.read(STAT) == 2 << 16 | error << 8 | CONNECTED
        assert await vm.read(RESULT) == error and 50 < await vm.read(RESULT + 4) < 100
        await vm.write(INT_CTRL, IRQ_ENABLE | IRQ_OVER)
        await cycles(dut, 2)
        assert dut.irq_o.value == 0 and await vm.read(INT_CTRL) == IRQ_ENABLE
    assert len(watch.starts) == 3 and watch.resumes == 0


@cocotb.test(timeout_time=50, timeout_unit="us")
async def a_wish_to_start_waits_for_a_region(dut):
    vm, manager, watch = await begin(dut, connected=False)
    values = (1, 2, 3, 4)
    await program(vm, values)
    await vm.write(START, 1)
    await cycles(dut, 20)
    assert not watch.starts and await vm.read(START) == 1 and await manager.read(STATE) == ASKED
    dut.connected_i.value = 1
    await cycles(dut, 3)
    assert watch.starts == [values] and await vm.read(START) == 0
    # One more may be asked for while it runs; it begins when the first is over.
    await vm.write(START, 1)
    await cycles(dut, 10)
    assert len(watch.starts) == 1
    await pulse(dut, done_i=1)
    await cycles(dut, 2)
    assert len(watch.starts) == 2


@cocotb.test(timeout_time=100, timeout_unit="us")
async def a_stopped_computation_goes_on_elsewhere(dut):
    vm, manager, watch = await begin(dut)
    await vm.write(INT_CTRL, IRQ_ENABLE)
    await vm.write(START, 1)
    context = [random.getrandbits(32) for _ in range(256)]
    for address, word in enumerate(context):
        await pulse(dut, ctx_we_i=1, ctx_addr_i=address, ctx_wdata_i=word)
    dut.stopped_i.value = 1
    await cycles(dut, 2)
    dut.connected_i.value = 0
    assert await vm.read(STAT) == UNFINISHED and await vm.read(OVER) == 0 and dut.irq_o.value == 0
    # Not with nothing connected; and a new one does not push in before it.
    await manager.write(COMMAND, RESUME)
    await vm.write(START, 1)
    assert [data for _, data in await manager.reads([CONTEXT + 4 * i for i in range(256)])] == context
    dut.stopped_i.value = 0
    dut.region_i.value = 1
    dut.connected_i.value = 1
    await cycles(dut, 5)
    assert len(watch.starts) == 1 and watch.resumes == 0
    await manager.write(COMMAND, RESUME)
    assert watch.resumes == 1 and await vm.read(STAT) == 1 << 16 | RUNNING | CONNECTED
    # The task reads its context, which the manager may have written, a word a cycle later.
    await manager.write(CONTEXT + 4 * 77, 0x1234_5678)
    context[77] = 0x1234_5678
    await manager.write(CONTEXT + 4 * 77, 0, strobe=0b0110)
    for address in random.sample(range(256), 20) + [77]:
        dut.ctx_addr_i.value = address
        await cycles(dut, 1)
        await Timer(1, units="ns")
        assert dut.ctx_rdata_o.value == context[address]
    await pulse(dut, done_i=1)
    await cycles(dut, 3)
    assert dut.irq_o.value == 1 and len(watch.starts) == 2
    # Nor does a command resume that one: it is running.
    await manager.write(COMMAND, RESUME)
    assert watch.resumes == 1


@cocotb.test(timeout_time=50, timeout_unit="us")
async def what_cannot_be_had_ends_with_an_error(dut):
    vm, manager, watch = await begin(dut, connected=False)
    await vm.write(INT_CTRL, IRQ_ENABLE)
    await manager.write(COMMAND, FAIL)
    assert await vm.read(OVER) == 0, "there was nothing to fail"
    await vm.write(START, 1)
    await manager.write(COMMAND, FAIL)
    await cycles(dut, 2)
    assert dut.irq_o.value == 1 and await vm.read(OVER) == 1 and await vm.read(RESULT) == FAILED
    assert await vm.read(START) == 0 and not watch.starts
    # A running one cannot be failed by command; taken from its region, it has failed.
    dut.connected_i.value = 1
    await vm.write(START, 1)
    await manager.write(COMMAND, FAIL)
    assert await vm.read(STAT) & RUNNING and len(watch.starts) == 1 and await vm.read(OVER) == 0
    dut.connected_i.value = 0
    await cycles(dut, 2)
    assert await vm.read(OVER) == 1 and await vm.read(RESULT) == TAKEN
    # An unfinished one is forgotten.
    dut.connected_i.value = 1
    await vm.write(START, 1)
    await pulse(dut, stopped_i=1)
    await manager.write(COMMAND, FAIL)
    assert await vm.read(STAT) & (RUNNING | UNFINISHED) == 0 and await vm.read(RESULT) == FAILED


@cocotb.test(timeout_time=50, timeout_unit="us")
async def the_window_is_the_managers_and_rests_while_connected(dut):
    vm, manager, _ = await begin(dut, connected=False)
    assert (dut.window_base_o.value, dut.window_pages_o.value) == (0, 0)
    await manager.write(WINDOW_BASE, 0x8_1234)
    await manager.write(WINDOW_PAGES, 0x400)
    assert (dut.window_base_o.value, dut.window_pages_o.value) == (0x8_1234, 0x400)
    dut.connected_i.value = 1
    await manager.write(WINDOW_BASE, 0)
    await manager.write(WINDOW_PAGES, 0x10_0000)
    for address in range(0, 0x1000, 4):
        await vm.writes([(address, 0xFFFF_FFFF, 0xF)])
    assert (dut.window_base_o.value, dut.window_pages_o.value) == (0x8_1234, 0x400)
    assert (await manager.read(WINDOW_BASE), await manager.read(WINDOW_PAGES)) == (0x8_1234, 0x400)


@cocotb.test(timeout_time=50, timeout_unit="us")
async def faults_are_counted_and_forgotten_on_command(dut):
    _, manager, _ = await begin(dut)
    assert dut.fault_o.value == 0
    await pulse(dut, refused_outside_i=1, refused_addr_i=0xDEAD_0000)
    await pulse(dut, refused_illegal_i=1, refused_addr_i=0xBEEF_0004)
    await pulse(dut, wrong_last_i=1, refused_addr_i=7)
    assert dut.fault_o.value == 1
    assert await manager.read(FAULTS) == 0x01_01_01 and await manager.read(FAULT_ADDR) == 0xBEEF_0004
    for _ in range(300):
        await pulse(dut, refused_outside_i=1)
    assert await manager.read(FAULTS) == 0x01_01_FF
    await manager.write(COMMAND, CLEAR_FAULTS)
    assert await manager.read(FAULTS) == 0 and dut.fault_o.value == 0
    dut.connected_i.value = 0
    await pulse(dut, refused_outside_i=1)
    assert await manager.read(FAULTS) == 0, "what is not connected is not listened to"


@cocotb.test(timeout_time=400, timeout_unit="us")
async def a_task_that_says_anything_ends_what_was_begun_and_no_more(dut):
    """Random from the task, connections that come and go: each start ends once, and nothing else is written."""
    vm, manager, watch = await begin(dut, pause=0.2)
    await vm.write(INT_CTRL, IRQ_ENABLE)
    values = (5, 6, 7, 8)
    await program(vm, values)
    context = [random.getrandbits(32) for _ in range(4)]
    for i, word in enumerate(context):
        await manager.write(CONTEXT + 4 * i, word)
    ended = 0
    for _ in range(60):
        # While nothing is running, nothing that the task says counts.
        for _ in range(10):
            for name in TASK_SIDE[2:]:
                signal = getattr(dut, name)
                signal.value = random.getrandbits(len(signal))
            dut.ctx_addr_i.value = random.randrange(4)
            await FallingEdge(dut.clk_i)
        assert await vm.read(STAT) & (RUNNING | UNFINISHED) == 0 and await vm.read(INT_CTRL) == IRQ_ENABLE
        for name in TASK_SIDE[2:]:
            getattr(dut, name).value = 0
        assert [data for _, data in await manager.reads([CONTEXT + 4 * i for i in range(4)])] == context
        await vm.write(START, 1)
        await cycles(dut, random.randrange(5))
        how = random.randrange(3)
        if how == 0:
            await pulse(dut, done_i=1, stopped_i=random.getrandbits(1))
        elif how == 1:
            await pulse(dut, stopped_i=1)
            await manager.write(COMMAND, FAIL)
        else:
            dut.connected_i.value = 0
            await cycles(dut, 3)
            dut.connected_i.value = 1
        await cycles(dut, 2)
        ended += 1
        assert len(watch.starts) == ended and await vm.read(OVER) == 1
        assert await vm.read(RESULT) == (0, FAILED, TAKEN)[how]
        await vm.write(INT_CTRL, IRQ_ENABLE | IRQ_OVER)
    assert set(watch.starts) == {values} and watch.resumes == 0


async def idle(dut, vm, manager):
    """Nothing was asked for."""


async def asked(dut, vm, manager):
    dut.connected_i.value = 0
    await vm.write(START, 1)
    assert await manager.read(STATE) == ASKED


async def running(dut, vm, manager):
    await vm.write(START, 1)
    dut.drained_i.value = 0
    assert await vm.read(STAT) & RUNNING


async def running_and_asked(dut, vm, manager):
    await running(dut, vm, manager)
    await vm.write(START, 1)


async def unfinished(dut, vm, manager):
    await running(dut, vm, manager)
    await pulse(dut, stopped_i=1)
    assert await vm.read(STAT) & UNFINISHED


async def unfinished_and_asked(dut, vm, manager):
    await unfinished(dut, vm, manager)
    await vm.write(START, 1)


async def taken(dut, vm, manager):
    """Over, but memory still owes something to its region."""
    await running(dut, vm, manager)
    dut.connected_i.value = 0
    await cycles(dut, 2)
    assert await vm.read(OVER) == 1 and await vm.read(RESULT) == TAKEN


async def done(dut, vm, manager):
    await running(dut, vm, manager)
    await pulse(dut, done_i=1)
    dut.drained_i.value = 1
    await cycles(dut, 2)
    assert await vm.read(OVER) == 1 and dut.irq_o.value == 1


async def end_leaves_nothing_behind(dut, before, how):
    vm, manager, watch = await begin(dut)
    values = (5, 6, 7, 8)
    await program(vm, values)
    await vm.write(INT_CTRL, IRQ_ENABLE)
    await before(dut, vm, manager)
    starts = len(watch.starts)
    waits = dut.drained_i.value == 0
    await vm.write(END, 1)
    if waits:
        # It stands until its regions are drained, whatever happens to the connection.
        assert await vm.read(END) == 1
        dut.connected_i.value = random.getrandbits(1)
        if how == "asked meanwhile":
            await vm.write(START, 1)
            await vm.write(INT_CTRL, IRQ_ENABLE)
        await cycles(dut, 30)
        assert await vm.read(END) == 1 and await manager.read(STATE) & (ASKED | RUNNING | UNFINISHED) == 0
        dut.drained_i.value = 1
    assert await vm.read(END) == 0
    assert await vm.read(START) == await vm.read(OVER) == await vm.read(INT_CTRL) == dut.irq_o.value == 0
    asked_meanwhile = how == "asked meanwhile" and waits
    expected = (ENDED if before not in (idle, taken, done) or asked_meanwhile else TAKEN if before is taken else 0)
    assert await vm.read(RESULT) == expected and await vm.read(STAT) >> 8 & 0xF == expected
    # The manager can't bring it back.
    dut.connected_i.value = 1
    await manager.write(COMMAND, RESUME)
    await manager.write(COMMAND, FAIL)
    await pulse(dut, done_i=1, stopped_i=1, error_i=3)
    await cycles(dut, 20)
    assert len(watch.starts) == starts and watch.resumes == 0 and await vm.read(OVER) == 0 and dut.irq_o.value == 0
    # The next computation is as any other, with what the registers have kept.
    await vm.write(INT_CTRL, IRQ_ENABLE)
    await vm.write(START, 1)
    assert watch.starts[starts:] == [values]
    await pulse(dut, done_i=1, error_i=2)
    await cycles(dut, 2)
    assert await vm.read(OVER) == 1 and await vm.read(RESULT) == 2 and dut.irq_o.value == 1


factory = TestFactory(cocotb.test(timeout_time=50, timeout_unit="us")(end_leaves_nothing_behind))
factory.add_option("before", [idle, asked, running, running_and_asked, unfinished, unfinished_and_asked, taken, done])
factory.add_option("how", ["alone", "asked meanwhile"])
factory.generate_tests()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def end_beside_whatever_the_task_and_the_manager_do(dut):
    """Around the cycle of END the task is done or stops, the region is taken, the manager resumes or fails."""
    vm, manager, watch = await begin(dut)
    for attempt in range(150):
        dut.connected_i.value, dut.drained_i.value = 1, 1
        await vm.write(INT_CTRL, IRQ_ENABLE)
        if attempt % 3:
            await vm.write(START, 1)
        if attempt % 3 == 2:
            await pulse(dut, stopped_i=1)
        else:
            dut.drained_i.value = 0
        ending = cocotb.start_soon(vm.write(END, 1))
        commanding = cocotb.start_soon(manager.write(COMMAND, random.choice((RESUME, FAIL, RESUME | FAIL))))
        await cycles(dut, random.randrange(8))
        event = random.choice(("done_i", "stopped_i", "connected_i"))
        await pulse(dut, **{event: int(event != "connected_i")})
        await ending
        await commanding
        dut.drained_i.value = 1
        while await vm.read(END):
            pass
        starts, resumes = len(watch.starts), watch.resumes
        dut.connected_i.value = 1
        await manager.write(COMMAND, RESUME)
        await cycles(dut, 10)
        assert await manager.read(STATE) & (ASKED | RUNNING | UNFINISHED) == 0
        assert await vm.read(OVER) == await vm.read(INT_CTRL) == 0
        assert (len(watch.starts), watch.resumes) == (starts, resumes)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def end_as_often_as_the_bus_lets_it(dut):
    """Writes of END, START and others without a pause: each START begins at most once, and the last one begins."""
    vm, manager, watch = await begin(dut)
    values = (5, 6, 7, 8)
    await program(vm, values)
    writes = [(random.choice((END, START, INT_CTRL)), random.getrandbits(1), 0xF) for _ in range(400)]
    assert await vm.writes(writes) == [OKAY] * len(writes)
    assert len(watch.starts) <= sum(address == START and data for address, data, _ in writes)
    await vm.write(END, 1)
    assert await vm.read(END) == 0
    starts = len(watch.starts)
    await vm.write(START, 1)
    assert watch.starts[starts:] == [values] and await vm.read(STAT) & RUNNING
    await pulse(dut, done_i=1)
    assert await vm.read(OVER) == 1
