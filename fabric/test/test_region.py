"""A region: its states, and that nothing of what it drives when it should not gets out."""

import random

import cocotb
from cocotb.triggers import FallingEdge, Timer

from axi import OKAY, AxiLiteMaster
from common import reset
from test_isolator import BASE, PAGE, PAGES, REGION, HeldMemory, Task, request

ID, DESCRIPTOR, CLIENT, COMMAND, ANSWER, HOLD, IRQ_ENABLE, IRQ_PENDING, IRQ_CLEAR = range(0, 0x24, 4)
IDLE, BUSY, PREEMPT, SWITCH, RECONFIG, HOLDS = range(6)
TAKE, STOP, KILL, CONNECT, RELEASE = (1 << i for i in range(5))
STOPPED, EXPIRED = 1, 2
TASK = 7
DRIVEN = ("configure_i", "configured_i", "configured_task_i", "if_start_i", "if_resume_i", "if_abort_i",
          "if_window_base_i", "if_window_pages_i", "task_done_i", "task_stopped_i", "task_ctx_we_i")


class Region:
    """The region with what is around it."""

    def __init__(self, dut, pause):
        self.dut = dut
        self.page, self.task, self.memory = AxiLiteMaster(dut, pause=pause), Task(dut), HeldMemory(dut)
        for name in DRIVEN:
            getattr(dut, name).value = 0
        dut.if_window_base_i.value, dut.if_window_pages_i.value = BASE, PAGES

    async def cycles(self, count):
        for _ in range(count):
            await FallingEdge(self.dut.clk_i)

    async def pulse(self, **signals):
        for name, value in signals.items():
            getattr(self.dut, name).value = value
        await FallingEdge(self.dut.clk_i)
        for name in signals:
            getattr(self.dut, name).value = 0

    async def abort(self):
        """As an interface whose END is written; ends when the region is drained, with the cycles that took."""
        self.dut.if_abort_i.value = 1
        cycles = 0
        await Timer(4, units="ns")
        while self.dut.drained_o.value == 0:
            await FallingEdge(self.dut.clk_i)
            await Timer(4, units="ns")
            cycles += 1
        await FallingEdge(self.dut.clk_i)
        self.dut.if_abort_i.value = 0
        return cycles

    async def state(self):
        return await self.page.read(DESCRIPTOR) & 7

    async def command(self, bits):
        """Whether it was carried out."""
        await self.page.write(COMMAND, bits)
        return await self.page.read(ANSWER) == 0

    async def load(self, number=TASK, during=20):
        """From Idle or Switch to Switch, loaded."""
        await self.pulse(configure_i=1)
        await self.cycles(during)
        await self.pulse(configured_i=1, configured_task_i=number)

    async def come_to(self, state):
        """Into any state from any, loaded."""
        now = await self.state()
        if now in (BUSY, PREEMPT):
            assert await self.command(KILL)
        elif now == RECONFIG:
            await self.pulse(configured_i=1, configured_task_i=TASK)
        elif now == HOLDS:
            await self.pulse(if_start_i=1)
            assert await self.command(KILL)
        elif now == IDLE:
            assert await self.command(TAKE)
        assert await self.state() == SWITCH
        if await self.page.read(DESCRIPTOR) >> 8 & 0xFF != TASK:
            await self.load()
        if state == IDLE:
            assert await self.command(RELEASE)
        elif state == RECONFIG:
            await self.pulse(configure_i=1)
        elif state != SWITCH:
            assert await self.command(CONNECT)
            if state != HOLDS:
                await self.pulse(if_start_i=1)
            if state == PREEMPT:
                assert await self.command(STOP)
        assert await self.state() == state


async def begin(dut, pause=0.0):
    region = Region(dut, pause)
    await reset(dut)
    return region


