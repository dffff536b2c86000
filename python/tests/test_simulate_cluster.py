"""The simulated schedule of a campaign is what can be computed by hand, and is made of times that are measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tactus

SCRIPT = Path(__file__).parent.parent / "simulate_cluster.py"
sys.path.insert(0, str(SCRIPT.parent))

from simulate_cluster import Times, simulate  # noqa: E402

SECOND = Times(start=10.0, chunks=(1.0,), take=0.0, task=0.0, size=0)


def test_workers_without_overheads_divide_the_time() -> None:
    one = simulate(SECOND, 5_000, 50, 1)
    # There is no other worker to compare with.
    assert one.chunks == 100
    assert one.seconds == pytest.approx(110)
    assert one.efficiency == pytest.approx(100 / 110)
    ten = simulate(SECOND, 5_000, 50, 10)
    # The first chunk of each worker, and two of a hundred, twice.
    assert 110 <= ten.chunks <= 112
    assert ten.seconds == pytest.approx(10 + ten.chunks / 10, abs=1)
    many = simulate(SECOND, 50_000, 50, 1_000)
    assert many.chunks >= 1_000
    assert many.seconds >= 11


def test_what_is_done_one_after_the_other_bounds_the_rate() -> None:
    slow = SECOND._replace(start=0.0, take=0.01)
    hundred = simulate(slow, 100_000, 50, 1_000)
    # 2,000 chunks and those that are done twice, at 100 a second.
    assert hundred.seconds >= 0.01 * hundred.chunks
    assert hundred.writer > 0.9
    dask = simulate(SECOND._replace(start=0.0, task=0.02), 100_000, 50, 1_000)
    assert dask.scheduler > 0.9
    assert dask.seconds >= 0.02 * dask.chunks - 1e-6


def test_a_seed_gives_one_schedule() -> None:
    times = Times(start=3.0, chunks=(1.0, 2.0, 4.0), take=0.001, task=0.001, size=100_000)
    assert simulate(times, 10_000, 50, 20, seed=3) == simulate(times, 10_000, 50, 20, seed=3)
    assert simulate(times, 10_000, 50, 20, seed=3) != simulate(times, 10_000, 50, 20, seed=4)


def test_the_command_measures_a_campaign(hello: tactus.System, tmp_path: Path) -> None:
    (tmp_path / "hello.toml").write_text(hello.to_toml())
    fault = {"memory": {"vm": "hello", "among": "all"}}
    lines = ['system = "hello.toml"', 'pace = "fast"', 'from = "1ms"', 'for = "20ms"', 'after = "5ms"', "[[fault]]"]
    file = tmp_path / "campaign.toml"
    memory = ", ".join(f"{key} = {json.dumps(value)}" for key, value in fault["memory"].items())
    file.write_text("\n".join([*lines, f"memory = {{ {memory} }}"]))
    options = ["--runs", "10000", "--workers", "1", "1000", "--chunk", "5", "--measure", "2"]
    command = [sys.executable, str(SCRIPT), str(file), *options]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    measured, _, header, one, many = text.splitlines()
    assert measured.startswith("Measured: ")
    assert header.split()[:2] == ["workers", "time"]
    assert (one.split()[0], many.split()[0]) == ("1", "1000")
    assert one.split()[3] == "1.0"
    assert float(many.split()[3]) > 1
