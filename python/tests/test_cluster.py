"""Campaigns on a cluster give the same table, whatever its workers do: die, lie, or have another version."""

from __future__ import annotations

import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import dask
import distributed
import polars as pl
import pytest

import tactus
import tactus.cluster

RUNS = 60
CAMPAIGN = {
    "pace": "fast",
    "from": "1ms",
    "for": "20ms",
    "after": "5ms",
    "runs": RUNS,
    "fault": [{"memory": {"vm": "hello", "among": "all"}}, {"registers": {"vm": "hello"}}],
}

# A worker that answers otherwise than others.
WORKER = """\
import asyncio, sys
import distributed
import tactus.cluster as cluster
honest = cluster._carry_out
def otherwise(*arguments):
    answer = honest(*arguments)
    {change}
    return answer
cluster._carry_out = otherwise
async def main():
    async with distributed.Worker(sys.argv[1], nthreads=1) as worker:
        await worker.finished()
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def client() -> Iterator[distributed.Client]:
    """Give a cluster of two processes."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@contextmanager
def another(client: distributed.Client, change: str) -> Iterator[None]:
    """Have one more worker, which changes what it has to say."""
    before = len(client.nthreads())
    address = client.scheduler_info()["address"]
    process = subprocess.Popen([sys.executable, "-c", WORKER.format(change=change), address], stderr=subprocess.DEVNULL)
    try:
        client.wait_for_workers(before + 1, timeout=120)
        yield
    finally:
        process.kill()
        process.wait()
        while len(client.nthreads()) > before:
            time.sleep(0.1)


def cluster_of(client: distributed.Client) -> distributed.LocalCluster:
    """Give the cluster that a client was made of."""
    assert isinstance(client.cluster, distributed.LocalCluster)
    return client.cluster


def two_workers(client: distributed.Client) -> None:
    """Have both workers there again, and no more."""
    while len(client.nthreads()) != 2:
        cluster_of(client).scale(2)
        time.sleep(0.1)


def expected(hello: tactus.System) -> pl.DataFrame:
    """Give what `tactus.faults` says."""
    return pl.DataFrame(tactus.faults(CAMPAIGN, system=hello))


def kill(client: distributed.Client, most: int) -> int:
    """Kill processes of the cluster's workers, whatever they do then, also such as have not registered; give how many.

    A process may not be there: just now it has died, or its nanny has been closed.
    """
    killed = 0
    for nanny in list(cluster_of(client).workers.values())[:most]:
        # Of a process that is just being put away there is no number any more.
        with suppress(ProcessLookupError, ValueError, AttributeError):
            if nanny.pid is not None:
                os.kill(nanny.pid, signal.SIGKILL)
                killed += 1
    return killed


def test_workers_may_be_killed(client: distributed.Client, hello: tactus.System, tmp_path: Path) -> None:
    output = tmp_path / "faults.parquet"
    told: list[tuple[int, int]] = []
    kills: list[int] = []
    twice = 0

    def tell(done: int, every: int) -> None:
        nonlocal twice
        told.append((done, every))
        runs = [json.loads(line)["run"] for line in output.with_suffix(".part").read_text().splitlines()[1:]]
        twice += len(runs) - len(set(runs))
        # After so many runs one worker or both; then what has begun to take their place, too.
        if done >= 15 * (len(kills) + 1):
            killed = kill(client, most=1 + len(kills) % 2)
            time.sleep(0.3)
            kills.append(killed + kill(client, most=2))

    # Dask closes a nanny whose worker is absent so long after it has died: after 15 s it takes an unlucky kill.
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1s"}):
        table = tactus.cluster.faults(CAMPAIGN, system=hello, client=client, chunk=2, output=output, progress=tell)
    assert len(kills) >= 3
    assert sum(kills) > len(kills)
    frame = pl.DataFrame(table)
    lost = set(range(RUNS)) - set(frame["run"])
    assert (len(lost), twice) == (0, 0)
    assert frame.equals(expected(hello))
    assert pl.read_parquet(output).equals(frame)
    assert not output.with_suffix(".part").exists()
    assert told[-1] == (RUNS, RUNS)


