"""What a run has recorded is taken over as Arrow, without a copy."""

from __future__ import annotations

import gc

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tactus


@pytest.fixture(scope="module")
def board() -> tactus.Board:
    """Give a board that has ended."""
    system = tactus.System.from_toml(
        """
        [system]
        platform = "soc"
        harts = 2

        [[vm]]
        name = "one"
        image = "@hello"
        memory = "4MiB"

        [[vm.vcpu]]
        class = "be"

        [[vm]]
        name = "two"
        image = "@hello"
        memory = "4MiB"

        [[vm.vcpu]]
        class = "be"
        """
    )
    board = tactus.Board(system, probes=["tactus_call:2", "one/trap::dispatch"])
    board.run("19ms")
    board.add_probe("two/trap::dispatch")
    board.run()
    return board


def addresses(table: pa.Table) -> list[int]:
    """Where a table's contents are."""
    chunks = [chunk for column in table.columns for chunk in column.chunks]
    buffers = [buffer for chunk in chunks for buffer in chunk.buffers() if buffer is not None]
    return [buffer.address for buffer in buffers]


def test_nothing_is_copied(sampled: tactus.Board) -> None:
    table = sampled.samples()
    one, two = pa.table(table), pa.table(table)
    assert addresses(one) == addresses(two)
    values = pl.DataFrame(table)["value"].to_arrow()
    assert isinstance(values, pa.Array)
    assert values.buffers()[1].address in addresses(one)
    array = pa.array(table)
    assert array.field("value").buffers()[1].address in addresses(one)
    assert pa.schema(table) == one.schema
    # The contents outlive the table.
    wanted = table["value"]
    del table, two
    gc.collect()
    assert one["value"].to_pylist() == wanted


def test_pandas_and_polars_take_a_table(board: tactus.Board) -> None:
    cycles = board.cycles()
    frame = pd.DataFrame.from_arrow(cycles)
    assert list(frame.columns) == cycles.columns == ["hart", "who", "cycles", "instructions", "share"]
    assert len(frame) == len(cycles)
    shares = pl.DataFrame(cycles).group_by("hart").agg(pl.col("share").sum())
    assert shares["share"].to_list() == pytest.approx([1.0, 1.0])
    per_hart = frame.groupby("hart")["cycles"].sum().to_list()
    assert per_hart == [hart.cycle for hart in board.harts]
    assert {"one", "two", "(hypervisor)", "(firmware)", "(idle)"} == set(cycles["who"])


def test_records_have_a_column_for_each_field(board: tactus.Board) -> None:
    records = board.records()
    assert records.columns == ["seconds", "source", "kind", "text"]
    assert records["seconds"] == sorted(records["seconds"])
    assert set(records["source"]) == {"(tactus)", "one", "two"}
    off = board.records("off")
    assert off.columns == ["seconds", "source", "vm", "reason", "code", "time"]
    assert sorted(off["vm"]) == ["one", "two"]
    assert off["code"] == [0, 0]
    usage = board.records("usage")
    assert None in usage["vm"], "some are of no VM"
    assert len(board.records("none")) == 0
    assert pl.DataFrame(board.records("none")).shape == (0, 2)


def test_samples_are_those_of_the_report(sampled: tactus.Board) -> None:
    samples = pl.DataFrame(sampled.samples())
    assert samples.columns == ["vm", "name", "phase", "unit", "value", "ns"]
    (quantity,) = sampled.to_dict()["samples"]
    (idle, *_) = quantity["phases"]
    mine = samples.filter(pl.col("phase") == idle["phase"])["ns"]
    assert len(mine) == idle["summary"]["samples"]
    scale = {"ns": 1, "µs": 1000, "ms": 1_000_000}[quantity["unit"]]
    assert mine.max() == pytest.approx(idle["summary"]["max"] * scale)
    assert mine.mean() == pytest.approx(idle["summary"]["mean"] * scale)


def test_probes_have_seen_what_happened(board: tactus.Board) -> None:
    hits = pl.DataFrame(board.probe_hits())
    assert hits.columns == ["probe", "seconds", "cycle", "hart", "a0", "a1"]
    counts = dict(hits.group_by("probe").len().iter_rows())
    assert counts["one/trap::dispatch"] == 5
    assert 0 < counts["two/trap::dispatch"] <= 5
    calls = hits.filter(pl.col("probe") == "tactus_call")
    assert calls["a0"].null_count() == 0
    assert hits.filter(pl.col("probe") != "tactus_call")["a0"].null_count() == len(hits) - len(calls)
    assert hits["cycle"].is_sorted()


def test_a_table_needs_no_library(board: tactus.Board) -> None:
    cycles = board.cycles()
    assert cycles.to_dict()["hart"] == cycles["hart"]
    assert len(cycles["who"]) == len(cycles)
    with pytest.raises(KeyError, match="there is no column `none`; there are hart, who"):
        cycles["none"]
    assert repr(cycles) == f"<Table of {len(cycles)} rows: hart, who, cycles, instructions, share>"


def test_a_board_without_a_fabric_has_no_pins(board: tactus.Board) -> None:
    assert len(board.pins()) == 0
    assert board.pins().columns == ["seconds", "cycle", "levels"]
