"""Campaigns of faults on many processes and machines, by ``dask.distributed``.

``python -m tactus.cluster FILE`` is the command; `faults` is the same as a function. Needs the package ``distributed``
where it is called, and on the workers that and Tactus.
"""

from __future__ import annotations

import argparse
import itertools
import pickle
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike, cpu_count
from pathlib import Path
from typing import Any, NamedTuple

import distributed

from tactus._errors import BadArgument, TactusError, TactusWarning
from tactus._tactus import Campaign, Results, System, Table

__all__ = ["faults"]

# Runs that a worker is given at once. It goes through the window without a fault once for them.
CHUNK = 50
# Chunks that wait at each thread of a worker while it has another one.
AHEAD = 1
# One chunk of so many, and the first one of each worker, is given to two workers, which must say the same.
TWICE = 50
# How often workers may die of the same chunk.
DEATHS_MAX = 5
# Seconds that the first worker may take to come.
WORKERS_WAIT = 60


class Chunk(NamedTuple):
    """Some runs, to be carried out by one worker."""

    runs: tuple[int, ...]
    # Which one it was among all, from 0.
    number: int
    # Carried out for comparison, by a worker other than these.
    others_than: frozenset[str] = frozenset()
    deaths: int = 0


class Answer(NamedTuple):
    """What a worker has to say of a chunk."""

    worker: str
    # The campaign as that worker has it, and the hash of the run without a fault there.
    identity: str
    without_fault: str
    lines: list[str]


# A worker's last campaign, by what it was unpickled from: its boards wait at the beginning of the window.
_last: dict[bytes, Campaign] = {}


def _campaign(pickled: bytes) -> Campaign:
    campaign = _last.get(pickled)
    if campaign is None:
        campaign = pickle.loads(pickled)
        _last.clear()
        _last[pickled] = campaign
    return campaign


def _carry_out(pickled: bytes, identity: str, runs: tuple[int, ...]) -> Answer:
    """Carry out runs; on a worker. It keeps the campaign, at the beginning of its window, for the next ones."""
    campaign = _campaign(pickled)
    worker = distributed.get_worker().address
    if campaign.identity != identity:
        return Answer(worker, campaign.identity, "", [])
    return Answer(worker, identity, campaign.without_fault(), campaign.carry_out(runs))


