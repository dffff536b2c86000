"""What ``help()`` shows is what the stubs say; their signatures are compared by mypy's stubtest (`setup/test.sh`)."""

from __future__ import annotations

import ast
import inspect

from conftest import ROOT

import tactus


def test_help_shows_what_the_stubs_say() -> None:
    stub = ast.parse((ROOT / "python/tactus/_tactus.pyi").read_text())
    compared = 0
    for node in stub.body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef):
            continue
        thing = getattr(tactus, node.name)
        entries = [(thing, node)]
        if isinstance(node, ast.ClassDef):
            methods = [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name != "__new__"]
            entries += [(getattr(thing, item.name), item) for item in methods]
        for runtime, entry in entries:
            said = ast.get_docstring(entry)
            if said is not None:
                assert inspect.getdoc(runtime) == said, f"{node.name}.{entry.name}"
                compared += 1
    assert compared > 60
