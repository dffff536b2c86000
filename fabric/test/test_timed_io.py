"""The timed I/O processor, as its VMs and their manager see it: every pin in every cycle against the model."""

import random

import cocotb
from cocotb.triggers import FallingEdge, Timer

from axi import OKAY, SLVERR, AxiLiteMaster
from common import reset
from timed_io_model import (COMMANDS, LATE_COMMAND, LATE_SCHEDULE, NO_END, NO_PIN, REPORTS_MAX, SAMPLES_FULL, STILL_RUNNING,
                            Vm, decode, encode)

(ID, STATUS, NOW, START, PERIOD, RUNS, RUN, CANCEL, SAMPLE, REPORT, REPORT_TIME, PROGRAM) = (
    0x00, 0x04, 0x08, 0x10, 0x18, 0x1C, 0x20, 0x24, 0x28, 0x2C, 0x30, 0x400)
PINS = 0x100
OWNED = VALID = 1 << 31


class Processor:
    """The block, its time, and what was on its pins."""

    def __init__(self, dut):
        self.dut = dut
        self.bus = AxiLiteMaster(dut)
        self.vms = len(dut.armed)
        self.pins = len(dut.pins_o)
        self.ahead = 10 * self.vms + 16
        self.outputs, self.inputs = {}, {}
        self.lost = [0] * self.vms

    async def begin(self):
        self.dut.pins_i.value = 0
        await reset(self.dut)
        cocotb.start_soon(self.watch())

    async def watch(self):
        """Drives the pins at random, and keeps what is on them in each cycle."""
        while True:
            self.dut.pins_i.value = random.getrandbits(self.pins)
            await Timer(4, units="ns")
            now = int(self.dut.time_o.value)
            self.outputs[now], self.inputs[now] = int(self.dut.pins_o.value), int(self.dut.pins_i.value)
            await FallingEdge(self.dut.clk_i)

    def page(self, vm):
        return vm << 12

    async def own(self, pin, vm):
        await self.bus.write(self.page(self.vms) + PINS + 4 * pin, OWNED | vm)

    async def store(self, vm, words):
        for index, word in enumerate(words):
            await self.bus.write(self.page(vm) + PROGRAM + 4 * index, word)

    async def status(self, vm):
        word = await self.bus.read(self.page(vm) + STATUS)
        return {"scheduled": word & 1, "armed": word >> 1 & 1, "running": word >> 2 & 1, "answer": word >> 4 & 7,
                "samples": word >> 8 & 63, "reports": word >> 16 & 15, "lost": word >> 24}

    async def prepare(self, vm, start, period=0, runs=1):
        await self.bus.write64(self.page(vm) + START, start)
        await self.bus.write(self.page(vm) + PERIOD, period)
        await self.bus.write(self.page(vm) + RUNS, runs)

    async def schedule(self, vm, entry, start, period=0, runs=1):
        await self.prepare(vm, start, period, runs)
        await self.bus.write(self.page(vm) + RUN, entry)
        return (await self.status(vm))["answer"]

    async def samples(self, vm):
        out = []
        while (word := await self.bus.read(self.page(vm) + SAMPLE)) & VALID:
            out.append(word & 0xFF)
        return out

    async def reports(self, vm):
        out = []
        while (word := await self.bus.read(self.page(vm) + REPORT)) & VALID:
            out.append((word & 7, await self.bus.read64(self.page(vm) + REPORT_TIME)))
            await self.bus.write(self.page(vm) + REPORT, VALID)
        return out

    async def now(self):
        return await self.bus.read64(NOW)

    async def sleep(self, until):
        while int(self.dut.time_o.value) < until:
            await FallingEdge(self.dut.clk_i)

    async def compare_reports(self, vm, model):
        """All are there, but for those that came less than a turn of the schedule behind another: they are counted."""
        there = await self.reports(vm)
        lost = (await self.status(vm))["lost"]
        missing = [report for report in model.reports if report not in there]
        assert [report for report in model.reports if report in there] == there, f"VM {vm}: {there}, {model.reports}"
        assert lost - self.lost[vm] == len(missing), f"VM {vm}: {missing}"
        for cause, at in missing:
            assert any(0 <= at - other <= self.ahead for _, other in there), f"VM {vm}: {(cause, at)} of {there}"
        self.lost[vm] = lost

    async def compare(self, models, owners, since, until):
        """All pins in all cycles, then samples and reports. `owners`: of each pin, its VM or None."""
        await self.sleep(until + 1)
        levels = [model.levels(since, until) for model in models]
        for at in range(since, until):
            expected = sum((levels[vm][at - since] >> pin % 8 & 1) << pin
                           for pin, vm in enumerate(owners) if vm is not None)
            assert self.outputs[at] == expected, f"at {at}: {self.outputs[at]:#x}, not {expected:#x}"
        for vm, model in enumerate(models):
            expected = []
            for at in model.samples:
                sample = 0
                for pin, owner in enumerate(owners):
                    if owner == vm:
                        sample |= (self.inputs[at] >> pin & 1) << pin % 8
                expected.append(sample)
            assert await self.samples(vm) == expected, f"VM {vm}"
            await self.compare_reports(vm, model)


