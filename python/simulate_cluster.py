"""How long a campaign of faults takes on many workers: a schedule of it, simulated from times measured here.

``python simulate_cluster.py FILE --runs 1000000 --workers 1 10 100 1000`` measures how long chunks of the campaign's
runs take, how long a worker needs until its first one, and what the process that writes the results and Dask's
scheduler do for a chunk. Then it simulates the campaign: chunks are handed out as `tactus.cluster` does, two to a
worker at most, the first of each worker and one of 50 to another worker, too. A chunk goes to the worker on which Dask
expects it to begin first: by Dask's cost model, the occupancy of a worker and the bytes to send over the bandwidth that
Dask's configuration has; what a chunk is expected to take follows the measured ones as Dask's estimate does.

Workers are as fast as this machine, and none is lost. The network is as Dask's configuration expects it.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import pickle
import random
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import dask
import distributed

import tactus
from tactus.cluster import AHEAD, CHUNK, TWICE

# No-operations that Dask's own time for a task is measured with.
TASKS = 500


class Times(NamedTuple):
    """What was measured, in seconds; and the bytes of a chunk on its way to a worker."""

    # Until a worker is at the beginning of the window, and has gone through it without a fault.
    start: float
    chunks: tuple[float, ...]
    # To take a chunk's answer into the results.
    take: float
    # Of Dask, for a task: client, scheduler and worker together, so at least as much as the scheduler's part.
    task: float
    size: int


class Schedule(NamedTuple):
    """How a campaign went."""

    workers: int
    seconds: float
    # Of all workers' time until the end: the part in which they carry runs out, without those of the comparison.
    efficiency: float
    # Of the time: the part in which Dask's scheduler, and the process that writes the results, are busy.
    scheduler: float
    writer: float
    # Chunks that were carried out, the comparisons included.
    chunks: int


def measure(campaign: tactus.Campaign, chunk: int, chunks: int) -> Times:
    """Carry out some chunks here, and some no-operations by Dask."""
    begun = time.perf_counter()
    campaign.without_fault()
    start = time.perf_counter() - begun
    results = campaign.results()
    took, taken = [], []
    for number in range(chunks):
        runs = range(number * chunk, min((number + 1) * chunk, campaign.runs))
        begun = time.perf_counter()
        lines = campaign.carry_out(runs)
        carried_out = time.perf_counter()
        results.take(lines)
        took.append(carried_out - begun)
        taken.append(time.perf_counter() - carried_out)
    payload = pickle.dumps(campaign)
    return Times(start, tuple(took), sum(taken) / chunks, task_seconds(payload), len(payload))


def nothing(_payload: bytes, _number: int) -> None:
    """Do nothing, on a worker."""


def task_seconds(payload: bytes) -> float:
    """Measure what Dask needs for a task that does nothing but be sent so many bytes."""
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit=0, dashboard_address=None, processes=False
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.submit(nothing, payload, -1, pure=False).result()
        begun = time.perf_counter()
        distributed.wait([client.submit(nothing, payload, number, pure=False) for number in range(TASKS)])
        return (time.perf_counter() - begun) / TASKS


@dataclass
class Worker:
    """A worker with one thread."""

    number: int
    is_started: bool = False
    # When it has done all that it was given; and what Dask expects it to have to do still.
    free: float = 0.0
    occupancy: float = 0.0
    given: int = 0
    is_compared: bool = False


@dataclass
class Serial:
    """Something that does one thing after the other."""

    free: float = 0.0
    busy: float = 0.0

    def do(self, now: float, seconds: float) -> float:
        """Give when it is done."""
        self.busy += seconds
        self.free = max(now, self.free) + seconds
        return self.free


@dataclass(order=True)
class Ended:
    """A chunk whose answer is at the writer."""

    time: float
    order: int
    worker: Worker = field(compare=False)
    seconds: float = field(compare=False)
    expected: float = field(compare=False)
    number: int = field(compare=False)
    is_comparison: bool = field(compare=False)


def simulate(times: Times, runs: int, chunk: int, workers: int, seed: int = 1) -> Schedule:
    """Hand out all chunks of a campaign, and give how that went."""
    draw = random.Random(seed)
    transfer = times.size / dask.utils.parse_bytes(dask.config.get("distributed.scheduler.bandwidth"))
    expected = dask.utils.parse_timedelta(dask.config.get("distributed.scheduler.unknown-task-duration"))
    every = [Worker(number) for number in range(workers)]
    waiting: deque[tuple[int, Worker | None]] = deque((number, None) for number in range(-(-runs // chunk)))
    scheduler, writer = Serial(), Serial()
    under_way: list[Ended] = []
    order = itertools.count()
    now = useful = 0.0
    chunks = 0
    while waiting or under_way:
        postponed = []
        while waiting and len(under_way) < workers * (1 + AHEAD):
            number, not_by = waiting.popleft()
            able = [worker for worker in every if worker.given <= AHEAD and worker is not not_by]
            if not able:
                postponed.append((number, not_by))
                if len(postponed) > AHEAD:
                    break
                continue
            worker = min(able, key=lambda worker: worker.occupancy + transfer)
            sent = scheduler.do(now, times.task / 2) + transfer
            seconds = draw.choice(times.chunks)
            begins = max(sent, worker.free)
            worker.free = begins + (0 if worker.is_started else times.start) + seconds
            worker.is_started = True
            worker.occupancy += expected
            worker.given += 1
            ended = Ended(worker.free, next(order), worker, seconds, expected, number, not_by is not None)
            heapq.heappush(under_way, ended)
        waiting.extendleft(reversed(postponed))
        if not under_way:
            break
        ended = heapq.heappop(under_way)
        worker = ended.worker
        # The scheduler tells the writer, which takes the answer and hands out what comes next.
        now = writer.do(scheduler.do(ended.time, times.task / 2) + transfer, times.take)
        worker.occupancy -= ended.expected
        worker.given -= 1
        # Dask's estimate of what a task takes.
        expected = (expected + ended.seconds) / 2
        chunks += 1
        if ended.is_comparison:
            continue
        useful += ended.seconds
        is_checked = not worker.is_compared or ended.number % TWICE == 0
        worker.is_compared = True
        if is_checked and workers > 1:
            waiting.append((ended.number, worker))
    return Schedule(workers, now, useful / (now * workers), scheduler.busy / now, writer.busy / now, chunks)


def table(schedules: list[Schedule]) -> str:
    """Give the schedules as text."""
    one = schedules[0]
    lines = ["workers      time   faster   in runs   scheduler   writer"]
    for schedule in schedules:
        hours = schedule.seconds / 3600
        faster = one.seconds * one.workers / schedule.seconds
        lines.append(
            f"{schedule.workers:7d} {hours:7.2f} h {faster:8.1f} {schedule.efficiency:9.1%}"
            f" {schedule.scheduler:11.2%} {schedule.writer:8.2%}"
        )
    return "\n".join(lines)


def main() -> None:
    """Carry the command out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the campaign's file, as of `tactus faults`")
    parser.add_argument("--runs", type=int, default=1_000_000, help="runs of the campaign that is simulated (1000000)")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 10, 100, 1000], help="numbers of workers")
    parser.add_argument("--chunk", type=int, default=CHUNK, help=f"runs that a worker is given at once ({CHUNK})")
    parser.add_argument("--measure", type=int, default=5, help="chunks that are measured (5)")
    arguments = parser.parse_args()
    campaign = tactus.Campaign(arguments.file, runs=arguments.runs)
    times = measure(campaign, arguments.chunk, arguments.measure)
    low, high = min(times.chunks), max(times.chunks)
    print(
        f"Measured: {times.start:.1f} s to the window, {low:.2f} to {high:.2f} s a chunk of {arguments.chunk} runs,\n"
        f"{times.take * 1e3:.2f} ms to take its answer, {times.task * 1e3:.2f} ms of Dask a task, {times.size} bytes"
    )
    print(table([simulate(times, arguments.runs, arguments.chunk, workers) for workers in arguments.workers]))


if __name__ == "__main__":
    main()
