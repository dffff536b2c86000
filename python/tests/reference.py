"""The reference of the package as a page of the book, made of its stubs."""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

HEAD = """\
# The Python package

For users of the package `tactus`, who want to look up what there is. The page is made of the package's stubs
(`python/tactus/_tactus.pyi`); [Use Tactus from Python](../tutorial/python.md) shows how to begin.

* `Time` is a `str` with a unit, such as `"10ms"`, or a `datetime.timedelta`: a length of virtual time.
* `Place` is a place within a description: a `str` such as `"vm.first.memory"`, or a tuple such as
  `("vm", 0, "memory")`. What is in a list is named by its number, or by its `name`.
* `Value` is what a description has: `str`, `int`, `float`, `bool`, and lists and dicts of these.

Errors are exceptions. The message is the tool's own, `hint` says what to do about it, and nothing has changed:

| exception | when |
|---|---|
"""

TAIL = """
## Where hypervisor, guests and models come from

A wheel that `make dist` has made has them in its folder `tactus/artifacts`, the models of the fabric's designs that
`DIST_MODELS` names included. Other installations take them from the directory that `TACTUS_ARTIFACTS` names or
`use_artifacts` was given; else from the clone around the current directory, or the one that the package was built in.
There they are built when a system needs them: a design's model is compiled by Verilator once, into the folder `build`,
and loaded at run time. So the package itself needs no C++ compiler.

Linux is in no wheel, as [in no release](releases.md#what-an-archive-holds).

## What the package does not do

Systems of tiles (the profile `manycore`), QEMU, gdb, waveforms of the fabric and traces for Perfetto are the command
line's: `tactus run`.
"""


def text(docstring: str | None) -> str:
    """A docstring as Markdown."""
    return re.sub(r"``(.*?)``", r"`\1`", docstring or "")


def plain(source: str) -> str:
    """A signature without what only type checkers need."""
    source = re.sub(r"\b_(Time|Place|Value|CapsuleType)\b", r"\1", source)
    return source.replace("str | PathLike[str]", "path").replace("=...", "=()")


def signature(function: ast.FunctionDef, name: str) -> str:
    """A function's signature as it is called."""
    arguments = function.args
    for kind in (arguments.posonlyargs, arguments.args):
        if kind and kind[0].arg in ("self", "cls"):
            del kind[0]
    result = (
        "" if function.returns is None or ast.unparse(function.returns) == "None" else ast.unparse(function.returns)
    )
    called = ast.unparse(arguments).removesuffix(", /").removesuffix("/")
    return plain(f"{name}({called})" + (f" -> {result}" if result else ""))


def member(node: ast.FunctionDef, owner: str) -> str | None:
    """A method or property, as an entry of a list."""
    if node.name.startswith("_"):
        return None
    doc = text(ast.get_docstring(node))
    decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
    if "property" in decorators:
        kind = plain(ast.unparse(node.returns)) if node.returns else ""
        return f"**`{node.name}`**: `{kind}`" + (f". {doc}" if doc else "")
    name = f"{owner}.{node.name}" if "staticmethod" in decorators else node.name
    return f"```python\n{signature(node, name)}\n```" + (f"\n\n{doc}" if doc else "")


def of_class(node: ast.ClassDef) -> str:
    """A class as a section."""
    parts = [f"## `{node.name}`", text(ast.get_docstring(node))]
    body = node.body[1:] if ast.get_docstring(node) else node.body
    for index, item in enumerate(body):
        if isinstance(item, ast.AnnAssign):
            after = body[index + 1] if index + 1 < len(body) else None
            doc = ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                doc = " " + " ".join(text(str(after.value.value)).split())
            entry = f"**`{ast.unparse(item.target)}`**: `{ast.unparse(item.annotation)}`.{doc}"
            parts.append(textwrap.fill(entry, 120, break_on_hyphens=False))
        elif isinstance(item, ast.FunctionDef):
            if item.name == "__new__":
                doc = text(ast.get_docstring(item))
                item.returns = None
                parts.append(f"```python\n{signature(item, node.name)}\n```\n\n{doc}")
            else:
                parts.append(member(item, node.name) or "")
    return "\n\n".join(part for part in parts if part)


def page(package: Path) -> str:
    """The page."""
    stub = ast.parse((package / "_tactus.pyi").read_text())
    errors = ast.parse((package / "_errors.py").read_text())
    rows = []
    for node in errors.body:
        if isinstance(node, ast.ClassDef):
            bases = ", ".join(ast.unparse(base) for base in node.bases)
            summary = text(ast.get_docstring(node)).split("\n\n")[0].replace("\n", " ")
            rows.append(f"| `{node.name}` ({bases}) | {summary} |\n")
    classes = [of_class(node) for node in stub.body if isinstance(node, ast.ClassDef)]
    order = [
        "System",
        "Problem",
        "Board",
        "Until",
        "Stop",
        "Hart",
        "Vm",
        "Snapshot",
        "Table",
        "Plot",
        "Campaign",
        "Results",
    ]
    classes.sort(key=lambda section: order.index(section.split("`")[1]))
    functions = [member(node, "tactus") for node in stub.body if isinstance(node, ast.FunctionDef)]
    cluster = ast.parse((package / "cluster.py").read_text())
    faults = [node for node in cluster.body if isinstance(node, ast.FunctionDef) and node.name == "faults"]
    parts = [HEAD + "".join(rows), *classes, "## Functions", *[entry for entry in functions if entry]]
    parts += ["## `tactus.cluster`", text(ast.get_docstring(cluster))]
    parts += [entry for node in faults if (entry := member(node, "tactus.cluster"))]
    return "\n".join(f"{part}\n" for part in parts) + TAIL