async def begin(dut):
    processor = Processor(dut)
    await processor.begin()
    return processor


def random_block(room, level, levels):
    """Commands that take up to `room` words, as functions of where they lie."""
    out = []
    while len(out) < room:
        kind = random.choice(["write"] * 5 + ["wait", "until", "read", "loop"])
        if kind == "loop" and room - len(out) >= 3 and level < levels:
            begun = len(out)
            inner = random_block(random.randrange(1, room - len(out) - 1), level + 1, levels)
            out.append(lambda base, level=level, n=random.randrange(1, 5): encode("loop", level=level, count=n))
            out += [lambda base, c=c, begun=begun: c(base + begun + 1) for c in inner]
            out.append(lambda base, level=level, begun=begun: encode("repeat", level=level, word=base + begun + 1))
        elif kind == "write":
            word = encode("write", mask=random.getrandbits(8), values=random.getrandbits(8))
            out.append(lambda base, word=word: word)
        elif kind == "wait":
            word = encode("wait", cycles=random.choice([1, 1, 2, 3, random.randrange(4, 40)]))
            out.append(lambda base, word=word: word)
        elif kind == "until":
            # Rarely late: with less than what lies behind the mark.
            word = encode("until", cycles=random.randrange(15, 80))
            out.append(lambda base, word=word: word)
        elif kind == "read":
            out.append(lambda base, word=encode("read"): word)
    return out


