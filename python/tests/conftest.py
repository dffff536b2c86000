"""What tests share: systems of the repository, and boards of them. No test has a mock: all run on real boards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tactus

ROOT = Path(__file__).resolve().parents[2]

HELLO = """\
[system]
platform = "soc"  # two harts at 666.7 MHz
harts = 1

[[vm]]
name = "hello"
image = "@hello"
memory = "4MiB"

[[vm.vcpu]]
class = "be"
"""

# A real-time guest that measures its latency beside one that computes.
SAMPLED = """\
[system]
platform = "soc"
harts = 1

[[vm]]
name = "rtos"
image = "@freertos-dispatch"
counters = true
memory = "16MiB"
bootargs = "hz=1000 samples=200"

[[vm.vcpu]]
class = "rt"
hart = 0
priority = 200
budget = "unlimited"

[[vm]]
name = "load"
image = "@bench-load"
memory = "4MiB"
bootargs = "load=compute"

[[vm.vcpu]]
class = "be"
"""


@pytest.fixture(scope="session", autouse=True)
def _in_the_clone() -> None:
    """Artifacts come from this clone, wherever the package is installed."""
    assert tactus.artifacts() is None


@pytest.fixture
def hello() -> tactus.System:
    """Give a system of one guest, as a text."""
    return tactus.System.from_toml(HELLO)


@pytest.fixture(scope="session")
def system() -> Callable[[str], tactus.System]:
    """Give the repository's system of a name."""

    def read(name: str) -> tactus.System:
        return tactus.System.from_toml(ROOT / "systems" / f"{name}.toml")

    return read


@pytest.fixture(scope="session")
def sampled() -> tactus.Board:
    """Give a board whose FreeRTOS has measured its latency; no test lets it go on."""
    board = tactus.Board(tactus.System.from_toml(SAMPLED))
    board.run(tactus.Until.record("off", vm="rtos"))
    return board
