"""Each block of Python in the book's pages is executed, in order, and prints what the page shows.

A block ``text`` behind a block ``python`` is what that prints; the value of a last expression is printed as in a
notebook. ``[..]`` stands for any text, ``...`` on a line for any lines. A comment right before a block changes that:

* ``<!-- python: figures vary -->``: numbers are not compared, as they follow each change of the hypervisor's paths;
* ``<!-- python: picture FILE -->``: the block's last value is the picture in that file.

``UPDATE_PAGES=1`` writes what was printed, and pictures, into the pages.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
from pathlib import Path

import pytest
import reference
from conftest import ROOT

import tactus

PAGES = ["docs/src/tutorial/python.md"]
UPDATE = bool(os.environ.get("UPDATE_PAGES"))
BLOCK = re.compile(
    r"(?:^<!-- python: (?:(?P<vary>figures vary)|picture (?P<picture>\S+)) -->\n)?"
    r"^```python\n(?P<code>.*?)^```\n"
    r"(?:\n^```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)


def executed(code: str, where: str, line: int, names: dict[str, object]) -> tuple[str, object]:
    """Execute a block; gives what it prints and the value of its last expression."""
    tree = ast.parse("\n" * (line - 1) + code, where)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value: object = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, where, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), where, "eval"), names)
            if value is not None:
                print(repr(value))
    return printed.getvalue(), value


def shows(page: str, printed: str) -> bool:
    """Whether a page's text stands for what was printed."""
    lines = [
        r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(re.escape("[..]"), ".*?") + r"\n"
        for line in page.splitlines()
    ]
    return re.fullmatch("".join(lines), printed) is not None


def unnumbered(text: str) -> str:
    """Put a mark in the place of each number of a text, and a space in that of several, which follow their widths."""
    return re.sub(r" +", " ", re.sub(r"\d+(?:[.,]\d+)*", "#", text))


def test_wildcards_stand_for_what_they_are_to() -> None:
    assert shows("a 0.[..] s\n", "a 0.5 s\n")
    assert not shows("a [..]\n", "a\nb\n")
    assert shows("a\n...\nd\n", "a\nb\nc\nd\n")
    assert not shows("a+\n", "aa\n")
    assert unnumbered("p99 1,023.5 ns") == unnumbered("p95    7 ns") == "p# # ns"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_what_its_blocks_print(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = ROOT / name
    text = path.read_text()
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    blocks = list(BLOCK.finditer(text))
    assert len(blocks) == text.count("```python\n") > 5
    edited = text
    for block in blocks:
        line = text[: block.start("code")].count("\n") + 1
        printed, value = executed(block["code"], name, line, names)
        shown = block["output"] or ""
        if block["picture"]:
            assert isinstance(value, tactus.Plot)
            picture = path.with_name(block["picture"])
            if UPDATE:
                picture.write_text(value.svg)
            assert value.title in picture.read_text()
        if shows(shown, printed) or (block["vary"] and not UPDATE and unnumbered(shown) == unnumbered(printed)):
            continue
        if UPDATE and block["output"] is not None:
            edited = edited.replace(block[0], block[0].replace(f"```text\n{shown}", f"```text\n{printed}"))
            continue
        pytest.fail(f"{name}:{line}: the page shows\n{shown}\nand the block prints\n{printed}")
    if UPDATE and edited != text:
        path.write_text(edited)


def test_the_reference_is_made_of_the_stubs() -> None:
    path = ROOT / "docs/src/reference/python.md"
    made = reference.page(ROOT / "python/tactus")
    if UPDATE:
        path.write_text(made)
    assert path.read_text() == made, "run the test with UPDATE_PAGES=1"
