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
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
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
# How often the scheduler may give up on the same run while it is the only one that is carried out. It gives up on all
# that a worker had been given when workers have died with it several times.
DEATHS_MAX = 3
# Seconds without any worker after which the campaign ends with an error.
WORKERS_WAIT = 60
# Seconds between two looks at which workers there are, while no chunk ends.
LOOK = 1.0
# Why a campaign has ended that was interrupted, on its page.
ENDED = "it was interrupted; the same call goes on with the other runs, where there is an output."
# Seconds that the answer of a chunk that has ended may take to arrive, before other chunks are looked at.
ANSWER_WAIT = 10


class Chunk(NamedTuple):
    """Some runs, to be carried out by one worker."""

    runs: tuple[int, ...]
    # Which one it was among all, from 0.
    number: int
    # Carried out for comparison, by a worker other than these.
    others_than: frozenset[str] = frozenset()
    # Workers have died with this one run: it is carried out while nothing else is, so that no other one is to blame.
    is_suspect: bool = False
    deaths: int = 0
    # The workers that it was submitted to; empty: to any.
    only: frozenset[str] = frozenset()


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
        self.without_fault = ""
        self.pickled = pickle.dumps(campaign)
        self.open: deque[Chunk] = deque()
        self.numbers = itertools.count()
        # Workers that are wrong, and why; all that have ever been there, each with its number of threads, 0 if it is
        # gone; and what each worker has done.
        self.wrong: dict[str, str] = {}
        self.threads: dict[str, int] = {}
        self.by_worker: dict[str, set[int]] = {}
        # How many runs each worker has carried out, also such as were thrown away, and how many chunks were taken back.
        self.carried_out: Counter[str] = Counter()
        self.taken_back = 0
        self.under_way: dict[distributed.Future[Answer], Chunk] = {}
        # When there was a worker last.
        self.last_worker = time.monotonic()

    def carry_out(self, look: Callable[[int], object]) -> None:
        """Carry out what is missing; ``look`` is called with how many runs are done."""
        try:
            self.without_fault = self.campaign.without_fault()
            self._open(self.results.missing())
            while self._hand_out():
                self.show()
                for future in self._ended():
                    if self._take(future):
                        look(len(self.results))
        except BaseException as error:
            self.show(ENDED if isinstance(error, KeyboardInterrupt) else str(error) or type(error).__name__)
            raise
        finally:
            self.client.cancel(list(self.under_way))
        self.show()

    def show(self, ended: str | None = None) -> None:
        """Bring the campaign's page up to date, where there is one."""
        self.results.show(
            [
                (worker, self._state(worker), self.carried_out[worker])
                for worker in sorted(self.threads, key=self._rank)
            ],
            taken_back=self.taken_back,
            ended=ended,
        )

    def _state(self, worker: str) -> str:
        """What is known of a worker, in words."""
        if worker in self.wrong:
            return f"gets nothing more: it {self.wrong[worker]}"
        threads = self.threads[worker]
        if threads == 0:
            return "gone"
        return "connected" if threads == 1 else f"connected, {threads} threads"

    def _rank(self, worker: str) -> tuple[bool, bool, int]:
        """The place of a worker in a list: first those that are wrong, last those that are gone."""
        return worker not in self.wrong, self.threads[worker] == 0, -self.carried_out[worker]

    def _ended(self) -> list[distributed.Future[Answer]]:
        """Wait until a chunk has ended, or for a while; give those that have.

        No wait has another end than a time: an answer may be lost with its worker after the scheduler has announced it.
        """
        # The set that it gives has those that are lost, too.
        with suppress(TimeoutError, distributed.CancelledError):
            distributed.wait(list(self.under_way), timeout=LOOK, return_when="FIRST_COMPLETED")
        return [future for future in self.under_way if future.done()]

    def _open(self, runs: list[int]) -> None:
        for first in range(0, len(runs), self.chunk):
            self.open.append(Chunk(tuple(runs[first : first + self.chunk]), next(self.numbers)))

    def _workers(self) -> dict[str, int]:
        """The workers that are not wrong, each with its number of threads."""
        try:
            threads: Mapping[str, int] = self.client.nthreads()
        except (OSError, TypeError, distributed.client.ClosedClientError) as error:
            raise TactusError(
                "the scheduler does not answer any more", "start it again; the same call goes on with the other runs"
            ) from error
        self.threads = dict.fromkeys(self.threads, 0) | dict(threads)
        workers = {worker: number for worker, number in threads.items() if worker not in self.wrong}
        now = time.monotonic()
        if workers:
            self.last_worker = now
        elif self.wrong:
            raise TactusError(
                "no worker is left that says what this machine says", "install the same wheel on all, and look at them"
            )
        elif now - self.last_worker >= WORKERS_WAIT:
            raise TactusError(
                f"no worker has come within {WORKERS_WAIT} s", "start some: dask worker ADDRESS --nthreads 1"
            )
        self._start_again(len(threads))
        return workers

    def _start_again(self, there: int) -> None:
        """Have a cluster of this process start the workers that it has given up.

        `LocalCluster` closes the nanny of a worker that happens to be absent 15 s after it has died, though it may have
        come back and died again in between; it starts no other one until it is scaled.
        """
        cluster = self.client.cluster
        wanted = getattr(cluster, "worker_spec", None)
        if cluster is not None and wanted and there < len(wanted):
            cluster.scale(len(wanted))

    def _hand_out(self) -> bool:
        """Submit chunks, as many as the workers can take; false if there is none any more."""
        workers = self._workers()
        self._take_back(workers)
        most = max(1, sum(workers.values()) * (1 + AHEAD))
        for _ in range(len(self.open)):
            if len(self.under_way) >= most or self._suspect_is_alone():
                break
            chunk = self.open.popleft()
            able = frozenset(worker for worker in workers if worker not in chunk.others_than)
            if chunk.others_than and not able:
                # All workers that there are now have carried this chunk out already. Another one may come.
                self.open.append(chunk)
                continue
            # Only where some are not to have it: new workers come in between.
            chunk = chunk._replace(only=able if chunk.others_than or self.wrong else frozenset())
            future = self.client.submit(
                _carry_out,
                self.pickled,
                self.campaign.identity,
                chunk.runs,
                workers=list(chunk.only) or None,
                pure=False,
            )
            self.under_way[future] = chunk
        # What is left now is chunks that no worker is there to compare with.
        return bool(self.under_way)

    def _suspect_is_alone(self) -> bool:
        """Whether nothing may be submitted now: a suspect is next or under way, and something is under way."""
        return bool(self.under_way) and (
            self.open[0].is_suspect or any(chunk.is_suspect for chunk in self.under_way.values())
        )

    def _take_back(self, workers: Mapping[str, int]) -> None:
        """Open the chunks again that were submitted to workers of which none is there any more."""
        for future, chunk in list(self.under_way.items()):
            if chunk.only and chunk.only.isdisjoint(workers) and not future.done():
                del self.under_way[future]
                self.client.cancel([future])
                self.taken_back += 1
                self.open.append(chunk)

    def _take(self, future: distributed.Future[Answer]) -> bool:
        """Take the answer of a chunk that has ended; false if it has been lost meanwhile."""
        try:
            answer: Answer = future.result(timeout=ANSWER_WAIT)
        except TimeoutError:
            # It stays under way: the scheduler has it carried out again.
            return False
        except distributed.KilledWorker as error:
            self._died(self.under_way.pop(future), error)
            return True
        except distributed.CancelledError:
            # The scheduler has restarted, and has forgotten it.
            self.taken_back += 1
            self.open.appendleft(self.under_way.pop(future))
            return True
        chunk = self.under_way.pop(future)
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
        return True

    def _died(self, chunk: Chunk, error: distributed.KilledWorker) -> None:
        """Open a chunk again of which workers have died: in halves, so that in the end the run is found."""
        self.taken_back += 1
        if len(chunk.runs) > 1:
            middle = len(chunk.runs) // 2
            self.open.extendleft(chunk._replace(runs=runs) for runs in (chunk.runs[middle:], chunk.runs[:middle]))
        elif not chunk.is_suspect:
            self.open.appendleft(chunk._replace(is_suspect=True))
        elif chunk.deaths + 1 < DEATHS_MAX:
            self.open.appendleft(chunk._replace(deaths=chunk.deaths + 1))
        else:
            raise TactusError(
                f"workers die of run {chunk.runs[0]}, again and again",
                "look for memory: each worker has a board and a copy of it",
            ) from error

    def _again(self, chunk: Chunk) -> None:
        if not chunk.others_than:
            self.taken_back += 1
            self.open.appendleft(chunk)

    def _keep(self, chunk: Chunk, answer: Answer) -> None:
        is_checked = answer.worker not in self.by_worker or chunk.number % TWICE == 0
        self.by_worker.setdefault(answer.worker, set()).update(chunk.runs)
        self.threads.setdefault(answer.worker, 0)
        self.carried_out[answer.worker] += len(chunk.runs)
        differing = self.results.take(answer.lines)
        if differing:
            self._settle(differing, answer)
        elif is_checked and not chunk.others_than:
            self.open.append(chunk._replace(others_than=frozenset([answer.worker]), is_suspect=False, deaths=0))

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
        self.wrong[worker] = reason
        self.threads.setdefault(worker, 0)
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
    page: str | PathLike[str] | None = None,
) -> Table:
    """Carry out a campaign of faults on the workers of a Dask cluster; gives the table that `tactus.faults` gives.

    All but ``client`` and ``chunk`` is as there, also that a call which was ended goes on where it was; the ``page``
    shows the workers, too. Without a ``client`` of ``dask.distributed`` there is a process for each core of this
    machine. A worker is given ``chunk`` runs at once. Workers may come, go and be killed at any time; what had not
    ended is done by others. Each must have this version of Tactus and the same guests, and files that the system names
    by path.

    Each worker must repeat the run without a fault as this machine does; its first chunk, and one of 50, is carried out
    by another one, too. Where two differ, this machine does those runs: a worker that says other things gets nothing
    more, and what it has done is done again; a `TactusWarning` names it. Raises `TactusError` if no worker is left or
    comes within a minute, if workers die of the same run again and again, or if the scheduler does not answer. What is
    done is kept where there is an ``output``.
    """
    campaign = Campaign(description, system=system, directory=directory, runs=runs, seed=seed)
    with _connected(client) as connected:
        table, _ = _divide(campaign, connected, chunk, output, progress, page)
    return table


def _divide(
    campaign: Campaign,
    client: distributed.Client,
    chunk: int,
    output: str | PathLike[str] | None,
    progress: Callable[[int, int], object] | None,
    page: str | PathLike[str] | None,
) -> tuple[Table, str]:
    """Give the table, and its summary in words."""
    if chunk < 1:
        raise BadArgument("`chunk` is at least 1")
    results = campaign.results(output, page)
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
    parser.add_argument("--page", type=Path, metavar="OUT", help="keep a page for the browser up to date meanwhile")
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
            if arguments.page:
                print(f"The campaign's page: {arguments.page}", file=sys.stderr)
            table, summary = _divide(campaign, connected, arguments.chunk, output, _progress(), arguments.page)
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
