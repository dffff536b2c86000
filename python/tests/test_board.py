"""Boards run in pieces, and everything is looked into between."""

from __future__ import annotations

import datetime
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import HELLO, ROOT

import tactus
from tactus import Board, System, Until

SystemOf = Callable[[str], System]


def test_a_run_in_pieces_is_the_whole_run(system: SystemOf) -> None:
    whole = Board(system("hello"))
    stop = whole.run()
    assert (stop.reason, stop.detail) == ("end", "all VMs are off")
    assert whole.ended == "all VMs are off"
    pieces = Board(system("hello"), seed=1)
    pieces.run("7ms")
    for until in [datetime.timedelta(milliseconds=15), Until.time("16ms"), "symbol:hello/start::boot"]:
        assert isinstance(until, (str, datetime.timedelta, Until))
        pieces.run(until)
    pieces.run("cycle:14000000")
    assert pieces.ended is None
    pieces.run(within="123us")
    pieces.run(Until.record("start", vm="hello"))
    pieces.run()
    assert pieces.trace_hash == whole.trace_hash
    assert pieces.femtoseconds == whole.femtoseconds
    assert pieces.console("hello") == whole.console("hello")
    assert pieces.records().to_dict() == whole.records().to_dict()
    # What has ended stays so.
    assert whole.run().detail == "all VMs are off"
    with pytest.raises(tactus.RunEnded, match=r"the run ended before time .*: all VMs are off"):
        whole.run("1s")


def test_a_seed_and_a_profile_make_another_run(system: SystemOf) -> None:
    def hash_of(name: str = "hello", **options: object) -> str:
        board = Board(system(name), **options)  # type: ignore[arg-type]
        board.run()
        return board.trace_hash

    fast = hash_of()
    assert hash_of(seed=2) == fast, "the fast mode has nothing random"
    weak = [hash_of("selftest", memory_model="weak", seed=seed) for seed in (2, 2, 3)]
    assert weak[0] == weak[1] != weak[2]
    assert hash_of(pace="timed") != fast
    assert hash_of(profile="mpsoc") != fast
    assert hash_of(profile=str(ROOT / "profiles/soc.toml")) == fast
    assert hash_of(timed_from="symbol:hello/start::boot") not in (fast, hash_of(pace="timed"))


def test_a_run_stops_where_it_is_to(system: SystemOf) -> None:
    board = Board(system("hello"))
    stop = board.run("symbol:hello/start::boot")
    assert (stop.reason, stop.hart) == ("symbol", 0)
    assert board.register(0, "pc") == board.symbol("hello/start::boot") == board.harts[0].pc
    assert board.harts[0].who == "hello"
    assert board.harts[0].mode == "VS"
    stop = board.run(Until.text("hello", "beat 2 at"))
    assert stop.reason == "text"
    assert stop.time == board.time
    assert "beat 2" in board.console("hello") and "beat 3" not in board.console("hello")
    stop = board.run(Until.record("pass", source="hello", name="hello"))
    assert (stop.reason, stop.record) == ("record", "pass name=hello")
    stop = board.run(Until.record("off", source="(tactus)", code=0))
    assert stop.record is not None and stop.record.startswith("off vm=hello reason=shutdown")
    (vm,) = board.vms
    assert (vm.name, vm.state, vm.code, vm.failed, vm.checks_passed) == ("hello", "shut_down", 0, False, ["hello"])
    assert vm.started is not None and vm.off is not None and 0 < vm.started < vm.off <= board.time
    assert "boot version=" in board.console("(tactus)")
    assert "OpenSBI" in board.console("(firmware)")


def test_what_does_not_come_is_told(system: SystemOf) -> None:
    board = Board(system("hello"))
    with pytest.raises(tactus.TimeUp, match=r'text "no such" of hello did not come within 0\.020') as caught:
        board.run(Until.text("hello", "no such"), within="20ms")
    assert isinstance(caught.value, TimeoutError)
    assert board.femtoseconds == 20_000_000_000_000
    with pytest.raises(tactus.RunEnded, match="the run ended before record phase name=idle"):
        board.run("phase:idle")


