"""Campaigns of faults give tables that say the same as the command line's, and go on where they were ended."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

import tactus

CAMPAIGN = {
    "pace": "fast",
    "from": "1ms",
    "for": "20ms",
    "after": "5ms",
    "runs": 6,
    "fault": [
        {"memory": {"vm": "hello", "among": "all"}},
        {"stall": {"hart": 0, "cycles": 1000}, "affects": []},
        {"hostile": {"vm": "hello"}},
    ],
}


def test_a_campaign_has_a_row_for_each_run(hello: tactus.System, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    output = tmp_path / "faults.parquet"
    table = tactus.faults(
        CAMPAIGN, system=hello, jobs=2, output=output, progress=lambda done, every: told.append((done, every))
    )
    frame = pl.DataFrame(table)
    assert frame["run"].to_list() == list(range(6))
    assert set(frame["fault"]) <= {"memory of hello", "stall of hart 0", "takeover of hello"}
    assert all(done <= every == 6 for done, every in told)
    assert pl.read_parquet(output).equals(frame)
    assert not output.with_suffix(".part").exists()
    assert b"[[fault]]" in pq.read_schema(output).metadata[b"tactus.faults"]
    assert pl.DataFrame(tactus.faults(CAMPAIGN, system=hello, jobs=1)).equals(frame)
    fewer = pl.DataFrame(tactus.faults(CAMPAIGN, system=hello, runs=3))
    assert fewer.equals(frame[:3])
    other = pl.DataFrame(tactus.faults(CAMPAIGN, system=hello, seed=2))
    assert other["femtoseconds"].to_list() != frame["femtoseconds"].to_list()


def test_a_campaign_that_was_ended_goes_on(hello: tactus.System, tmp_path: Path) -> None:
    output = tmp_path / "faults.parquet"

    def end(done: int, every: int) -> None:
        if done >= 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tactus.faults(CAMPAIGN | {"runs": 400}, system=hello, jobs=1, output=output, progress=end)
    assert not output.exists()
    lines = output.with_suffix(".part").read_text().splitlines()
    assert len(lines) >= 3
    table = tactus.faults(CAMPAIGN | {"runs": 400}, system=hello, output=output, runs=8)
    whole = tactus.faults(CAMPAIGN | {"runs": 400}, system=hello, runs=8)
    assert pl.DataFrame(table).equals(pl.DataFrame(whole))


def test_the_page_says_how_far_a_campaign_is(hello: tactus.System, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    seen: list[str] = []
    table = tactus.faults(CAMPAIGN, system=hello, page=page, progress=lambda _done, _all: seen.append(page.read_text()))
    assert pl.DataFrame(table).equals(pl.DataFrame(tactus.faults(CAMPAIGN, system=hello)))
    assert all("going on" in text and "location.reload()" in text for text in seen)
    text = page.read_text()
    assert "all runs are done" in text
    assert "6 of 6" in text
    assert "<script" not in text
    assert list(tmp_path.iterdir()) == [page]

    def end(done: int, every: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tactus.faults(CAMPAIGN | {"runs": 400}, system=hello, jobs=1, page=page, progress=end)
    text = page.read_text()
    assert "it was interrupted" in text
    assert "<script" not in text
    with pytest.raises(tactus.BadArgument, match=r"page .*no file can be written there"):
        tactus.faults(CAMPAIGN, system=hello, page=tmp_path / "none/page.html")


def test_what_the_page_says_of_a_run_carries_it_out(hello: tactus.System, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    # A fault of the only VM's registers that may change none escapes.
    description = CAMPAIGN | {"fault": [{"registers": {"vm": "hello", "register": "pc"}, "affects": []}]}
    table = tactus.faults(description, system=hello, page=page)
    bad = [run for run, verdict in zip(table["run"], table["verdict"], strict=True) if verdict in ("escaped", "hang")]
    commands = [html.unescape(command) for command in re.findall(r'class="command">(.*?)</code>', page.read_text())]
    assert len(commands) == len(bad) > 0
    command = f"tactus.Campaign(description, system=system, seed=1, runs=6).carry_out([{bad[0]}])"
    assert command in commands
    (line,) = eval(command, {"tactus": tactus, "description": description, "system": hello})
    assert json.loads(line)["verdict"] in ("escaped", "hang")


def test_what_is_not_in_order_is_told(hello: tactus.System) -> None:
    with pytest.raises(tactus.BadArgument, match="faults, line 1: unknown field `sed`"):
        tactus.faults({"sed": 1}, system=hello)
    with pytest.raises(tactus.BadArgument, match="the campaign has no `system`"):
        tactus.faults(CAMPAIGN)
    with pytest.raises(tactus.BadArgument, match="at least 1"):
        tactus.faults(CAMPAIGN, system=hello, jobs=0)
    with pytest.raises(tactus.TactusError, match="there is no VM `other`"):
        tactus.faults(CAMPAIGN | {"fault": [{"registers": {"vm": "other"}}]}, system=hello)
    hello["vm.hello.memory"] = "3MiB"
    with pytest.raises(tactus.CheckError, match="is not in order"):
        tactus.faults(CAMPAIGN, system=hello)
