"""What can go wrong. The message is the tool's own; ``hint`` says what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tactus._tactus import Problem


class TactusError(Exception):
    """What went wrong, with what to do about it. Nothing has changed by the call that raised it."""

    message: str
    hint: str | None

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}; {self.hint}"


class BadArgument(TactusError, ValueError):
    """An argument that means nothing."""


class CheckError(TactusError):
    """A system that is not in order: ``problems`` has all that was found."""

    problems: list[Problem]

    def __init__(self, message: str, problems: list[Problem]) -> None:
        super().__init__(message)
        self.args = (message, problems)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join([self.message, *(f"  {problem}" for problem in self.problems)])


class RunEnded(TactusError):
    """The board has ended before what a run was to go on to."""


class TimeUp(TactusError, TimeoutError):
    """What a run was to go on to did not come within the virtual time given."""


class BoardAsleep(TactusError):
    """All harts wait, and only input from outside, or time, can wake one."""


class BoardBusy(TactusError):
    """Another thread has the board."""


class TactusWarning(UserWarning):
    """The system works, though perhaps not as meant."""