def test_console_text_is_expected_step_by_step(system: SystemOf) -> None:
    board = Board(system("hello"))
    assert board.expect("hello", "beat 1").endswith("beat 1")
    heard = board.expect("hello", "beat 3")
    assert heard.startswith(" at ") and "beat 2" in heard and heard.endswith("beat 3")
    with pytest.raises(tactus.TimeUp):
        board.expect("hello", "beat 3", within="100us")


def test_a_shell_is_driven(system: SystemOf) -> None:
    linux = system("linux")
    board = Board(linux)
    board.expect("linux", "~ # ")
    board.send("linux", "echo $((6 * 7)); nproc")
    # Between what was typed and its end, a board can be saved and forked.
    board.run(within="1ms")
    forks = [board.fork(), board]
    for each in forks:
        assert "42\r\n2\r\n" in each.expect("linux", "~ # ")
    assert forks[0].trace_hash == forks[1].trace_hash
    board.type_text("linux", "poweroff -f\n")
    assert board.run().detail == "all VMs are off"


def test_memory_and_registers_are_read_and_written(hello: System) -> None:
    board = Board(hello)
    board.run("symbol:hello/start::boot")
    registers = board.registers(0)
    assert list(registers)[:3] == ["zero", "ra", "sp"] and len(registers) == 33
    assert registers["pc"] == board.symbol("hello/start::boot")
    assert board.register(0, "x10") == board.register(0, "a0") == registers["a0"]
    assert board.register(0, "hgatp") >> 44 & 0x3FFF == 1, "VM 0 has VMID 1"
    code = board.read_memory(registers["pc"], 16, hart=0)
    guest = (ROOT / "target/riscv64gc-unknown-none-elf/embedded/hello").read_bytes()
    assert code in guest
    board.set_register(0, "t0", 0xFFFF_FFFF_FFFF_FFFF)
    assert board.register(0, "t0") == 0xFFFF_FFFF_FFFF_FFFF
    base = 0x8000_0000
    before = board.read_memory(base, 8)
    board.write_memory(base + 8, b"\x01\x02")
    assert board.read_memory(base, 10) == before + b"\x01\x02"
    board.write_memory(registers["sp"] - 64, b"tactus", hart=0)
    assert board.read_memory(registers["sp"] - 64, 6, hart=0) == b"tactus"


