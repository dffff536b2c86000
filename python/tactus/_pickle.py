"""What pickled objects are made again with."""

from __future__ import annotations

from os import PathLike

from tactus._tactus import System


def system(text: str, name: str, directory: str | PathLike[str]) -> System:
    """Make a system again."""
    # A text without a line would be taken for a path.
    return System.from_toml(text if "\n" in text else text + "\n", name=name, directory=directory)