def random_program():
    """(words, entry): one that ends, or comes to the end of the memory."""
    entry = random.randrange(0, 40)
    words = [0] * entry + [make(entry) for make in random_block(random.randrange(2, 64 - entry), 0, 2)]
    return (words + [encode("end")])[:64] if random.random() < 0.9 else words[:64], entry


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def random_programs_are_exact(dut):
    p = await begin(dut)
    since = 0
    owners = [None] * p.pins
    models = [Vm(0) for _ in range(p.vms)]
    for vm in range(p.vms):
        for line in range(8):
            if random.random() < 0.9:
                free = [pin for pin in range(line, p.pins, 8) if owners[pin] is None]
                if free:
                    pin = random.choice(free)
                    owners[pin] = vm
                    models[vm].granted |= 1 << line
                    await p.own(pin, vm)
    for _ in range(4):
        plans = []
        for vm in range(p.vms):
            words, entry = random_program()
            # What a program without a pin fails at is in the way of all behind it: rarely.
            if random.random() < 0.9:
                words = [w & ~(0xFF & ~models[vm].granted) << 8 if w >> 16 == 1 else w for w in words]
            words += [0] * (64 - len(words))
            await p.store(vm, words)
            models[vm].program = words
            plans.append((entry, random.randrange(p.ahead, 300), random.randrange(1, 5)))
        together = int(dut.time_o.value) + 500
        until = together
        for vm, (entry, period, runs) in enumerate(plans):
            start = together + random.choice([0, 0, random.randrange(50)])
            assert await p.schedule(vm, entry, start, period, runs) == 0
            until = max(until, models[vm].schedule(entry, start, period, runs), start + runs * period)
        await p.compare(models, owners, since, until + 20)
        since = until + 20
        for model in models:
            model.samples.clear()
            model.reports.clear()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def all_engines_change_all_pins_in_every_cycle(dut):
    p = await begin(dut)
    owners = [pin // 8 if pin // 8 < p.vms else None for pin in range(p.pins)]
    models = [Vm(0xFF) for _ in range(p.vms)]
    for pin, vm in enumerate(owners):
        if vm is not None:
            await p.own(pin, vm)
    for vm, model in enumerate(models):
        if vm not in owners:
            model.granted = 0
        words = [encode("write", mask=model.granted, values=random.getrandbits(8)) for _ in range(31)]
        words = [encode("loop", level=0, count=5), *words, encode("read"), encode("repeat", level=0, word=1), encode("end")]
        await p.store(vm, words)
        model.program[:len(words)] = words
    start = int(dut.time_o.value) + 300 * p.vms
    until = start
    for vm, model in enumerate(models):
        assert await p.schedule(vm, 0, start, period=200 + p.ahead, runs=3) == 0
        until = max(until, model.schedule(0, start, 200 + p.ahead, 3))
    assert int(dut.time_o.value) < start
    await p.compare(models, owners, 0, until + 20)


@cocotb.test(timeout_time=500, timeout_unit="us")
async def what_is_late_is_reported_and_not_done(dut):
    p = await begin(dut)
    await p.own(0, 0)
    await p.store(0, [encode("write", mask=1, values=1), encode("end")])
    # A moment ago, a moment ahead, and never.
    for start in (0, int(dut.time_o.value) + p.ahead // 2):
        assert await p.schedule(0, 0, start) == 1
        assert await p.reports(0) == [(LATE_SCHEDULE, start)]
    assert not (await p.status(0))["scheduled"]
    await p.sleep(int(dut.time_o.value) + 200)
    assert all(pins == 0 for pins in p.outputs.values())
    # Repeated too soon.
    assert await p.schedule(0, 0, await p.now() + 500, period=p.ahead - 1, runs=2) == 3
    assert await p.schedule(0, 0, await p.now() + 500, period=p.ahead - 1, runs=1) == 0
    # There is one already; and what it is made of cannot be changed.
    await p.bus.write(RUN, 0)
    assert (await p.status(0))["answer"] == 2
    for register in (START, START + 4, PERIOD, RUNS):
        assert await p.bus.writes([(register, 7, 0xF)]) == [SLVERR]
    assert await p.bus.read(PERIOD) == p.ahead - 1


@cocotb.test(timeout_time=500, timeout_unit="us")
async def a_late_until_ends_its_run(dut):
    p = await begin(dut)
    await p.own(3, 1 % p.vms)
    vm = 1 % p.vms
    model = Vm(0b1000)
    for late in (False, True):
        words = [encode("wait", cycles=3), *[encode("write", mask=8, values=0)] * 4,
                 encode("until", cycles=4 if late else 5), encode("write", mask=8, values=8), encode("end")]
        await p.store(vm, words)
        model.program[:len(words)] = words
        start = await p.now() + 200
        assert await p.schedule(vm, 0, start) == 0
        model.schedule(0, start)
        await p.sleep(start + 60)
    assert model.reports == [(LATE_COMMAND, start + 7)]
    assert await p.reports(vm) == model.reports
    assert [at for at, pins in p.outputs.items() if pins & 8][0] == model.writes[4][0]


@cocotb.test(timeout_time=500, timeout_unit="us")
async def a_pin_is_one_vms(dut):
    p = await begin(dut)
    manager = p.page(p.vms)
    assert await p.bus.read(manager) == 0x544D_0001
    assert await p.bus.read(manager + 4) == p.ahead << 16 | p.pins << 8 | p.vms
    last = p.vms - 1
    await p.own(0, last)
    assert await p.bus.read(manager + PINS) == OWNED | last
    # The line has its pin; a VM that is none; a word that means nothing; a pin that is none; half a word.
    refused = [(manager + PINS + 4 * 8, OWNED | last, 0xF), (manager + PINS + 4, OWNED | p.vms, 0xF),
               (manager + PINS + 4, OWNED | 1 << 6, 0xF), (manager + PINS + 4, OWNED, 0x3),
               (manager + PINS + 4 * p.pins, OWNED, 0xF), (manager, 0, 0xF)]
    assert await p.bus.writes(refused) == [SLVERR] * len(refused)
    # Nor does a read of the pin that is none tell of pin 0.
    assert await p.bus.reads([manager + PINS + 4 * p.pins]) == [(SLVERR, 0)]
    assert await p.bus.read(manager + PINS + 4) == 0
    assert await p.bus.read(manager + PINS + 4 * 8) == 0
    # A line without a pin: nothing of the command is done, and what is behind it neither.
    await p.store(last, [encode("write", mask=0b11, values=0b11), encode("write", mask=1, values=1), encode("end")])
    start = await p.now() + 300
    assert await p.schedule(last, 0, start) == 0
    await p.sleep(start + 50)
    assert await p.reports(last) == [(NO_PIN, start)]
    assert all(pins == 0 for pins in p.outputs.values())
    # The second command alone.
    start = await p.now() + 300
    assert await p.schedule(last, 1, start) == 0
    await p.sleep(start + 50)
    assert p.outputs[start - 1] == 0 and p.outputs[start] == 1
    # Taken away, the pin is low, and stays so when the VM gets it again.
    await p.bus.write(manager + PINS, 0)
    await p.own(8 % p.pins, last)
    await p.sleep(int(dut.time_o.value) + 5)
    assert int(dut.pins_o.value) == 0
    if p.pins > 8:
        assert await p.bus.writes([(manager + PINS, OWNED | last, 0xF)]) == [SLVERR], "the line has a pin again"


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def words_that_are_no_commands_are_refused(dut):
    p = await begin(dut)
    words = [random.getrandbits(18) for _ in range(600)] + [0x2FFFF, 0x3FFFF, 0x4000, 0x1, 0x2001, 0x8000, 1 << 18]
    words += [1 << 31 | encode("end"), encode("read"), encode("end")]
    for word in words:
        expected = OKAY if word >> 18 == 0 and decode(word) is not None else SLVERR
        response, = await p.bus.writes([(PROGRAM + 4 * random.randrange(64), word, 0xF)])
        assert response == expected, f"{word:#x}"
    for name in COMMANDS:
        least = {f["name"]: f["least"] for f in COMMANDS[name]["fields"]}
        most = {f["name"]: f["most"] for f in COMMANDS[name]["fields"]}
        for fields in (least, most):
            assert decode(encode(name, **fields)) == (name, fields)
            await p.store(0, [encode(name, **fields)])
    # A word that is refused leaves the one before; so does half a word.
    await p.own(0, 0)
    await p.store(0, [encode("write", mask=1, values=1), encode("end")])
    assert await p.bus.writes([(PROGRAM, 0x1, 0xF), (PROGRAM, 0, 0x3)]) == [SLVERR, SLVERR]
    start = await p.now() + 300
    assert await p.schedule(0, 0, start) == 0
    await p.sleep(start + 5)
    assert p.outputs[start - 1] == 0 and p.outputs[start] == 1


@cocotb.test(timeout_time=500, timeout_unit="us")
async def low_words_of_the_time_come_round(dut):
    p = await begin(dut)
    await p.own(0, 0)
    model = Vm(1)
    words = [encode("write", mask=1, values=1), encode("until", cycles=20), encode("write", mask=1, values=0), encode("read"),
             encode("end")]
    await p.store(0, words)
    model.program[:len(words)] = words
    await FallingEdge(dut.clk_i)
    dut.now_q.value = 0x5_FFFF_FB00
    begun = await p.now()
    assert begun >> 32 == 5
    start = 0x5_FFFF_FF00 + random.randrange(256)
    assert await p.schedule(0, 0, start, 200, 5) == 0
    model.schedule(0, start, 200, 5)
    end = start + 5 * 200
    await p.sleep(end)
    changes = {at: values for at, _, values in model.writes}
    level = 0
    for at in range(start - 100, end):
        level = changes.get(at, level)
        assert p.outputs[at] & 1 == level, f"{at:#x}"
    assert await p.samples(0) == [p.inputs[at] & 1 for at in model.samples]
    assert await p.now() >> 32 == 6


@cocotb.test(timeout_time=500, timeout_unit="us")
async def a_schedule_is_cancelled(dut):
    p = await begin(dut)
    await p.own(0, 0)
    toggle = [encode("write", mask=1, values=1), encode("wait", cycles=5), encode("write", mask=1, values=0), encode("end")]
    await p.store(0, toggle)
    # Without end, until it is cancelled.
    start = await p.now() + 300
    assert await p.schedule(0, 0, start, period=100, runs=0) == 0
    await p.sleep(start + 720)
    await p.bus.write(CANCEL, 0)
    state = await p.status(0)
    assert not state["scheduled"] and not state["armed"] and state["reports"] == 0
    await p.sleep(start + 1200)
    ups = [at for at in sorted(p.outputs)[1:] if p.outputs[at] > p.outputs[at - 1]]
    assert ups[:7] == [start + 100 * i for i in range(7)] and len(ups) in (7, 8)
    # No run begins behind it; the run under way ends where it is told to.
    await p.store(0, [encode("write", mask=1, values=1), encode("wait", cycles=60000), encode("write", mask=1, values=0)])
    start = await p.now() + 300
    assert await p.schedule(0, 0, start) == 0
    await p.sleep(start + 50)
    assert (await p.status(0))["running"]
    assert await p.bus.writes([(CANCEL, 4, 0xF)]) == [SLVERR]
    await p.bus.write(CANCEL, 1)
    assert not (await p.status(0))["running"]
    assert int(dut.pins_o.value) == 1


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def what_a_vm_did_is_cleared_and_no_others(dut):
    p = await begin(dut)
    program = [encode("write", mask=1, values=1), encode("read"), encode("loop", level=0, count=200), encode("read"),
               encode("repeat", level=0, word=3), encode("end")]
    for vm in (0, 1):
        await p.own(8 * vm, vm)
        await p.store(vm, program)
        for _ in range(REPORTS_MAX + 1):
            assert await p.schedule(vm, 0, 1) == 1
        # It has more samples than there is room for, and another run when that is reported, and so on.
        assert await p.schedule(vm, 0, await p.now() + 300, period=200, runs=0) == 0
    await p.sleep(await p.now() + 1500)
    other = await p.status(1)
    assert int(dut.pins_o.value) == 0x101 and other["samples"] == 32 and other["reports"] == REPORTS_MAX
    assert (await p.status(0))["lost"] > 0
    # At any moment of a run, or between two.
    await p.sleep(await p.now() + random.randrange(200))
    await p.bus.write(CANCEL, 3)
    assert int(dut.pins_o.value) == 0x100
    await p.sleep(await p.now() + 500)
    assert int(dut.pins_o.value) == 0x100
    assert await p.status(0) == {"scheduled": 0, "armed": 0, "running": 0, "answer": 0, "samples": 0, "reports": 0, "lost": 0}
    assert await p.samples(0) == [] and await p.reports(0) == []
    # Nothing is left of the program: a run from any of its words ends at once.
    for entry in (0, 1, 3, len(program) - 1):
        start = await p.now() + 300
        assert await p.schedule(0, entry, start) == 0
        await p.sleep(start + 20)
        state = await p.status(0)
        assert not (state["running"] or state["samples"] or state["reports"])
        assert all(p.outputs[at] == 0x100 for at in range(start, start + 20))
    after = await p.status(1)
    assert after["scheduled"] and after["samples"] == 32 and after["lost"] > other["lost"]


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def reports_that_are_lost_are_counted(dut):
    p = await begin(dut)
    await p.store(0, [encode("write", mask=1, values=1), encode("end")])
    for vm in range(p.vms):
        assert await p.schedule(vm, 0, 1) == 1
    start = await p.now() + 300
    runs = 20
    assert await p.schedule(0, 0, start, period=p.ahead, runs=runs) == 0
    await p.sleep(start + p.ahead * (runs + 3))
    assert (await p.status(0))["lost"] == runs + 1 - REPORTS_MAX
    assert await p.reports(0) == [(LATE_SCHEDULE, 1)] + [(NO_PIN, start + i * p.ahead) for i in range(REPORTS_MAX - 1)]
    # Those of other VMs are not.
    for vm in range(1, p.vms):
        assert (await p.status(vm))["lost"] == 0
        assert await p.reports(vm) == [(LATE_SCHEDULE, 1)]


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def overruns_are_reported(dut):
    p = await begin(dut)
    await p.own(0, 0)
    model = Vm(1)
    read_forty = [encode("loop", level=0, count=40), encode("read"), encode("repeat", level=0, word=1), encode("end")]
    no_end = [encode("write", mask=1, values=1)] * 64
    causes = []
    # As long as the period, to the cycle, and one longer; no room for a sample; no end; and two reports at a time.
    for program, period in (([encode("wait", cycles=p.ahead - 1), encode("end")], p.ahead),
                            ([encode("wait", cycles=p.ahead), encode("end")], p.ahead),
                            (read_forty, p.ahead + 100), (no_end, p.ahead + 100), (no_end, p.ahead)):
        await p.store(0, program)
        model.program = program + [0] * (64 - len(program))
        start = await p.now() + 300
        assert await p.schedule(0, 0, start, period=period, runs=4) == 0
        model.schedule(0, start, period, 4)
        await p.sleep(start + 4 * period + p.ahead + 100)
        causes.append({cause for cause, _ in model.reports})
        await p.compare_reports(0, model)
        assert await p.samples(0) == [p.inputs[at] & 1 for at in model.samples]
        model.samples.clear()
        model.reports.clear()
    assert causes[:4] == [set(), {STILL_RUNNING}, {SAMPLES_FULL}, {NO_END}]


@cocotb.test(timeout_time=500, timeout_unit="us")
async def what_is_not_there_is_an_error(dut):
    p = await begin(dut)
    pages = 1 << p.vms.bit_length()
    for address in (0x38, 0x3FC, 0x500, 0xFFC, p.page(p.vms) + 8, *(p.page(n) for n in range(p.vms + 1, pages))):
        assert await p.bus.reads([address]) == [(SLVERR, 0)]
        assert await p.bus.writes([(address, 0, 0xF)]) == [SLVERR]
    for address in (RUN, CANCEL, PROGRAM):
        assert await p.bus.reads([address]) == [(SLVERR, 0)]
    for address in (ID, STATUS, NOW, SAMPLE, REPORT_TIME, p.page(p.vms)):
        assert await p.bus.writes([(address, 0, 0xF)]) == [SLVERR]
    for vm in range(p.vms):
        assert await p.bus.read(p.page(vm)) == 0x5449_0001
        assert (await p.status(vm)) == dict(scheduled=0, armed=0, running=0, answer=0, samples=0, reports=0, lost=0)
        assert await p.samples(vm) == []
