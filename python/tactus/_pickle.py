"""What pickled objects are made again with."""

from __future__ import annotations

from os import PathLike

from tactus._tactus import Campaign, System


def system(text: str, name: str, directory: str | PathLike[str]) -> System:
    """Make a system again."""
    # A text without a line would be taken for a path.
    return System.from_toml(text if "\n" in text else text + "\n", name=name, directory=directory)


def campaign(text: str, name: str, directory: str | PathLike[str], system: System, runs: int, seed: int) -> Campaign:
    """Make a campaign again."""
    return Campaign.from_toml(text, name=name, directory=directory, system=system, runs=runs, seed=seed)