def test_bad_arguments_change_nothing(hello: System) -> None:
    board = Board(hello)
    board.run("1ms")
    before = (board.trace_hash, board.femtoseconds)
    bad: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: board.run("soon"), tactus.BadArgument, "`soon` is not something that happens in a run; say a time"),
        (lambda: board.run(3.5), TypeError, "`until` is a time, a marker"),  # type: ignore[arg-type]
        (lambda: board.run(datetime.timedelta(-1)), tactus.BadArgument, "a time is not negative"),
        (lambda: board.run(within="9999999h"), tactus.BadArgument, "`9999999h` is not a time"),
        (lambda: board.run("symbol:no_such"), tactus.BadArgument, "the program has no symbol `no_such`"),
        (lambda: board.run("symbol:no/main"), tactus.BadArgument, 'there is no VM "no"'),
        (lambda: board.run("cycle:x"), tactus.BadArgument, "`cycle:x` is not something"),
        (lambda: board.run(Until.text("no", "x")), tactus.BadArgument, 'no VM "no"; its VMs are: hello'),
        (lambda: Until.text("hello", ""), tactus.BadArgument, "is not empty"),
        (lambda: Until.record("off", code=1.5), TypeError, "`code` of a record is a str or an int"),  # type: ignore[arg-type]
        (lambda: board.run(Until.record("off", source="no")), tactus.BadArgument, 'no VM "no"'),
        (lambda: board.expect("no", "x"), tactus.BadArgument, 'no VM "no"'),
        (lambda: board.send("no", "x"), tactus.BadArgument, 'no VM "no"'),
        (lambda: board.console("no"), tactus.BadArgument, 'no VM "no"'),
        (lambda: board.register(0, "x32"), tactus.BadArgument, "there is no register `x32`"),
        (lambda: board.register(7, "pc"), IndexError, "there is no hart 7: the board has harts 0 to 0"),
        (lambda: board.registers(7), IndexError, "no hart 7"),
        (lambda: board.set_register(0, "mhartid", 1), tactus.BadArgument, "no CSR 0xf14 that can be written"),
        (lambda: board.set_register(0, "a0", -1), OverflowError, "negative"),
        (lambda: board.read_memory(0x10, 4), tactus.BadArgument, "memory"),
        (lambda: board.read_memory(0x8000_0000, 1 << 40), tactus.BadArgument, "at most 1 GiB"),
        (lambda: board.read_memory(1 << 63, 4, hart=0), tactus.BadArgument, "hart 0 has no memory at 0x8"),
        (lambda: board.write_memory(0x10, b"1234"), tactus.BadArgument, "memory"),
        (lambda: board.write_memory(0xFFFF_FFFF_FFFF_FFFF, b"1234"), tactus.BadArgument, "memory"),
        (lambda: board.add_probe("no_such"), tactus.BadArgument, "no symbol `no_such`"),
        (lambda: board.symbol("no_such"), tactus.BadArgument, "no symbol `no_such`"),
        (lambda: board.restore(tactus.Snapshot.from_bytes(b"x")), tactus.TactusError, "it is no snapshot of a run"),
        (lambda: board.plot("hello", "latency"), tactus.BadArgument, "there are no samples of latency of hello"),
        (lambda: board.pins_plot(), tactus.TactusError, "no pin changes"),
        (lambda: board.report("/proc/none/report"), tactus.TactusError, "the report could not be written"),
    ]
    for call, kind, message in bad:
        with pytest.raises(kind, match=message.replace("(", r"\(")):
            call()
    assert (board.trace_hash, board.femtoseconds) == before
    board.run()
    other = Board(System.from_toml(HELLO))
    other.run()
    assert board.trace_hash == other.trace_hash


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"profile": "none"}, 'there is no profile "none"; there are: '),
        ({"profile": "./none.toml"}, "none.toml"),
        ({"pace": "slow"}, 'there is no pace "slow"; say one of fast, timed'),
        ({"pace": "fast", "timed_from": "cycle:1"}, "exclude each other"),
        ({"timed_from": "never"}, "`never` is not something that happens in a run"),
        ({"memory_model": "none"}, "say one of sequential, weak"),
        ({"quantum": 0}, "`quantum` is 1 to 1,000,000 cycles"),
        ({"probes": ["no_such"]}, "no symbol `no_such`"),
        ({"probes": ["tactus_call:9"]}, "`9` is not a number of argument registers"),
        ({"pins": True}, "it has none"),
    ],
)
def test_a_board_that_cannot_be_is_refused(hello: System, options: dict[str, object], message: str) -> None:
    with pytest.raises(tactus.BadArgument, match=message):
        Board(hello, **options)  # type: ignore[arg-type]


def test_a_system_of_tiles_is_refused(system: SystemOf) -> None:
    with pytest.raises(tactus.TactusError, match=r"a system of tiles|is not in order"):
        Board(system("manycore"))


def test_warnings_are_warned_of() -> None:
    system = System.from_toml(ROOT / "systems/hello.toml")
    system["system.harts"] = 2
    system["vm.hello.vcpu.0"] = {"class": "rt", "hart": 0, "priority": 100, "budget": "unlimited"}
    problems = [problem for problem in system.check() if problem.weight == "warning"]
    assert problems
    with pytest.warns(tactus.TactusWarning) as caught:
        Board(system)
    assert [str(warning.message) for warning in caught] == [str(problem) for problem in problems]


def test_a_snapshot_is_gone_on_from_again_and_again(hello: System, tmp_path: Path) -> None:
    board = Board(hello)
    board.run("18ms")
    snapshot = board.snapshot()
    saved = tmp_path / "snapshot"
    snapshot.save(saved)
    console = board.console("(tactus)")
    board.run()
    whole = (board.trace_hash, board.time, board.console("hello"), board.records().to_dict())
    for again in [snapshot, tactus.Snapshot.load(saved), pickle.loads(pickle.dumps(snapshot))]:
        assert again == snapshot and len(again) == len(snapshot)
        board.restore(again)
        assert (board.time, board.ended, board.console("(tactus)")) == (0.018, None, console)
        board.run()
        assert (board.trace_hash, board.time, board.console("hello"), board.records().to_dict()) == whole
    # A board of the same system takes it as well, in another process or not.
    other = Board(hello)
    other.restore(snapshot)
    other.run()
    assert other.trace_hash == whole[0]