@cocotb.test(timeout_time=50, timeout_unit="us")
async def begins_empty_and_idle(dut):
    region = await begin(dut)
    assert await region.page.read(ID) == 0x5247_0002
    # Idle, of size 1, not connected, drained, not loaded.
    assert await region.page.read(DESCRIPTOR) == 1 << 4 | 1 << 7
    assert await region.command(TAKE)
    assert not await region.command(CONNECT), "there is no task in it"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def each_command_and_event_in_each_state(dut):
    """Figure 7, arrow by arrow; what is no arrow is refused, and changes nothing."""
    region = await begin(dut, pause=0.1)
    commands = {
        (IDLE, TAKE): SWITCH,
        (BUSY, STOP): PREEMPT, (BUSY, KILL): SWITCH, (PREEMPT, KILL): SWITCH,
        (SWITCH, CONNECT): HOLDS, (SWITCH, RELEASE): IDLE,
    }
    for state in range(6):
        for command in (TAKE, STOP, KILL, CONNECT, RELEASE, TAKE | RELEASE, STOP | KILL, CONNECT | RELEASE):
            await region.come_to(state)
            expected = commands.get((state, command))
            assert await region.command(command) == (expected is not None), (state, command)
            assert await region.state() == (state if expected is None else expected), (state, command)
    events = {
        (IDLE, "configure_i"): RECONFIG, (SWITCH, "configure_i"): RECONFIG,
        (RECONFIG, "configured_i"): SWITCH,
        (HOLDS, "if_start_i"): BUSY, (HOLDS, "if_resume_i"): BUSY,
        (BUSY, "task_done_i"): IDLE, (BUSY, "task_stopped_i"): SWITCH,
        (PREEMPT, "task_done_i"): SWITCH, (PREEMPT, "task_stopped_i"): SWITCH,
    }
    for state in range(6):
        for event in ("configure_i", "configured_i", "if_start_i", "if_resume_i", "task_done_i", "task_stopped_i"):
            await region.come_to(state)
            dut.configured_task_i.value = TASK
            await region.pulse(**{event: 1})
            assert await region.state() == events.get((state, event), state), (state, event)
    # A client that was done has the region until another client takes it.
    await region.come_to(BUSY)
    await region.pulse(task_done_i=1)
    await region.pulse(if_start_i=1)
    assert await region.state() == BUSY


@cocotb.test(timeout_time=100, timeout_unit="us")
async def a_failed_configuration_leaves_it_empty(dut):
    region = await begin(dut)
    await region.come_to(SWITCH)
    await region.pulse(configure_i=1)
    assert await region.page.read(DESCRIPTOR) >> 8 & 0xFF == 0
    await region.pulse(configured_i=1, configured_task_i=0)
    assert await region.page.read(DESCRIPTOR) & 0xFF4F == IDLE, "not loaded, not connected"
    await region.load()
    assert await region.page.read(DESCRIPTOR) >> 8 & 0xFF == TASK


