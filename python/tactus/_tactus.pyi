"""The compiled part of the package: everything is to be had from ``tactus`` itself.

Times of virtual time (``Time``) are a ``str`` with a unit, such as ``"10ms"``, or a ``datetime.timedelta``. A place
within a description (``Place``) is a ``str`` such as ``"vm.first.memory"``, or a tuple such as
``("vm", 0, "memory")``; what is in a list is named by its number, or by its ``name``.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, final

if sys.version_info >= (3, 13):
    from types import CapsuleType as _CapsuleType
else:
    _CapsuleType: TypeAlias = object

_Time: TypeAlias = str | timedelta
_Place: TypeAlias = str | tuple[str | int, ...]
_Value: TypeAlias = str | int | float | bool | Sequence["_Value"] | Mapping[str, "_Value"]

__all__ = [
    "Board",
    "Campaign",
    "Hart",
    "Plot",
    "Problem",
    "Results",
    "Snapshot",
    "Stop",
    "System",
    "Table",
    "Until",
    "Vm",
    "__version__",
    "artifacts",
    "faults",
    "profiles",
    "sweep",
    "use_artifacts",
]

__version__: str

def profiles() -> list[str]:
    """Give the names of the boards' profiles that come with the tool."""

def artifacts() -> Path | None:
    """Give the directory that hypervisor, guests and models come from; ``None``: a clone, where they are built."""

def use_artifacts(directory: str | PathLike[str]) -> None:
    """Take hypervisor, guests and models from a directory that ``tactus artifacts DIR`` has made.

    Without this call they come from the directory that ``TACTUS_ARTIFACTS`` names; else from the package, where it has
    them; else from the clone around the current directory, or the one that the package was built in. The choice holds
    for the process: call this before anything is checked or run.
    """