class _Division:
    """The runs of a campaign, divided between the workers of a cluster."""

    def __init__(self, campaign: Campaign, results: Results, client: distributed.Client, chunk: int) -> None:
        self.campaign = campaign
        self.results = results
        self.client = client
        self.chunk = chunk
        # It is what workers are measured by: the results are written here.
        self.without_fault = campaign.without_fault()
        self.pickled = pickle.dumps(campaign)
        self.open: deque[Chunk] = deque()
        self.numbers = itertools.count()
        # Workers that are wrong, and what each worker has done.
        self.wrong: set[str] = set()
        self.by_worker: dict[str, set[int]] = {}
        self.under_way: dict[distributed.Future[Answer], Chunk] = {}

    def carry_out(self, look: Callable[[int], object]) -> None:
        """Carry out what is missing; ``look`` is called with how many runs are done."""
        self._open(self.results.missing())
        answers = distributed.as_completed()
        try:
            self._hand_out(answers)
            for future in answers:
                self._take(future)
                look(len(self.results))
                self._hand_out(answers)
        finally:
            self.client.cancel(list(self.under_way))

    def _open(self, runs: list[int]) -> None:
        for first in range(0, len(runs), self.chunk):
            self.open.append(Chunk(tuple(runs[first : first + self.chunk]), next(self.numbers)))

    def _workers(self) -> dict[str, int]:
        """The workers that are not wrong, each with its number of threads."""
        threads: Mapping[str, int] = self.client.nthreads()
        return {worker: number for worker, number in threads.items() if worker not in self.wrong}

    def _hand_out(self, answers: distributed.as_completed) -> None:
        workers = self._workers()
        if not workers and self.wrong:
            raise TactusError(
                "no worker is left that says what this machine says", "install the same wheel on all, and look at them"
            )
        most = max(1, sum(workers.values()) * (1 + AHEAD))
        for _ in range(len(self.open)):
            if len(self.under_way) >= most:
                return
            chunk = self.open.popleft()
            able = [worker for worker in workers if worker not in chunk.others_than]
            if chunk.others_than and not able:
                # All workers that there are have carried this chunk out already: none is left to compare with.
                continue
            # Only where some are not to have it: new workers come in between.
            only = able if chunk.others_than or self.wrong else None
            future = self.client.submit(
                _carry_out, self.pickled, self.campaign.identity, chunk.runs, workers=only, pure=False
            )
            self.under_way[future] = chunk
            answers.add(future)

    def _take(self, future: distributed.Future[Answer]) -> None:
        chunk = self.under_way.pop(future)
        error = future.exception() if future.status != "finished" else None
        if isinstance(error, distributed.KilledWorker) or future.cancelled():
            if chunk.deaths + 1 >= DEATHS_MAX:
                first, last = chunk.runs[0], chunk.runs[-1]
                raise TactusError(
                    f"workers die of runs {first} to {last}, again and again",
                    "look for memory: each worker has a board and a copy of it",
                ) from error
            self.open.appendleft(chunk._replace(deaths=chunk.deaths + 1))
            return
        answer: Answer = future.result()
        if answer.worker in self.wrong:
            self._again(chunk)
        elif answer.identity != self.campaign.identity:
            self._expel(answer.worker, "has another version of Tactus, other guests or another hypervisor")
            self._again(chunk)
        elif answer.without_fault != self.without_fault:
            self._expel(answer.worker, "does not repeat the run without a fault")
            self._again(chunk)
        else:
            self._keep(chunk, answer)

    def _again(self, chunk: Chunk) -> None:
        if not chunk.others_than:
            self.open.appendleft(chunk)

    def _keep(self, chunk: Chunk, answer: Answer) -> None:
        is_checked = answer.worker not in self.by_worker or chunk.number % TWICE == 0
        self.by_worker.setdefault(answer.worker, set()).update(chunk.runs)
        differing = self.results.take(answer.lines)
        if differing:
            self._settle(differing, answer)
        elif is_checked and not chunk.others_than:
            self.open.append(chunk._replace(others_than=frozenset([answer.worker])))

    def _settle(self, runs: list[int], answer: Answer) -> None:
        """Find the worker that is wrong, as an answer differs from the lines that are kept of these runs."""
        others = [worker for worker, done in self.by_worker.items() if not done.isdisjoint(runs)]
        others.remove(answer.worker)
        lines = self.campaign.carry_out(runs)
        if not set(lines) <= set(answer.lines):
            self._expel(answer.worker, "says of some runs what this machine does not")
        wrong = self.results.take(lines)
        for worker in others if wrong else []:
            self._expel(worker, "says of some runs what this machine does not")
        if wrong and not others:
            # Kept by a call before this one.
            self.results.forget(wrong)
            self._open(wrong)

    def _expel(self, worker: str, reason: str) -> None:
        """Give a worker nothing more, and throw away what it has done."""
        warnings.warn(f"worker {worker} {reason}; what it has done is done again", TactusWarning, stacklevel=2)
        self.wrong.add(worker)
        done = sorted(self.by_worker.pop(worker, set()))
        if done:
            self.results.forget(done)
            self._open(done)