@cocotb.test(timeout_time=100, timeout_unit="us")
async def it_is_held_for_its_client_for_so_long(dut):
    region = await begin(dut)
    await region.page.write(IRQ_ENABLE, EXPIRED)
    await region.come_to(SWITCH)
    for hold in (1, 50, 200):
        await region.page.write(HOLD, hold)
        await region.page.write(CLIENT, 0x2A00_0003)
        await region.page.write(COMMAND, CONNECT)
        held = 0
        while dut.u_region.state_o.value != HOLDS:
            await FallingEdge(dut.clk_i)
        while dut.u_region.state_o.value == HOLDS:
            assert dut.connected_o.value == 1 and dut.client_o.value == 3
            await FallingEdge(dut.clk_i)
            held += 1
        assert held in (hold, hold + 1)
        await region.cycles(2)
        assert dut.irq_o.value == 1 and await region.page.read(IRQ_PENDING) == EXPIRED
        descriptor = await region.page.read(DESCRIPTOR)
        assert descriptor == 0x2A << 24 | 3 << 16 | TASK << 8 | 1 << 7 | 1 << 6 | 1 << 4 | IDLE
        await region.page.write(IRQ_CLEAR, EXPIRED)
        await region.cycles(2)
        assert dut.irq_o.value == 0 and await region.command(TAKE)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def a_preempted_task_is_told_and_waited_for(dut):
    region = await begin(dut)
    await region.page.write(IRQ_ENABLE, STOPPED)
    await region.come_to(BUSY)
    assert dut.task_stop_o.value == 0
    assert await region.command(STOP)
    await region.cycles(100)
    assert dut.task_stop_o.value == 1 and await region.state() == PREEMPT and dut.irq_o.value == 0
    # Until it has stopped it may write its memory and its context.
    assert await region.task.start_writes([(8, [(77, 0xFF)])]) == [{"resp": OKAY}]
    dut.task_ctx_we_i.value = 1
    await Timer(1, units="ns")
    assert dut.if_ctx_we_o.value == 1 and dut.task_rst_no.value == 1
    await region.pulse(task_stopped_i=1)
    await Timer(1, units="ns")
    assert dut.if_ctx_we_o.value == 0 and dut.task_rst_no.value == 0 and dut.connected_o.value == 0
    await region.cycles(2)
    assert dut.irq_o.value == 1 and await region.state() == SWITCH
    dut.task_ctx_we_i.value = 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def while_it_is_reconfigured_or_empty_nothing_gets_out(dut):
    region = await begin(dut)
    drove = {"driven_awvalid_o": 0, "driven_done_o": 0}

    async def watch(cycles):
        for _ in range(cycles):
            await Timer(4, units="ns")
            for name in drove:
                drove[name] += int(getattr(dut, name).value)
            assert not any(getattr(dut, f"if_{name}_o").value for name in ("done", "stopped", "ctx_we", "refused"))
            assert not any(getattr(dut, f"m_axi_{name}valid").value for name in ("aw", "w", "ar"))
            await FallingEdge(dut.clk_i)

    await region.cycles(1)
    await watch(300)
    for attempt in range(6):
        await region.come_to(BUSY)
        # With what it had under way.
        running = [cocotb.start_soon(region.task.send("ar", [request(0, 16)] * 3)),
                   cocotb.start_soon(region.task.send("aw", [request(0, 16)] * 3)),
                   cocotb.start_soon(region.task.send("w", [{"data": 1, "strb": 255, "last": 0}] * 40))]
        await region.cycles(random.randrange(50))
        assert await region.command(KILL)
        for each in running:
            each.kill()
        for name in REGION:
            region.task.signal(name).value = 0
        while not await region.page.read(DESCRIPTOR) >> 7 & 1:
            pass
        await region.pulse(configure_i=1)
        assert await region.state() == RECONFIG
        await watch(400)
        good = attempt % 2
        await region.pulse(configured_i=1, configured_task_i=TASK if good else 0)
        await watch(100)
        assert await region.state() == (SWITCH if good else IDLE)
        if good:
            # The next client finds nothing of it, and has its own memory.
            assert await region.command(CONNECT)
            await region.pulse(if_start_i=1)
            assert await region.task.start_writes([(PAGE, [(attempt, 0xFF)])]) == [{"resp": OKAY}]
            assert (await region.task.start_reads([(PAGE, 1)]))[0]["data"] == attempt
    assert min(drove.values()) > 500, "the region drove nothing that could have got out"
    assert region.memory.outside_is_untouched()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def an_abort_in_each_state(dut):
    """It ends a computation as one that is done; in all other states nothing changes."""
    region = await begin(dut)
    await region.page.write(IRQ_ENABLE, STOPPED)
    for state in range(6):
        for event in (None, "task_done_i", "task_stopped_i"):
            await region.come_to(state)
            await region.page.write(IRQ_CLEAR, STOPPED)
            before = await region.page.read(DESCRIPTOR)
            aborting = cocotb.start_soon(region.abort())
            if event:
                await region.pulse(**{event: 1})
            assert await aborting <= 1
            await region.cycles(2)
            after = await region.page.read(DESCRIPTOR)
            assert after & 7 == {BUSY: IDLE, PREEMPT: SWITCH}.get(state, state), (state, event)
            # Connected and loaded as before, but where it was to be preempted: the manager is told.
            if state != PREEMPT:
                assert after >> 6 == before >> 6
            assert dut.irq_o.value == int(state == PREEMPT)
            if state == BUSY:
                assert dut.task_rst_no.value == 1
                await region.pulse(if_start_i=1)
                assert await region.state() == BUSY
                await region.pulse(task_done_i=1)
                assert await region.state() == IDLE


