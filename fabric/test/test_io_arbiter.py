"""The arbiter against a model of each policy: ports that ask at random, a device that takes its time."""

import random

import cocotb
from cocotb.regression import TestFactory
from cocotb.triggers import FallingEdge, Timer

from common import reset

ROUND_ROBIN, FIXED, FIFO = range(3)


def bits(value):
    return [i for i in range(value.bit_length()) if value >> i & 1]


async def turns_are_as_the_policy_says(dut, policy, load):
    ports = len(dut.request_i)
    dut.request_i.value = 0
    dut.done_i.value = 0
    dut.policy_i.value = policy
    await reset(dut)
    since = {}                       # port: the cycle from which it asks
    passed = {}                      # port: who has had a turn since then
    last, device, turns, most = ports - 1, None, 0, 0
    for cycle in range(1500):
        for port in range(ports):
            if port not in since and random.random() < load:
                since[port], passed[port] = cycle, []
        done = device is not None and device == 0
        if device is not None:
            device = None if done else device - 1
        dut.request_i.value = sum(1 << port for port in since)
        dut.done_i.value = done
        await Timer(4, units="ns")
        granted = bits(int(dut.grant_o.value))
        await FallingEdge(dut.clk_i)
        if not granted:
            continue
        (port,), turns = granted, turns + 1
        assert device is None, "a turn begins while another is under way"
        assert port in since, f"port {port} has a turn and did not ask"
        # What was there to choose from when the choice was made, in the cycle before.
        there = {p: c for p, c in since.items() if c < cycle}
        if policy == ROUND_ROBIN:
            assert port == min(there, key=lambda p: (p - last - 1) % ports), f"not the turn of {port}"
        elif policy == FIXED:
            assert port == min(there), f"{port} goes before {min(there)}"
        else:
            longest = min(there.values())
            assert since[port] <= longest + ports, f"{port} asks since {since[port]}, another one since {longest}"
        most = max(most, len(passed[port]))
        if policy != FIXED:
            assert len(set(passed[port])) == len(passed[port]), f"others had two turns before {port}: {passed[port]}"
        for other in since:
            if since[other] < cycle and other != port:
                passed[other].append(port)
        del since[port], passed[port]
        last, device = port, random.randint(0, 5)
    assert turns > 100
    dut._log.info("%d turns; at most %d before one that waits", turns, most)
    if policy != FIXED:
        assert most <= ports - 1


factory = TestFactory(cocotb.test(timeout_time=100, timeout_unit="us")(turns_are_as_the_policy_says))
factory.add_option("policy", [ROUND_ROBIN, FIXED, FIFO])
factory.add_option("load", [1.0, 0.1])
factory.generate_tests()