def sweep(
    description: str | PathLike[str] | Mapping[str, Any],
    *,
    system: System | None = None,
    directory: str | PathLike[str] | None = None,
    jobs: int | None = None,
    strict: bool = False,
    output: str | PathLike[str] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Table:
    """Run a system with all combinations of what a description varies; gives a table with a row for each run.

    ``description`` is a sweep's file, or what such a file says as a dict; ``system`` takes the place of the system that
    it names, and paths in it are relative to ``directory``. The table is the one that ``tactus sweep`` writes, and the
    same whatever ``jobs`` says, the number of runs at a time; without, there are as many as cores.

    ``strict`` raises `TactusError` at the first run that is refused, fails or cannot be carried out. ``output`` is a
    Parquet file to write, too. ``progress`` is called with the number of runs done, and that of all runs at most.
    Raises `BadArgument` if the description is not in order. Ctrl-C ends the sweep, and nothing is written.
    """

def faults(
    description: str | PathLike[str] | Mapping[str, Any],
    *,
    system: System | None = None,
    directory: str | PathLike[str] | None = None,
    runs: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    output: str | PathLike[str] | None = None,
    progress: Callable[[int, int], object] | None = None,
    page: str | PathLike[str] | None = None,
) -> Table:
    """Let a fault happen in each of many runs of a system; gives a table with a row for each run.

    ``description`` is a campaign's file, or what such a file says as a dict; ``system`` takes the place of the system
    that it names, and paths in it are relative to ``directory``. ``runs`` and ``seed`` take the place of its own. The
    table is the one that ``tactus faults`` writes, and the same whatever ``jobs`` says, the number of runs at a time;
    without, there are as many as cores.

    ``output`` is a Parquet file to write, too. What is done is kept beside it then, and a call that was ended, also by
    Ctrl-C, goes on where it was. ``progress`` is called with the number of runs done, and that of all runs. ``page`` is
    an HTML file that shows in a browser how far the campaign is; it is written again while that goes on.
    Raises `BadArgument` if the description is not in order, and `CheckError` if the system is not.
    """

@final
class Campaign:
    """A campaign of faults whose system is judged and built, to carry out any of its runs.

    What a run does follows from the campaign and the run's number alone, wherever it is carried out; ``identity`` is
    the same where that holds. It can be pickled, and is read, judged and built again where it is unpickled.
    `tactus.cluster.faults` divides a campaign between processes and machines with it.
    """

    def __new__(
        cls,
        description: str | PathLike[str] | Mapping[str, Any],
        *,
        system: System | None = None,
        directory: str | PathLike[str] | None = None,
        runs: int | None = None,
        seed: int | None = None,
    ) -> Campaign:
        """Read a campaign, and judge and build its system; the arguments are those of `faults`, as are its errors."""

    @staticmethod
    def from_toml(
        text: str,
        *,
        name: str = "faults",
        system: System | None = None,
        directory: str | PathLike[str] | None = None,
        runs: int | None = None,
        seed: int | None = None,
    ) -> Campaign:
        """Read a campaign from its file's text, which messages call ``name``; the rest is as for the constructor."""

    @property
    def runs(self) -> int:
        """How many runs it has; they are numbered from 0."""

    @property
    def seed(self) -> int:
        """What everything random is made of."""

    @property
    def identity(self) -> str:
        """The tool's version, and a hash of description, seed, hypervisor and guests."""

    def without_fault(self) -> str:
        """Give the hash of all that happens without a fault. The first time, that is carried out."""

    def carry_out(self, runs: Sequence[int]) -> list[str]:
        """Carry out these runs; give a line of JSON for each, in order of their numbers.

        Several threads may do so at a time. Raises `BadArgument` if a number is not below `runs`. Ctrl-C ends it.
        """

    def results(self, output: str | PathLike[str] | None = None, page: str | PathLike[str] | None = None) -> Results:
        """Begin to keep what the runs do: in memory, or where ``output`` is a Parquet file to write, beside it.

        That file has the extension ``.part``; what it has of the same campaign already is done. ``page`` is an HTML
        file that shows how far the campaign is, which `Results.show` brings up to date.
        """

@final
class Results:
    """What the runs of a `Campaign` have done."""

    def missing(self) -> list[int]:
        """Give the runs that are not done, in their order."""

    def take(self, lines: Sequence[str]) -> list[int]:
        """Keep lines of `Campaign.carry_out`. Give the runs of those that were there already, with another content.

        A run that is done stays as it is. Raises `BadArgument` if a line is none of this campaign's; those before it
        are kept.
        """

    def forget(self, runs: Sequence[int]) -> None:
        """Throw away what these runs have done; they are missing again."""

    def show(
        self, workers: Sequence[tuple[str, str, int]] = ..., *, taken_back: int = 0, ended: str | None = None
    ) -> None:
        """Bring the page up to date, where there is one: once a second at most, or at once if it has ``ended``.

        ``workers`` are those that carry runs out: the name of each, its state in words, and how many runs it has
        carried out; ``taken_back`` is how many chunks of runs were given to another one. ``ended`` says why the
        campaign ends before all runs are done; `table` writes the last page otherwise. Warns (`TactusWarning`) if a
        last page cannot be written.
        """

    def table(self) -> tuple[Table, str]:
        """Give the table of all runs and its summary in words; write the Parquet file, and remove the one beside it.

        Raises `BadArgument` if a run is missing.
        """

    def __len__(self) -> int: ...

@final
class Problem:
    """Something that was found wrong with a system."""

    code: str
    """The kind of the problem, as the reference of ``system.toml`` lists it."""
    weight: str
    """``"error"``; ``"warning"``; or ``"environment"``, where something is missing that is needed to judge."""
    message: str
    """What is wrong."""
    hint: str
    """What to do about it."""
    file: str | None
    line: int | None
    """The line of its place, counted from 1."""
    column: int | None
    @property
    def where(self) -> str | None:
        """Its place, as ``"my.toml:10:10"``."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class System:
    """A system's description: a ``system.toml`` that is read, changed and checked.

    What is read by a place is a copy that cannot be changed; ``system[place] = value`` changes the description.
    Comments and the order of its text stay.
    """

    @staticmethod
    def from_toml(
        path_or_text: str | PathLike[str],
        *,
        name: str | None = None,
        directory: str | PathLike[str] | None = None,
    ) -> System:
        """Read a description from its file, or from a text: a ``str`` with more than one line.

        ``name`` is what messages call it, and paths in it are relative to ``directory``. Raises `CheckError` if it is
        not TOML; what else may be wrong is told by `check`.
        """

    @staticmethod
    def from_dict(
        data: Mapping[str, Any],
        *,
        name: str | None = None,
        directory: str | PathLike[str] | None = None,
    ) -> System:
        """Make a description of dicts and lists, as `to_dict` gives them."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def vms(self) -> list[str]:
        """The VMs' names, in their order."""

    def check(self) -> list[Problem]:
        """Give all that the tool finds wrong, warnings included, in the order of the file; nothing if it is fine."""

    def summary(self) -> str:
        """Give what ``tactus check`` prints of a system; raises `CheckError` if it is not in order."""

    def to_toml(self) -> str:
        """Give the description's text."""

    def to_dict(self) -> dict[str, Any]:
        """Give the description as dicts and lists, which are a copy."""

    def copy(self) -> System:
        """Make another one that says the same."""

    def get(self, path: _Place, default: Any = None) -> Any:
        """Give what is at a place, or ``default``."""

    def append(self, path: _Place, new: _Value) -> None:
        """Add to the list at a place, such as a dict to ``"vm"``; begins the list where there is none."""

    def __getitem__(self, path: _Place, /) -> Any: ...
    def __setitem__(self, path: _Place, new: _Value, /) -> None: ...
    def __delitem__(self, path: _Place, /) -> None: ...
    def __contains__(self, path: _Place, /) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __copy__(self) -> System: ...
    def __deepcopy__(self, _memo: dict[int, Any], /) -> System: ...

@final
class Until:
    """What a run goes on to.

    A text or a record counts that comes behind the one that was waited for last, also if it has come already.
    """

    @staticmethod
    def end() -> Until:
        """Until the board ends."""

    @staticmethod
    def time(time: _Time) -> Until:
        """Until a virtual time since reset."""

    @staticmethod
    def cycle(number: int) -> Until:
        """Until a cycle of the harts' clock since reset."""

    @staticmethod
    def symbol(place: str) -> Until:
        """Until a hart is about to execute at ``SYMBOL`` of the hypervisor, ``VM/SYMBOL``, or an address."""

    @staticmethod
    def text(vm: str, text: str) -> Until:
        """Until a VM has written a text on its console."""

    @staticmethod
    def phase(name: str, vm: str | None = None) -> Until:
        """Until a VM, or any, says that a phase begins."""

    @staticmethod
    def record(kind: str, /, *, source: str | None = None, **fields: str | int) -> Until:
        """Until a record of that kind with these fields is written.

        ``source`` is the VM that writes it, or ``"(tactus)"`` for the hypervisor. Numbers are compared as numbers.
        """

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Stop:
    """Why a run stopped."""

    reason: str
    """``"end"``, ``"time"``, ``"symbol"``, ``"text"`` or ``"record"``."""
    time: float
    """The virtual time since reset, in seconds."""
    hart: int | None
    """The hart that is at the symbol."""
    record: str | None
    """The record as it was written."""
    detail: str
    """How the board has ended, or what has come."""

@final
class Hart:
    """A hart at a moment."""

    index: int
    pc: int
    cycle: int
    instructions: int
    who: str
    """Who has it: a VM's name, ``"(hypervisor)"``, ``"(firmware)"`` or ``"(idle)"``."""
    mode: str
    """Its privilege level: ``"M"``, ``"S"``, ``"U"``, ``"VS"`` or ``"VU"``."""
    waiting: bool
    """Whether it waits for an interrupt."""

@final
class Vm:
    """A VM at a moment. Times are in seconds of virtual time since reset."""

    name: str
    state: str
    """``"not_started"``, ``"loading"``, ``"running"``, ``"waiting"``, ``"shut_down"``, ``"failed"``, ``"faulted"``,
    ``"refused"``, ``"stopped"`` or ``"held"``."""
    failed: bool
    """Whether it ended by a fault or as failed, or a check of its own did not hold."""
    started: float | None
    off: float | None
    code: int | None
    """The code that it ended with."""
    faults: int
    restarts: int
    phases: list[str]
    checks_passed: list[str]
    checks_failed: list[tuple[str, str]]
    """Name and reason of each."""
    metrics: dict[str, tuple[float, str]]
    """The figures that it has reported, each with its unit."""

@final
class Snapshot:
    """All of a run's state; can be pickled. ``tactus run --restore`` takes its file, too."""

    @staticmethod
    def from_bytes(bytes: bytes) -> Snapshot:
        """Make one of its bytes; whether they are good is told by `Board.restore`."""

    @staticmethod
    def load(path: str | PathLike[str]) -> Snapshot:
        """Read one from a file."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file."""

    def to_bytes(self) -> bytes:
        """Give its bytes."""

    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Plot:
    """A picture, which notebooks show."""

    title: str
    svg: str
    """The picture's text."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file."""

    def _repr_svg_(self) -> str: ...

@final
class Table:
    """Columns of the same length, which pyarrow, pandas and polars take over without a copy.

    ``pyarrow.table(table)``, ``pandas.DataFrame.from_arrow(table)`` and ``polars.DataFrame(table)`` do so, by Arrow's
    PyCapsule interface. None of them is needed: ``table["name"]`` is a list.
    """

    @property
    def columns(self) -> list[str]:
        """The columns' names."""

    def to_dict(self) -> dict[str, list[Any]]:
        """Give all columns as lists."""

    def __len__(self) -> int: ...
    def __getitem__(self, column: str, /) -> list[Any]: ...
    def __arrow_c_schema__(self) -> _CapsuleType: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[_CapsuleType, _CapsuleType]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> _CapsuleType: ...

@final
class Board:
    """A system on the virtual board, at reset, run in pieces.

    A run is a function of the system, the profile, the seed and what is sent to consoles: where it is paused makes no
    difference. It is the run that ``tactus run --platform board`` makes with the same options, and a whole one has the
    same trace hash.
    """

    def __new__(
        cls,
        system: System,
        profile: str | None = None,
        seed: int | None = None,
        *,
        pace: str | None = None,
        timed_from: str | None = None,
        quantum: int | None = None,
        memory_model: str = "sequential",
        probes: Sequence[str] = ...,
        pins: bool = False,
        timeline: bool = False,
    ) -> Board:
        """Put a system on a board.

        ``profile`` is one of `profiles`, or a profile's file; without, it is the system's platform, or ``soc``.
        ``pace`` is ``"fast"``, where each instruction takes a cycle, or ``"timed"``, where pipeline, caches and memory
        take what the profile says; ``timed_from`` makes it timed at ``phase:NAME``, ``symbol:PLACE`` or
        ``cycle:NUMBER``. ``memory_model`` is ``"sequential"`` or ``"weak"``. ``probes`` are places to be watched, each
        with ``:N`` for N argument registers. ``pins`` has the changes of the fabric's pins kept, and ``timeline`` what
        the report shows over time.

        Raises `CheckError` if the system is not in order, and warns (`TactusWarning`) of what may not be meant.
        """

    def run(self, until: Until | _Time | None = None, *, within: _Time | None = None) -> Stop:
        """Run on until something comes; without ``until``, to the board's end.

        ``until`` is an `Until`; a virtual time since reset; or ``"phase:NAME"``, ``"symbol:PLACE"`` or
        ``"cycle:NUMBER"``. Raises `TimeUp` if it does not come ``within`` so much virtual time; without ``until``, the
        run just stops then. Raises `RunEnded` if the board ends before, and `BoardAsleep` if nothing can come without
        input.

        Other threads of Python run meanwhile. Ctrl-C raises ``KeyboardInterrupt``, and the run can go on.
        """

    def expect(self, vm: str, text: str, *, within: _Time | None = None) -> str:
        """Run on until a VM has written a text, within 60 s of virtual time unless told.

        Gives what it has written from behind what was expected last up to the end of the text. What has been written
        already counts.
        """

    def send(self, vm: str, text: str) -> None:
        """Type a text and Enter on a VM's console, no faster than its guest takes it, as the run goes on."""

    def type_text(self, vm: str, text: str) -> None:
        """Type a text as it is."""

    def console(self, vm: str) -> str:
        """Give what a VM has written, or ``"(tactus)"``, or ``"(firmware)"``: the last 4 MiB at least."""

    @property
    def time(self) -> float:
        """The virtual time since reset, in seconds."""

    @property
    def femtoseconds(self) -> int:
        """The same exactly."""

    @property
    def profile(self) -> str:
        """The profile's name."""

    @property
    def seed(self) -> int:
        """What everything random is made of."""

    @property
    def ended(self) -> str | None:
        """How the board has ended, if it has."""

    @property
    def trace_hash(self) -> str:
        """The hash of all that happened: the same, the same run."""

    @property
    def harts(self) -> list[Hart]:
        """The harts as they are now."""

    @property
    def vms(self) -> list[Vm]:
        """The VMs as they are now."""

    def registers(self, hart: int) -> dict[str, int]:
        """Give the integer registers and ``pc`` of a hart."""

    def register(self, hart: int, name: str) -> int:
        """Give a register: ``pc``, ``a0`` or ``x10``, ``fa0`` or ``f10``, or a CSR such as ``sepc``."""

    def set_register(self, hart: int, name: str, value: int) -> None:
        """Set a register."""

    def symbol(self, place: str) -> int:
        """Give the virtual address of ``SYMBOL`` of the hypervisor, or of ``VM/SYMBOL``."""

    def read_memory(self, address: int, size: int, *, hart: int | None = None) -> bytes:
        """Read memory by physical address, or as the code that a hart runs now has it."""

    def write_memory(self, address: int, data: bytes, *, hart: int | None = None) -> None:
        """Write memory; nothing is written where not all of it is there."""

    def add_probe(self, probe: str) -> None:
        """Watch a place from here on."""

    def snapshot(self) -> Snapshot:
        """Save all of the run's state. What only watches, such as hits of probes, is not part of it."""

    def restore(self, snapshot: Snapshot) -> None:
        """Go to a snapshot of the same system on the same board; hits, pins and the timeline begin again."""

    def fork(self) -> Board:
        """Make a second board that goes on from here, independent of this one, with all that was recorded."""

    def records(self, kind: str | None = None) -> Table:
        """Give all records: ``seconds``, ``source``, ``kind``, ``text``. Of a ``kind``, a column for each field.

        ``seconds`` is the virtual time by which the record had come, to 0.1 ms.
        """

    def samples(self) -> Table:
        """Give all samples in their order: ``vm``, ``name``, ``phase``, ``unit``, ``value``, ``ns``."""

    def cycles(self) -> Table:
        """Give who had the harts' cycles since reset: ``hart``, ``who``, ``cycles``, ``instructions``, ``share``."""

    def probe_hits(self) -> Table:
        """Give when harts came to probes: ``probe``, ``seconds``, ``cycle``, ``hart``, and argument registers."""

    def pins(self) -> Table:
        """Give when pins changed: ``seconds``, ``cycle`` of the fabric, and all ``levels`` from then on."""

    def plots(self) -> list[Plot]:
        """Give the pictures of the run's report: the distribution of each quantity that was sampled."""

    def plot(self, vm: str, name: str) -> Plot:
        """Give the distribution of a quantity that a VM has sampled."""

    def pins_plot(self, changes: int = 40) -> Plot:
        """Give the pins around so many first changes."""

    def summary(self) -> str:
        """Give what ``tactus run`` prints at the end."""

    def report(self, directory: str | PathLike[str]) -> Path:
        """Write the report into a directory, or as one page if that ends in ``.html``; gives the page's path."""

    def to_dict(self) -> dict[str, Any]:
        """Give the report for programs, as ``tactus run --json`` prints it."""
