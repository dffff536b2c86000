#!/usr/bin/env python3
"""The notices of the software of others in a release, as Markdown on stdout.

It takes the crates that are linked into the program, the hypervisor and the guests from Cargo's metadata, and their
licences' texts from the crates themselves. What is no crate stands in OTHERS.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOST = "x86_64-unknown-linux-gnu"
TARGET = "riscv64gc-unknown-none-elf"
# Files of a crate that hold its terms, by how their names begin.
TERMS = ("license", "licence", "copying", "notice", "unlicense", "copyright", "ofl", "ufl")

OTHERS = """\
## What is no crate

* **OpenSBI**, `artifacts/fw_dynamic.bin`: BSD-2-Clause; unchanged from the distribution's package
  `opensbi`, whose copyright file is `OpenSBI` in this folder.
* **FreeRTOS kernel** and the port derived from it, in the guests `artifacts/freertos*`: MIT, `LICENSE-FreeRTOS.md` in this
  folder.
* **lwIP**, in the guest `artifacts/freertos-network`: BSD-3-Clause; unchanged, its terms are `COPYING-lwIP` in this folder.
* **Verilator's run-time library**, in the models `artifacts/*.so`: LGPL-3.0-only or Artistic-2.0. The models are made from
  the SystemVerilog in the project's folder `fabric/` by `fabric/flow.py model`, with Verilator as it is distributed.
* **The Rust standard library**: MIT or Apache-2.0.

Linux, busybox and rt-tests are not in a release.
"""


def metadata(platform):
    """Cargo's metadata of the workspace for a platform."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", platform]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)


def linked(data, roots):
    """The packages outside the workspace that are linked into `roots`: neither build scripts nor tests."""
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    packages = {package["id"]: package for package in data["packages"]}
    members = set(data["workspace_members"])
    waiting = [ident for ident in members if packages[ident]["name"] in roots]
    seen = set(waiting)
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if normal and dependency["pkg"] not in seen:
                seen.add(dependency["pkg"])
                waiting.append(dependency["pkg"])
    return [packages[ident] for ident in seen - members]


def terms(package):
    """The texts in a package that hold its terms."""
    folder = pathlib.Path(package["manifest_path"]).parent
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name.lower().startswith(TERMS))
    texts = [path.read_text(errors="replace").strip() for path in files if path.suffix not in (".rs", ".h", ".c")]
    return list(dict.fromkeys(text for text in texts if text))


def main():
    host = metadata(HOST)
    bare = {package["name"] for package in host["packages"] if package["id"] in host["workspace_members"]}
    bare -= {"tactus", "tactus-board", "tactus-python"}
    packages = {package["id"]: package for package in linked(host, {"tactus", "tactus-python"}) + linked(metadata(TARGET), bare)}
    packages = sorted(packages.values(), key=lambda package: (package["name"], package["version"]))
    unlicensed = [package["name"] for package in packages if not package["license"] and not package["license_file"]]
    if unlicensed:
        sys.exit(f"notices: these crates name no licence: {', '.join(unlicensed)}")
    print("# Notices\n\nTactus itself is under Apache-2.0 or MIT, at your choice. A release has software of others in it:\n")
    print(OTHERS)
    print("## Crates\n\n| crate | version | licence |\n|---|---|---|")
    for package in packages:
        print(f"| {package['name']} | {package['version']} | {package['license'] or 'see its text'} |")
    print("\nEach is unchanged: its source is the package of that name and version in Rust's registry.")
    # Each text once, with the crates that have it.
    texts = {}
    for package in packages:
        for text in terms(package):
            texts.setdefault(text, []).append(f"{package['name']} {package['version']}")
    print("\n## Their texts")
    for text, names in texts.items():
        print(f"\n### {', '.join(names)}\n\n```text\n{text}\n```")


if __name__ == "__main__":
    main()