def test_a_run_that_kills_its_worker_is_named(
    client: distributed.Client, hello: tactus.System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = tactus.cluster._carry_out
    page = tmp_path / "page.html"

    def deadly(pickled: bytes, identity: str, runs: tuple[int, ...]) -> tactus.cluster.Answer:
        if 5 in runs:
            os.kill(os.getpid(), signal.SIGKILL)
        return honest(pickled, identity, runs)

    monkeypatch.setattr(tactus.cluster, "_carry_out", deadly)
    monkeypatch.setattr(tactus.cluster, "DEATHS_MAX", 1)
    with pytest.raises(tactus.TactusError, match="workers die of run 5, again and again"):
        tactus.cluster.faults(CAMPAIGN, system=hello, client=client, runs=8, chunk=2, page=page)
    text = page.read_text()
    assert "workers die of run 5, again and again" in text
    assert re.search(r"\d+ chunks? of runs (was|were) taken back", text)
    assert "<script" not in text


def test_workers_that_stay_away_end_it(hello: tactus.System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tactus.cluster, "WORKERS_WAIT", 3)
    output = tmp_path / "faults.parquet"
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):

        def end(_done: int, _every: int) -> None:
            cluster.scale(0)

        with pytest.raises(tactus.TactusError, match="no worker has come within 3 s"):
            tactus.cluster.faults(CAMPAIGN, system=hello, client=client, chunk=5, output=output, progress=end)
    kept = output.with_suffix(".part")
    assert 5 <= len(kept.read_text().splitlines()) - 1 < RUNS
    assert pl.DataFrame(tactus.faults(CAMPAIGN, system=hello, output=output)).equals(expected(hello))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            "answer = answer._replace(lines=[line.replace('masked', 'contained') for line in answer.lines])",
            "says of some runs what this machine does not",
        ),
        ("answer = answer._replace(without_fault='0123456789abcdef')", "does not repeat the run without a fault"),
        ("answer = answer._replace(identity='tactus faults 0.0.1')", "has another version of Tactus"),
    ],
)
def test_who_says_other_things_is_found(
    client: distributed.Client, hello: tactus.System, change: str, reason: str
) -> None:
    two_workers(client)
    with another(client, change), pytest.warns(tactus.TactusWarning, match=reason) as warned:
        table = tactus.cluster.faults(CAMPAIGN, system=hello, client=client, chunk=2)
    assert len(warned) == 1
    assert pl.DataFrame(table).equals(expected(hello))


def test_the_page_names_the_workers(client: distributed.Client, hello: tactus.System, tmp_path: Path) -> None:
    two_workers(client)
    page = tmp_path / "page.html"
    seen: list[str] = []
    change = "answer = answer._replace(without_fault='0123456789abcdef')"
    with another(client, change), pytest.warns(tactus.TactusWarning, match="does not repeat"):
        workers = list(client.nthreads())
        table = tactus.cluster.faults(
            CAMPAIGN,
            system=hello,
            client=client,
            chunk=2,
            page=page,
            progress=lambda _done, _all: seen.append(page.read_text()),
        )
    assert pl.DataFrame(table).equals(expected(hello))
    assert all("going on" in text and "location.reload()" in text for text in seen)
    text = page.read_text()
    assert f"{RUNS} of {RUNS}" in text
    assert "all runs are done" in text
    assert "<script" not in text
    rows = re.findall(r'<td class="text">(tcp://\S+?)</td><td class="wide">(.*?)</td><td>(\d+)</td>', text)
    assert sorted(worker for worker, _, _ in rows) == sorted(workers)
    states = [state for _, state, _ in rows]
    assert states[0] == "gets nothing more: it does not repeat the run without a fault"
    assert states[1:] == ["connected", "connected"]
    # Some runs were carried out twice, to compare them.
    assert sum(int(runs) for _, _, runs in rows) >= RUNS


