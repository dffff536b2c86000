"""A description is data: read, changed, checked."""

from __future__ import annotations

import copy
import pickle
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import HELLO, ROOT

import tactus


def test_a_description_comes_from_a_path_or_a_text(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text(HELLO)
    of_path, of_str = tactus.System.from_toml(path), tactus.System.from_toml(str(path))
    of_text = tactus.System.from_toml(HELLO)
    assert of_path == of_str == of_text
    assert of_path.name == str(path)
    assert of_text.name == "system.toml"
    assert of_text.to_toml() == HELLO
    assert of_text.to_dict() == tomllib.loads(HELLO)
    assert tactus.System.from_dict(of_text.to_dict()).to_dict() == of_text.to_dict()
    assert of_text.vms == ["hello"]
    assert repr(of_text) == "<System system.toml: hello>"


def test_a_value_is_named_by_its_place(hello: tactus.System) -> None:
    assert hello["system.harts"] == 1
    assert hello["vm.hello.memory"] == hello["vm.0.memory"] == hello["vm", 0, "memory"] == "4MiB"
    assert hello["vm.hello.vcpu.0"] == {"class": "be"}
    assert "vm.hello.memory" in hello
    assert "vm.hello.initrd" not in hello
    assert "vm.1.memory" not in hello
    assert hello.get("system.slice") is None
    assert hello.get("system.slice", "10ms") == "10ms"
    with pytest.raises(KeyError, match=r"the description has no vm\.other\.memory"):
        hello["vm.other.memory"]


def test_what_is_read_cannot_be_changed_by_mistake(hello: tactus.System) -> None:
    with pytest.raises(TypeError):
        hello["vm"][0]["memory"] = "8MiB"
    with pytest.raises(AttributeError):
        hello["vm"].append({})


def test_a_change_keeps_text_and_comments(hello: tactus.System) -> None:
    hello["system.platform"] = "mpsoc"
    hello["system.harts"] = 2
    hello["vm.hello.memory"] = "8MiB"
    expected = HELLO.replace('"soc"', '"mpsoc"').replace("harts = 1", "harts = 2").replace("4MiB", "8MiB")
    assert hello.to_toml() == expected
    del hello["system.harts"]
    assert hello.to_toml() == expected.replace("harts = 2\n", "")


def test_tables_and_lists_are_added(hello: tactus.System) -> None:
    hello["fabric.design"] = "stamp"
    hello.append("vm", {"name": "second", "image": "@hello", "memory": "4MiB", "vcpu": [{"class": "be"}]})
    hello.append("vm.hello.vcpu", {"class": "be"})
    hello["vm.hello.vcpu.1.harts"] = [0]
    hello.append("vm.hello.vcpu.1.harts", 1)
    assert hello.vms == ["hello", "second"]
    assert hello["fabric"] == {"design": "stamp"}
    assert hello["vm.hello.vcpu"] == ({"class": "be"}, {"class": "be", "harts": (0, 1)})
    assert hello.to_dict() == tomllib.loads(hello.to_toml())
    hello["vm.hello.vcpu.1.harts.0"] = 1
    assert hello["vm.hello.vcpu.1.harts"] == (1, 1)
    del hello["vm.hello.vcpu.1.harts.0"]
    del hello["vm.second"]
    assert hello.vms == ["hello"]
    hello["vm"] = [{"name": "only"}]
    assert hello.vms == ["only"]
    hello["vm.only.on_fault"] = {"signal": "other"}
    assert hello["vm.only.on_fault.signal"] == "other"


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("system.harts", object(), "a description has str, int, float, bool, lists and dicts, not object"),
        ("system.harts", None, "not NoneType"),
        ("system.harts", [{"a": 1}, object()], "lists and dicts, not object"),
        ("system.harts", {1: 2}, "a key of a table is a str, not int"),
        ("system.harts", 1 << 80, None),
        ("vm.0", 3, "a list of tables has dicts"),
        ("system.platform.name", 1, "the description has no system.platform.name"),
        ("", 1, "a place is a str"),
        ("a..b", 1, "a place is a str"),
        (("vm", -1), 1, "a place is a str"),
        ((), 1, "a place is a str"),
        (7, 1, "a place is a str"),
    ],
)
def test_a_bad_change_changes_nothing(hello: tactus.System, place: object, value: object, message: str | None) -> None:
    with pytest.raises((TypeError, KeyError, OverflowError), match=message):
        hello[place] = value  # type: ignore[index,assignment]
    assert hello.to_toml() == HELLO


