"""Sweeps give tables that say the same as the command line's."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from conftest import HELLO

import tactus

SWEEP = {
    "limit": "100ms",
    "factor": [
        {"name": "memory", "place": "vm.hello.memory", "values": ["4MiB", "8MiB", "3MiB"]},
        {"option": "pace", "values": ["fast", "timed"]},
    ],
    "measure": [{"name": "off", "report": "vms.hello.off_seconds"}],
}


def test_a_sweep_has_a_row_for_each_run(hello: tactus.System, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    output = tmp_path / "sweep.parquet"
    table = tactus.sweep(
        SWEEP, system=hello, jobs=2, output=output, progress=lambda done, most: told.append((done, most))
    )
    frame = pl.DataFrame(table)
    assert frame["memory"].to_list() == ["4MiB", "4MiB", "8MiB", "8MiB", "3MiB", "3MiB"]
    assert frame["verdict"].to_list() == ["good"] * 4 + ["refused"] * 2
    assert "memory" in frame["message"][4] and frame["trace_hash"][4] is None
    assert frame["off"].null_count() == 2
    assert all(done <= most == 6 for done, most in told)

    board = tactus.Board(hello, seed=frame["seed"][0])
    board.run()
    assert frame["trace_hash"][0] == board.trace_hash
    assert frame["off"][0] == board.vms[0].off

    assert pl.read_parquet(output).equals(frame)
    notes = pq.read_schema(output).metadata
    assert notes[b"tactus.system"].decode() == hello.to_toml()
    assert output.read_bytes() == _again(hello, tmp_path)


def _again(system: tactus.System, directory: Path) -> bytes:
    output = directory / "again.parquet"
    tactus.sweep(SWEEP, system=system, jobs=1, output=output)
    return output.read_bytes()


def test_what_is_not_in_order_is_told(hello: tactus.System, tmp_path: Path) -> None:
    output = tmp_path / "sweep.parquet"
    with pytest.raises(tactus.BadArgument, match="sweep, line 1: unknown field `sed`"):
        tactus.sweep({"sed": 1}, system=hello, output=output)
    with pytest.raises(tactus.BadArgument, match="the sweep has no `system`"):
        tactus.sweep({})
    with pytest.raises(tactus.BadArgument, match="at least 1"):
        tactus.sweep({}, system=hello, jobs=0)
    with pytest.raises(tactus.BadArgument, match="cannot read"):
        tactus.sweep(tmp_path / "none.toml")
    with pytest.raises(tactus.TactusError, match=r"point 4 .memory = 3MiB, pace = fast., seed 1: refused: "):
        tactus.sweep(SWEEP, system=hello, strict=True, output=output)
    assert not output.exists()


def test_what_progress_raises_ends_the_sweep(hello: tactus.System) -> None:
    def stop(done: int, most: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tactus.sweep({"replicates": 1000}, system=hello, jobs=1, progress=stop)


def test_a_sweep_without_factors_is_one_run() -> None:
    table = tactus.sweep({}, system=tactus.System.from_toml(HELLO))
    assert table["verdict"] == ["good"]
