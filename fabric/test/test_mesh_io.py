"""The I/O hypervisor's place on the mesh, of 16 ports, against a model: each request comes to its device as it was sent,
each answer to who asked; what is not right is answered so, and a flood is the flooding place's own business."""

import random
from collections import deque

import cocotb
from cocotb.triggers import FallingEdge, Timer

from common import reset

PORTS, DEPTH, WORDS = 16, 4, 512
HERE = 4 << 3
READ, WRITE, CONTROL, RESERVED = range(4)
DONE, MALFORMED, NO_DEVICE, DENIED, DEVICE_FAILED = 0, 1, 2, 3, 8


def place(port):
    return port // 4 << 3 | port % 4


def words(length):
    return (length + 3) // 4


def header(port, device, op, length, tag=0, quiet=0, memory=0):
    return (HERE << 26 | place(port) << 20 | device << 17 | op << 15 | quiet << 14 | memory << 13 | tag << 11 | length)


class Mesh:
    """The router: sends what is queued for each port, packets one behind the other, and collects the answers."""

    def __init__(self, dut, take=1.0):
        self.dut, self.take = dut, take
        self.queue, self.answers = deque(), [deque() for _ in range(PORTS)]
        self.credits, self.kept, self.coming, self.flits = DEPTH, 0, [], 0
        self.cycle, self.lost = 0, [0] * PORTS
        for name in ("out_credit_i", "in_valid_i", "in_last_i", "in_data_i"):
            getattr(dut, name).value = 0
        cocotb.start_soon(self.run())

    def send(self, flits):
        self.queue.extend((flit, i == len(flits) - 1) for i, flit in enumerate(flits))

    async def run(self):
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)
            self.cycle += 1
            credit = self.kept > 0 and random.random() < self.take
            self.kept -= credit
            dut.out_credit_i.value = credit
            sends = bool(self.queue) and self.credits > 0
            if sends:
                dut.in_data_i.value, dut.in_last_i.value = self.queue.popleft()
                self.credits -= 1
            dut.in_valid_i.value = sends
            await Timer(4, units="ns")
            if dut.rst_ni.value != 1:
                continue
            self.credits += dut.in_credit_o.value == 1
            lost = int(dut.lost_o.value)
            if lost:
                self.lost[lost.bit_length() - 1] += 1
            if dut.out_valid_o.value == 1:
                self.kept += 1
                self.flits += 1
                assert self.kept <= DEPTH, "a flit for which there is no room"
                self.coming.append(int(dut.out_data_o.value))
                if dut.out_last_o.value == 1:
                    packet, self.coming = self.coming, []
                    to, source = packet[0] >> 26, packet[0] >> 20 & 0x3F
                    assert source == HERE
                    self.answers[to // 8 * 4 + to % 8].append((packet[0] & 0xF_FFFF, packet[1:], self.cycle))


class Devices:
    """What is behind the ports: takes each request after a while, its data at its own pace, and answers at random.
    Requests that came are in `came`, each with its answer."""

    def __init__(self, dut, closed=()):
        self.dut, self.closed = dut, set(closed)
        self.came = [deque() for _ in range(PORTS)]
        for name in ("grant_i", "in_ready_i", "out_valid_i", "out_word_i", "response_valid_i", "response_i"):
            getattr(dut, name).value = 0
        self.turn = [None] * PORTS
        cocotb.start_soon(self.run())

    async def run(self):
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)
            grant = ready = out_valid = out_word = response_valid = response = 0
            for port, turn in enumerate(self.turn):
                if turn is None:
                    continue
                bit = 1 << port
                if not turn["granted"]:
                    if random.random() < 0.3:
                        grant |= bit
                    continue
                turn["cycles"] += 1
                if turn["op"] != READ:
                    ready |= bit * (turn["cycles"] > 2 and random.random() < 0.5)
                elif turn["gives"] and random.random() < 0.7:
                    out_valid |= bit
                    out_word |= turn["gives"].pop(0) << 32 * port
                if turn["cycles"] > turn["until"] and not turn["gives"] and len(turn["data"]) >= turn["takes"]:
                    response_valid |= bit
                    response |= (turn["status"] << 11 | turn["length"]) << 15 * port
            dut.grant_i.value, dut.in_ready_i.value = grant, ready
            dut.out_valid_i.value, dut.out_word_i.value = out_valid, out_word
            dut.response_valid_i.value, dut.response_i.value = response_valid, response
            await Timer(4, units="ns")
            if dut.rst_ni.value != 1:
                continue
            ask, request = int(dut.ask_o.value), int(dut.request_o.value)
            in_valid, in_word = int(dut.in_valid_o.value), int(dut.in_word_o.value)
            for port in range(PORTS):
                bit, turn = 1 << port, self.turn[port]
                if in_valid & ready & bit:
                    turn["data"].append(in_word >> 32 * port & 0xFFFF_FFFF)
                if turn and turn["granted"] and turn["op"] != READ and turn["cycles"] == 1:
                    assert bool(in_valid & bit) == (turn["asked"] > 0), "the first word is not there"
                if response_valid & bit:
                    self.came[port].append(turn)
                    self.turn[port] = None
                elif grant & bit:
                    turn["granted"] = True
                elif turn is None and ask >> 8 * port & 0xFF and port not in self.closed:
                    self.turn[port] = self.begin(port, ask >> 8 * port & 0xFF, request >> 51 * port)

    def begin(self, port, ask, request):
        op, length = request >> 43 & 3, request >> 32 & 0x7FF
        assert request >> 45 & 0x3F == port and op != RESERVED and length <= 1536
        done = random.random() < 0.8
        came = random.randint(0, length) if op == READ and done else 0
        gives = [random.getrandbits(32) for _ in range(words(came))]
        return {"granted": False, "cycles": 0, "device": ask.bit_length() - 1, "op": op, "addr": request & 0xFFFF_FFFF,
                "asked": length, "status": DONE if done else DEVICE_FAILED, "length": came, "gives": gives,
                "given": list(gives), "data": [], "until": random.randint(0, 20),
                # Some leave words.
                "takes": random.choice((words(length), words(length) // 2)) if op != READ else 0}


async def begin(dut, allowed=0b0001_1110, take=1.0, closed=()):
    dut.devices_i.value = sum(allowed << 8 * port for port in range(PORTS))
    mesh, devices = Mesh(dut, take), Devices(dut, closed)
    await reset(dut)
    return mesh, devices


async def settle(dut, mesh, devices):
    """Until nothing has happened for a while."""
    quiet = 0
    while quiet < 1200:
        quiet = 0 if mesh.queue or any(t for p, t in enumerate(devices.turn)) else quiet + 1
        await FallingEdge(dut.clk_i)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def requests_and_answers_are_each_ports_own(dut):
    mesh, devices = await begin(dut, take=0.8)
    sent = [deque() for _ in range(PORTS)]
    room = [WORDS] * PORTS
    for _ in range(150):
        port = random.randrange(PORTS)
        op, quiet = random.choice((READ, WRITE, CONTROL)), random.random() < 0.3
        length = random.choice((0, 1, 4, random.randrange(60), random.randrange(300)))
        device, tag, addr = random.randint(1, 4), random.randrange(4), random.getrandbits(32)
        data = [random.getrandbits(32) for _ in range(words(length))] if op != READ else []
        if room[port] < 2 + len(data):
            continue
        room[port] -= 2 + len(data)
        mesh.send([header(port, device, op, length, tag, quiet), addr, *data])
        sent[port].append((device, op, length, tag, quiet, addr, data))
    await settle(dut, mesh, devices)
    carried_out = 0
    for port in range(PORTS):
        for device, op, length, tag, quiet, addr, data in sent[port]:
            turn = devices.came[port].popleft()
            assert (turn["device"], turn["op"], turn["asked"], turn["addr"]) == (device, op, length, addr)
            assert turn["data"] == data[:len(turn["data"])] and len(turn["data"]) >= turn["takes"]
            carried_out += 1
            if quiet and turn["status"] == DONE:
                continue
            head, given, _ = mesh.answers[port].popleft()
            last = turn["length"] if turn["status"] == DONE else int(quiet)
            assert head == device << 17 | turn["status"] << 13 | tag << 11 | last
            assert given == turn["given"]
        assert not devices.came[port] and not mesh.answers[port]
    assert carried_out > 100 and not any(mesh.lost)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def what_is_not_right_is_answered_so(dut):
    """Each alone, and then a good one: nothing is left behind. None of them comes to a device."""
    mesh, devices = await begin(dut, allowed=0b0000_0110)
    data = [0] * 600
    cases = [
        (header(5, 2, READ, 4), 0, MALFORMED),            # no address
        (header(5, 2, READ, 4), 2, MALFORMED),            # a word too many
        (header(5, 2, WRITE, 8), 2, MALFORMED),           # one too few
        (header(5, 2, WRITE, 8), 4, MALFORMED),           # and one too many
        (header(5, 2, WRITE, 0), 0, MALFORMED),
        (header(5, 2, RESERVED, 4), 2, MALFORMED),
        (header(5, 2, READ, 4, memory=1), 1, MALFORMED),
        (header(5, 2, READ, 1537), 1, MALFORMED),
        (header(5, 2, WRITE, 1540), 386, MALFORMED),      # of the right size, but too long
        (header(5, 2, WRITE, 2047), 513, MALFORMED),      # longer than all the room
        (header(5, 2, WRITE, 4), 600, MALFORMED),
        (header(5, 0, READ, 4), 1, NO_DEVICE),
        (header(5, 7, WRITE, 400), 101, NO_DEVICE),
        (header(5, 3, WRITE, 4), 2, DENIED),
        (header(5, 4, READ, 4, quiet=1), 1, DENIED),
    ]
    for tag, (first, more, status) in enumerate(cases):
        mesh.send([first | (tag & 3) << 11, *data[:more]])
        mesh.send([header(5, 1, WRITE, 4), tag, ~tag & 0xFFFF_FFFF])
        while len(mesh.answers[5]) < 2:
            await FallingEdge(dut.clk_i)
        head, given, _ = mesh.answers[5].popleft()
        quiet = first >> 14 & 1
        assert (head, given) == (first & 7 << 17 | status << 13 | (tag & 3) << 11 | quiet, []), f"{first:#x}"
        mesh.answers[5].popleft()
        turn = devices.came[5].popleft()
        assert (turn["device"], turn["addr"]) == (1, tag) and not devices.came[5]
    # From a place that has no port; from itself.
    for source in (4 << 3 | 1, HERE):
        mesh.send([HERE << 26 | source << 20 | 1 << 17 | READ << 15 | 4, 0])
    await settle(dut, mesh, devices)
    assert not any(mesh.answers) and not any(devices.came) and not any(mesh.lost)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_flood_is_its_places_own_business(dut):
    """Port 3's device does not answer, and its place goes on sending; the others have their answers as without it."""
    mesh, devices = await begin(dut, closed=(3,))
    for _ in range(8):
        mesh.send([header(3, 2, WRITE, 400), 0, *range(100)])
    for _ in range(200):
        mesh.send([header(3, 2, WRITE, 2), 0])
    while mesh.queue:
        await FallingEdge(dut.clk_i)
    for _ in range(8):
        await FallingEdge(dut.clk_i)
    # Five are there, of which the first has begun and left room for two words; of the others as many first words as
    # fit.
    kept = 5 + WORDS - 5 * 102 + 2
    assert mesh.lost == [0] * 3 + [208 - kept] + [0] * 12
    for port in (0, 2, 4, 15):
        begins = mesh.cycle
        mesh.send([header(port, 1, READ, 0), 7])
        while not mesh.answers[port]:
            await FallingEdge(dut.clk_i)
        _, _, cycle = mesh.answers[port].popleft()
        assert cycle - begins < 80
    assert not mesh.answers[3]
    # When it answers again, all that is kept is answered, in order.
    devices.closed.clear()
    await settle(dut, mesh, devices)
    assert len(devices.came[3]) == 5
    statuses = [head >> 13 & 15 for head, _, _ in mesh.answers[3]]
    assert statuses[:5] == [turn["status"] for turn in devices.came[3]]
    assert statuses[5:] == [MALFORMED] * (kept - 5)
    assert not mesh.queue