def test_it_goes_on_where_it_was(client: distributed.Client, hello: tactus.System, tmp_path: Path) -> None:
    output = tmp_path / "faults.parquet"

    def end(done: int, every: int) -> None:
        if done >= 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tactus.cluster.faults(CAMPAIGN, system=hello, client=client, chunk=5, output=output, progress=end)
    kept = output.with_suffix(".part")
    assert len(kept.read_text().splitlines()) >= 21
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = tactus.cluster.faults(CAMPAIGN, system=hello, client=client, output=output)
    assert pl.DataFrame(table).equals(expected(hello))
    assert not kept.exists()


def test_results_keep_each_run_once(hello: tactus.System, tmp_path: Path) -> None:
    output = tmp_path / "faults.parquet"
    campaign = tactus.Campaign(CAMPAIGN, system=hello, runs=4)
    again = pickle.loads(pickle.dumps(campaign))
    assert again.identity == campaign.identity
    assert again.without_fault() == campaign.without_fault()
    lines = campaign.carry_out([3, 1, 2, 0])
    assert again.carry_out(range(4)) == lines
    results = campaign.results(output)
    assert results.take(lines[1:]) == []
    assert results.take(lines[:2]) == []
    assert (len(results), results.missing()) == (4, [])
    other = lines[2].replace('"at":', '"at":1')
    assert results.take([other]) == [2]
    results.forget([2])
    assert results.missing() == [2]
    with pytest.raises(tactus.BadArgument, match="1 runs are missing"):
        results.table()
    assert campaign.results(output).missing() == [2]
    for bad in ["", "{}", lines[0].replace('"run":0', '"run":4')]:
        with pytest.raises(tactus.BadArgument, match="is no run's line"):
            results.take([bad])
    results.take(lines)
    table, summary = results.table()
    assert table["run"] == [0, 1, 2, 3]
    assert "Escaped or hung: 0 of 4" in summary
    with pytest.raises(tactus.BadArgument, match="a table already"):
        results.missing()
    with pytest.raises(tactus.BadArgument, match="there is no run 4"):
        campaign.carry_out([4])


def test_what_is_not_in_order_is_told(
    client: distributed.Client, hello: tactus.System, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(tactus.BadArgument, match="`chunk` is at least 1"):
        tactus.cluster.faults(CAMPAIGN, system=hello, client=client, chunk=0)
    monkeypatch.setattr(tactus.cluster, "WORKERS_WAIT", 0.1)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as empty,
        distributed.Client(empty) as without_workers,
        pytest.raises(tactus.TactusError, match="no worker has come"),
    ):
        tactus.cluster.faults(CAMPAIGN, system=hello, client=without_workers)


def test_the_command_gives_the_same(hello: tactus.System, tmp_path: Path) -> None:
    (tmp_path / "hello.toml").write_text(hello.to_toml())
    file = tmp_path / "short.toml"
    file.write_text(
        'system = "hello.toml"\npace = "fast"\nfrom = "1ms"\nfor = "20ms"\nafter = "5ms"\nruns = 8\n\n'
        '[[fault]]\nmemory = { vm = "hello", among = "all" }\n'
    )
    page = tmp_path / "short.html"
    command = [sys.executable, "-m", "tactus.cluster", str(file), "-o", str(tmp_path / "short.parquet")]
    command += ["--page", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "Escaped or hung: 0 of 8" in done.stdout
    assert "8 of 8 runs" in done.stderr
    assert "all runs are done" in page.read_text()
    assert pl.read_parquet(tmp_path / "short.parquet").equals(pl.DataFrame(tactus.faults(file)))
    file.write_text("runs = 1\n")
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout) == (2, "")
    assert "the campaign has no `system`" in done.stderr