@contextmanager
def _connected(client: distributed.Client | None) -> Iterator[distributed.Client]:
    if client is not None:
        yield client
        return
    # A worker's memory is mostly that of boards, which is shared until it is written: no limit would mean anything.
    with (
        distributed.LocalCluster(
            n_workers=cpu_count(), threads_per_worker=1, memory_limit=0, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as here,
    ):
        yield here


def faults(
    description: str | PathLike[str] | Mapping[str, Any],
    *,
    system: System | None = None,
    directory: str | PathLike[str] | None = None,
    runs: int | None = None,
    seed: int | None = None,
    client: distributed.Client | None = None,
    chunk: int = CHUNK,
    output: str | PathLike[str] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Table:
    """Carry out a campaign of faults on the workers of a Dask cluster; gives the table that `tactus.faults` gives.

    All but ``client`` and ``chunk`` is as there, also that a call which was ended goes on where it was. Without a
    ``client`` of ``dask.distributed`` there is a process for each core of this machine. A worker is given ``chunk``
    runs at once. Workers may come, go and die; what had not ended is done by others. Each must have this version of
    Tactus and the same guests, and files that the system names by path.

    Each worker must repeat the run without a fault as this machine does; its first chunk, and one of 50, is carried out
    by another one, too. Where two differ, this machine does those runs: a worker that says other things gets nothing
    more, and what it has done is done again; a `TactusWarning` names it. Raises `TactusError` if no worker is left, or
    if workers die of the same runs five times.
    """
    campaign = Campaign(description, system=system, directory=directory, runs=runs, seed=seed)
    with _connected(client) as connected:
        table, _ = _divide(campaign, connected, chunk, output, progress)
    return table


def _divide(
    campaign: Campaign,
    client: distributed.Client,
    chunk: int,
    output: str | PathLike[str] | None,
    progress: Callable[[int, int], object] | None,
) -> tuple[Table, str]:
    """Give the table, and its summary in words."""
    if chunk < 1:
        raise BadArgument("`chunk` is at least 1")
    results = campaign.results(output)
    try:
        client.wait_for_workers(1, timeout=WORKERS_WAIT)
    except TimeoutError as error:
        raise TactusError(
            f"no worker has come within {WORKERS_WAIT} s", "start some: dask worker ADDRESS --nthreads 1"
        ) from error
    tell = progress or (lambda _done, _all: None)
    _Division(campaign, results, client, chunk).carry_out(lambda done: tell(done, campaign.runs))
    return results.table()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tactus.cluster",
        description="Carry out a campaign of faults on many processes and machines.",
        epilog="What is done is kept beside the results; the same command goes on where it was ended. Exit codes: 0: no"
        " fault has escaped; 1: one has, or nothing went on; 2: something is not in order; 130: interrupted.",
    )
    parser.add_argument("file", type=Path, help="the campaign's file, as of `tactus faults`")
    parser.add_argument("-o", "--output", type=Path, help="the results' Parquet file; default: FILE's name, here")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask scheduler; default: a process for each core")
    parser.add_argument("--runs", type=int, help="runs, in place of those that the file says")
    parser.add_argument("--seed", type=int, help="the seed, in place of what the file says")
    parser.add_argument("--chunk", type=int, default=CHUNK, help=f"runs that a worker is given at once ({CHUNK})")
    return parser.parse_args()


def _progress() -> Callable[[int, int], None]:
    """Say on stderr how far it is."""
    begun = time.monotonic()
    first: list[int] = []

    def tell(done: int, every: int) -> None:
        first[:] = first or [done]
        rate = (done - first[0]) / (time.monotonic() - begun)
        left = f", {rate:.1f} a second, {(every - done) / rate:.0f} s left" if rate > 0 else ""
        print(f"{done} of {every} runs{left}", file=sys.stderr)

    return tell


def _main() -> int:
    arguments = _arguments()
    output = arguments.output or Path(arguments.file.with_suffix(".parquet").name)
    try:
        campaign = Campaign(arguments.file, runs=arguments.runs, seed=arguments.seed)
        client = distributed.Client(arguments.scheduler) if arguments.scheduler else None
        with _connected(client) as connected:
            if connected.dashboard_link and client:
                print(f"The cluster's own page: {connected.dashboard_link}", file=sys.stderr)
            table, summary = _divide(campaign, connected, arguments.chunk, output, _progress())
    except (TactusError, OverflowError, OSError) as error:
        print(f"{arguments.file}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted: the same command goes on with the others", file=sys.stderr)
        return 130
    print(f"{summary}Results: {output}")
    verdicts = table["verdict"]
    return int(any(verdict in ("escaped", "hang") for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(_main())