def test_what_is_not_there_cannot_be_taken_away(hello: tactus.System) -> None:
    for place in ["system.slice", "vm.1", "fabric.design"]:
        with pytest.raises(KeyError):
            del hello[place]
    with pytest.raises(TypeError, match=r"system\.harts is no list"):
        hello.append("system.harts", 1)
    assert hello.to_toml() == HELLO


def test_copies_are_independent(hello: tactus.System) -> None:
    copies = [hello.copy(), copy.copy(hello), copy.deepcopy(hello), pickle.loads(pickle.dumps(hello))]
    for other in copies:
        assert other == hello
        other["system.harts"] = 2
        assert other != hello
    assert hello.to_toml() == HELLO


def test_a_system_in_order_has_no_problems(hello: tactus.System, system: Callable[[str], tactus.System]) -> None:
    assert hello.check() == []
    assert hello.summary().startswith("system.toml: fine")
    assert system("freertos-rt").check() == []


def test_all_problems_are_objects(hello: tactus.System) -> None:
    hello["vm.hello.memory"] = "3MiB"
    hello["system.platfrom"] = "soc"
    problems = hello.check()
    assert [problem.code for problem in problems] == ["unknown-key", "unaligned"]
    problem = problems[1]
    assert problem.message == "VM `hello`: `memory` must be a multiple of 2 MiB"
    assert problem.hint == "use 2 MiB or 4 MiB"
    assert problem.weight == "error"
    line = hello.to_toml().splitlines().index('memory = "3MiB"') + 1
    assert (problem.file, problem.line, problem.column) == ("system.toml", line, 10)
    assert problem.where == f"system.toml:{line}:10"
    assert str(problem) == f"VM `hello`: `memory` must be a multiple of 2 MiB (line {line}); use 2 MiB or 4 MiB"
    with pytest.raises(tactus.CheckError) as caught:
        tactus.Board(hello)
    assert caught.value.problems == problems
    assert str(problem) in str(caught.value)
    with pytest.raises(tactus.CheckError):
        hello.summary()


def test_every_fault_of_the_tools_own_tests_is_told(tmp_path: Path) -> None:
    faults = sorted((ROOT / "tactus/tests/faults").glob("*.toml"))
    assert len(faults) > 60
    for path in faults:
        try:
            problems = tactus.System.from_toml(path).check()
        except tactus.CheckError as error:
            problems = error.problems
        except UnicodeDecodeError:
            continue
        assert problems, path
        assert all(problem.message and problem.hint for problem in problems), path


def test_what_is_not_toml_is_refused_with_its_place() -> None:
    with pytest.raises(tactus.CheckError, match=r"my\.toml is not TOML") as caught:
        tactus.System.from_toml("[system]\nplatform = soc\n", name="my.toml")
    (problem,) = caught.value.problems
    assert problem.code == "toml-syntax"
    assert problem.where == "my.toml:2:12"


def test_a_file_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no\.toml"):
        tactus.System.from_toml(tmp_path / "no.toml")
    with pytest.raises(TypeError):
        tactus.System.from_toml(3)  # type: ignore[arg-type]


def test_paths_in_a_text_are_relative_to_a_directory(hello: tactus.System, tmp_path: Path) -> None:
    text = HELLO.replace("@hello", "guest.bin")
    system = tactus.System.from_toml(text, directory=tmp_path)
    (problem,) = system.check()
    assert problem.code == "missing-file"
    (tmp_path / "guest.bin").write_bytes(b"\x6f\x00\x00\x00")
    assert system.check() == []


def test_artifacts_are_chosen_once(tmp_path: Path, hello: tactus.System) -> None:
    with pytest.raises(tactus.BadArgument, match="there is no directory"):
        tactus.use_artifacts(tmp_path / "none")
    with pytest.raises(tactus.TactusError, match="artifacts from elsewhere are in use"):
        tactus.use_artifacts(tmp_path)
    assert tactus.profiles()[:1] and "soc" in tactus.profiles()