def test_snapshots_of_other_boards_are_refused(hello: System) -> None:
    board = Board(hello)
    board.run("18ms")
    whole = board.trace_hash
    hello["system.harts"] = 2
    two = Board(hello)
    snapshot = two.snapshot()
    for bad in [snapshot, tactus.Snapshot.from_bytes(snapshot.to_bytes()[:1000])]:
        with pytest.raises(tactus.TactusError, match="the run cannot go on from this snapshot"):
            board.restore(bad)
        assert board.trace_hash == whole


def test_forks_are_independent(hello: System) -> None:
    board = Board(hello, probes=["tactus_call:1"])
    board.run("18ms")
    fork = board.fork()
    assert fork.probe_hits().to_dict() == board.probe_hits().to_dict()
    before = board.trace_hash
    fork.run()
    assert board.trace_hash == before
    board.run()
    assert board.trace_hash == fork.trace_hash
    assert fork.probe_hits().to_dict() == board.probe_hits().to_dict()


def test_a_fork_may_take_another_way(hello: System) -> None:
    board = Board(hello)
    board.run("symbol:hello/start::boot")
    fork = board.fork()
    fork.set_register(0, "pc", 0)
    fork.run()
    board.run()
    assert (fork.vms[0].state, board.vms[0].state) == ("faulted", "shut_down")
    assert fork.vms[0].faults == 1


LOAD = HELLO.replace('image = "@hello"', 'image = "@bench-load"\nbootargs = "load=compute"')


@pytest.fixture
def endless() -> Iterator[Board]:
    """Give a board that never ends, in a process that takes Ctrl-C, as one in the background need not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    board = Board(System.from_toml(LOAD))
    board.run("20ms")
    yield board
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_stops_a_run_which_can_go_on(endless: Board) -> None:
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        # Far more than a test may take.
        endless.run(within="1000s")
    timer.join()
    stopped = endless.femtoseconds
    assert stopped > 20_000_000_000_000
    assert endless.run(within="1ms").reason == "time"
    other = Board(System.from_toml(LOAD))
    other.run(Until.time(f"{endless.femtoseconds // 1_000_000}ns"))
    assert other.trace_hash == endless.trace_hash


def test_other_threads_run_meanwhile_and_are_told_that_the_board_is_busy(endless: Board) -> None:
    started, told = threading.Event(), []

    def look() -> None:
        started.wait()
        for _ in range(1000):
            try:
                endless.time  # noqa: B018
            except tactus.BoardBusy as error:
                told.append(str(error))
                os.kill(os.getpid(), signal.SIGINT)
                return
            time.sleep(0.001)

    thread = threading.Thread(target=look)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        started.set()
        endless.run(within="1000s")
    thread.join()
    assert told == [
        "another thread has this board; wait for it, or give each thread a board of its own: fork() makes one"
    ]


def test_boards_run_at_the_same_time(hello: System) -> None:
    boards = [Board(hello) for _ in range(4)]
    threads = [threading.Thread(target=board.run) for board in boards]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({board.trace_hash for board in boards}) == 1


def test_a_design_of_the_fabric_is_loaded(system: SystemOf) -> None:
    board = Board(system("stamp"))
    assert board.run().detail == "all VMs are off"
    assert board.vms[0].checks_passed == ["stamp"]
    assert (board.profile, board.seed) == ("soc", 1)


def test_reports_are_those_of_the_tool(hello: System, tmp_path: Path) -> None:
    board = Board(hello, timeline=True)
    board.run("18ms")
    assert board.to_dict()["reason"] == "it is paused"
    board.run()
    assert "Trace hash " + board.trace_hash in board.summary()
    assert board.report(tmp_path / "report") == tmp_path / "report/report.html"
    assert (tmp_path / "report/consoles/hello.log").read_text() == board.console("hello")
    page = board.report(tmp_path / "alone.html")
    assert page.read_text().startswith("<!")
    assert board.to_dict()["vms"][0]["name"] == "hello"
    assert board.to_dict()["board"]["trace_hash"] == board.trace_hash
