"""The mesh, of 4 x 5, against a model: each packet comes out where it is to go, whole, once, in the order of its source;
and the ways that packets take, of all pairs, have no cycle in them."""

import random
from collections import defaultdict, deque

import cocotb
from cocotb.triggers import FallingEdge, Timer

from common import reset

X, Y, DEPTH = 4, 5, 4
ROUTERS = X * Y
LOCAL, NORTH, EAST, SOUTH, WEST = range(5)


def head(source, target):
    """A packet's first flit, but for the lower 20 bits."""
    return target // X << 29 | target % X << 26 | source // X << 23 | source % X << 20


def way(source, target):
    """The (router, output) that a packet goes through: along X, then along Y, then out."""
    x, y = source % X, source // X
    steps = []
    while x != target % X:
        side = EAST if x < target % X else WEST
        steps.append((y * X + x, side))
        x += 1 if side == EAST else -1
    while y != target // X:
        side = SOUTH if y < target // X else NORTH
        steps.append((y * X + x, side))
        y += 1 if side == SOUTH else -1
    return steps + [(target, LOCAL)]


class Interfaces:
    """All network interfaces: each sends what it is given as fast as credits let it, takes whatever comes, and knows
    what should."""

    def __init__(self, dut, take=1.0):
        self.dut, self.take = dut, take
        self.queues = [deque() for _ in range(ROUTERS)]
        self.credits = [DEPTH] * ROUTERS
        self.kept = [0] * ROUTERS
        self.coming = [[] for _ in range(ROUTERS)]
        self.expected = defaultdict(deque)
        self.sent = self.received = 0
        self.flits = defaultdict(int)
        for name in ("in_valid_i", "in_last_i", "in_data_i", "out_credit_i"):
            getattr(dut, name).value = 0
        cocotb.start_soon(self.run())

    def send(self, source, target, words):
        """Queues a packet: its first flit, with 20 bits of the first word, and the others."""
        flits = [head(source, target) | words[0] & 0xFFFFF, *words[1:]]
        self.expected[source, target].append(flits)
        self.queues[source].extend((flit, i == len(flits) - 1) for i, flit in enumerate(flits))
        self.sent += 1

    def arrived(self, target, packet):
        source = (packet[0] >> 23 & 7) * X + (packet[0] >> 20 & 7)
        assert (packet[0] >> 29) * X + (packet[0] >> 26 & 7) == target, f"a packet for another came to {target}"
        assert self.expected[source, target], f"from {source} to {target}: a packet that was not sent, or came before"
        assert self.expected[source, target].popleft() == packet, f"from {source} to {target}: not the next packet"
        self.received += 1

    async def run(self):
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)
            valid = last = credit = data = 0
            if dut.rst_ni.value == 1:
                for i, queue in enumerate(self.queues):
                    if queue and self.credits[i]:
                        flit, is_last = queue.popleft()
                        valid |= 1 << i
                        last |= is_last << i
                        data |= flit << 32 * i
                        self.credits[i] -= 1
                    # An interface has room for DEPTH flits, and may be slow.
                    if self.kept[i] and random.random() < self.take:
                        credit |= 1 << i
                        self.kept[i] -= 1
            dut.in_valid_i.value = valid
            dut.in_last_i.value = last
            dut.in_data_i.value = data
            dut.out_credit_i.value = credit
            await Timer(4, units="ns")
            if dut.rst_ni.value != 1:
                continue
            out, lasts, credits = (int(getattr(dut, n).value) for n in ("out_valid_o", "out_last_o", "in_credit_o"))
            flits = int(dut.flits_o.value)
            while flits:
                low = flits & -flits
                self.flits[divmod(low.bit_length() - 1, 5)] += 1
                flits ^= low
            words = int(dut.out_data_o.value) if out else 0
            for i in range(ROUTERS):
                self.credits[i] += credits >> i & 1
                assert self.credits[i] <= DEPTH, f"router {i} gives back more room than it has"
                if out >> i & 1:
                    self.kept[i] += 1
                    assert self.kept[i] <= DEPTH, f"router {i} sends where there is no room"
                    self.coming[i].append(words >> 32 * i & 0xFFFF_FFFF)
                    if lasts >> i & 1:
                        self.arrived(i, self.coming[i])
                        self.coming[i] = []

    async def all_arrive(self, cycles_max):
        for _ in range(cycles_max):
            if self.received == self.sent:
                return
            await FallingEdge(self.dut.clk_i)
        raise AssertionError(f"{self.sent - self.received} of {self.sent} packets have not arrived")


def words(most):
    return [random.getrandbits(32) for _ in range(random.randint(1, most))]


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def each_pair_has_its_way_and_the_ways_no_cycle(dut):
    """A packet alone, of each pair: through these outputs and no others. What then waits for what has no cycle."""
    net = Interfaces(dut)
    await reset(dut)
    behind = defaultdict(set)
    for source in range(ROUTERS):
        for target in range(ROUTERS):
            net.flits.clear()
            net.send(source, target, [0, 1])
            await net.all_arrive(80)
            expected = way(source, target)
            assert net.flits == {step: 2 for step in expected}, f"from {source} to {target}: {dict(net.flits)}"
            for one, next_one in zip(expected, expected[1:]):
                behind[one].add(next_one)
    # Takes away what waits for nothing, again and again: with a cycle something would be left.
    left = set(behind)
    while left:
        free = {one for one in left if not behind[one] & left}
        assert free, f"these wait for each other: {left}"
        left -= free


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def random_traffic_arrives(dut):
    net = Interfaces(dut, take=0.6)
    await reset(dut)
    for _ in range(600):
        net.send(random.randrange(ROUTERS), random.randrange(ROUTERS), words(12))
    await net.all_arrive(4000)
    assert not any(net.expected.values())


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def adversarial_traffic_arrives(dut):
    """All to one; opposite corners; each row and column to its other end and back; and a target that is slow."""
    net = Interfaces(dut, take=0.3)
    await reset(dut)
    for _ in range(3):
        for source in range(ROUTERS):
            net.send(source, 0, words(16))
            net.send(source, ROUTERS - 1 - source, words(16))
            net.send(source, source // X * X + X - 1 - source % X, words(16))
            net.send(source, (Y - 1 - source // X) * X + source % X, words(16))
    await net.all_arrive(20_000)
    assert not any(net.expected.values())