@cocotb.test(timeout_time=100, timeout_unit="us")
async def commands_while_it_is_aborted(dut):
    """While memory owes something the state stays, the task is in reset, and commands are as of a computation."""
    region = await begin(dut)
    for state, command, after in ((BUSY, None, IDLE), (BUSY, TAKE, IDLE), (BUSY, CONNECT, IDLE), (BUSY, STOP, SWITCH),
                                  (BUSY, KILL, SWITCH), (PREEMPT, None, SWITCH), (PREEMPT, STOP, SWITCH),
                                  (PREEMPT, KILL, SWITCH)):
        await region.come_to(state)
        region.memory.held = True
        cocotb.start_soon(region.task.send("ar", [request(0, 4)]))
        await region.cycles(10)
        aborting = cocotb.start_soon(region.abort())
        await region.cycles(3)
        assert await region.state() == state and dut.task_rst_no.value == 0 and dut.drained_o.value == 0
        # Nothing that it says counts, and a region that is being aborted can't be taken.
        await region.pulse(task_done_i=1, task_stopped_i=1, task_ctx_we_i=1)
        assert await region.state() == state
        if command:
            allowed = (state, command) in ((BUSY, STOP), (BUSY, KILL), (PREEMPT, KILL))
            assert await region.command(command) == allowed
            await region.cycles(3)
        assert dut.drained_o.value == 0
        region.memory.held = False
        assert await aborting > 10
        await region.cycles(1)
        assert await region.state() == after, (state, command)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def nothing_of_an_aborted_task_reaches_memory_once_it_is_drained(dut):
    """Aborted in every second cycle of a run with all that may be under way; then the next computation in the region."""
    region = await begin(dut)
    await region.come_to(BUSY)
    longest = 0
    for after in range(0, 120, 2):
        running = [cocotb.start_soon(region.task.send("ar", [request(128 * i, 16) for i in range(6)])),
                   cocotb.start_soon(region.task.send("aw", [request(128 * i, 16) for i in range(6)])),
                   cocotb.start_soon(region.task.send("w", [{"data": after << 8 | i, "strb": 255,
                                                             "last": int(i % 16 == 15)} for i in range(96)]))]
        await region.cycles(after)
        longest = max(longest, await region.abort())
        memory = bytes(region.memory.bytes)
        asked = len(region.memory.writes), len(region.memory.reads), len(region.memory.words)
        # It is still there and drives all that it has.
        for _ in range(100):
            await Timer(4, units="ns")
            assert not any(getattr(dut, f"m_axi_{name}valid").value for name in ("aw", "w", "ar"))
            assert not any(getattr(dut, f"if_{name}_o").value for name in ("done", "stopped", "ctx_we", "refused"))
            await FallingEdge(dut.clk_i)
        assert region.memory.bytes == memory
        assert asked == (len(region.memory.writes), len(region.memory.reads), len(region.memory.words))
        for each in running:
            each.kill()
        for name in REGION:
            region.task.signal(name).value = 0
        assert dut.u_region.state_o.value == IDLE and dut.connected_o.value == 1
        await region.pulse(if_start_i=1)
        assert await region.task.start_writes([(2 * PAGE, [(after, 0xFF)])]) == [{"resp": OKAY}]
        assert (await region.task.start_reads([(2 * PAGE, 1)]))[0]["data"] == after
    dut._log.info("drained at most %d cycles after END is read as one", longest)
    # As isolator_cycles_max, and the cycle in which the region learns of it.
    assert longest <= 2 * (4 * 16 + 1) + 1
    assert region.memory.outside_is_untouched()
