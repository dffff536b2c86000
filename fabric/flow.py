#!/usr/bin/env python3
"""The fabric's flow: lint, registers, tests, proofs and synthesis of the blocks that blocks.toml describes.

    fabric/flow.py lint  [BLOCK...]             two linters, no combinational path between buses, layout of the sources,
                                                generated registers are fresh
    fabric/flow.py regs  [--check]              generates RTL, Rust, C and HTML from regs/*.rdl
    fabric/flow.py test  [--quick] [--waves] [--seed N] [BLOCK...]
    fabric/flow.py prove [--quick | --long] [BLOCK...]
                                                proofs, and that each of them can fail
    fabric/flow.py mutate [--seed N] [--count N] [BLOCK...]
                                                random faults in each block, which its proofs or tests have to notice
    fabric/flow.py synth [--begin-within SECONDS] [BLOCK...]
                                                area and clock rate against synth/limits.toml; without BLOCK, also the
                                                points of the sweep that `tactus bench blueio --quick` reads; what has
                                                not begun in SECONDS is left out, and named
    fabric/flow.py sweep [--json] [--cached] [CPUS...]
                                                area of the I/O hypervisor and timed I/O at the points of
                                                synth/sweep.toml; --cached synthesises nothing
    fabric/flow.py model [DESIGN...]            what the board loads; prints where each design's model is

Needs what `make setup` installs; `model` needs no Python tools. Jobs run side by side; one that passed runs again only when something that it reads
has changed. Logs and traces are in build/fabric. Exit code 1 when anything failed, 2 when a description is wrong.
"""

import argparse
import contextlib
import difflib
import fcntl
import filecmp
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree

import discharge
from jobs import (BUILD, FABRIC, JOB_SECONDS_MAX, PYTHON, ROOT, Failure, Job, command, known, perform, perform_all, relative,
                  tail)
from models import build_model
from mutate import mutate_jobs
from proofs import Mutant, Proof, proof_jobs
from structure import has_bus, lint_structure, lint_structure_fails
from synthesis import OSU, RAM_WORDS_MIN, ROUTE_SEEDS, synth_ecp5, synth_osu, synth_xc7

# What a result of synthesis depends on beside its inputs: not on this file.
SYNTHESIS = [FABRIC / "synthesis.py"]
STRUCTURE = [FABRIC / "structure.py"]
GENERATED = FABRIC / "generated"
RUST = FABRIC / "registers" / "src"

LINE_CHARACTERS_MAX = 100
# Nothing that a user waits for is silent for longer.
HEARTBEAT_SECONDS = 5


class Broken(Exception):
    """A description in blocks.toml or limits.toml that cannot be used; the text says where and why."""


# ---------------------------------------------------------------------------------------------------------------------
# Blocks


@dataclass
class Test:
    """A cocotb module run against a top, which is the block or a wrapper around it."""

    name: str
    module: str
    top: str
    sources: list[Path]
    parameters: dict
    # Takes longer than some ten seconds.
    slow: bool


@dataclass
class Block:
    name: str
    top: str
    sources: list[Path]
    parameters: dict
    clocks: list[str]
    tests: list[Test] = field(default_factory=list)
    proofs: list[Proof] = field(default_factory=list)
    mutants: list[Mutant] = field(default_factory=list)
    synthesise: bool = True
    # The blocks that it uses, by name.
    uses: list[str] = field(default_factory=list)
    placements: int = len(ROUTE_SEEDS)
    # It joins buses of one component: see structure.py.
    joins: bool = False
    # The sources that are not those of a block that it uses.
    own: list[Path] = field(default_factory=list)


def paths(names, where):
    """Files of the fabric by their names in blocks.toml."""
    out = []
    for name in names:
        path = FABRIC / name
        if not path.is_file():
            raise Broken(f"blocks.toml: {where}: there is no file fabric/{name}")
        out.append(path)
    return out


def table(entry, where, **keys):
    """The values of a table by its keys: a type means required, anything else is the default."""
    for key in entry:
        if key not in keys:
            raise Broken(f"blocks.toml: {where}: unknown key `{key}`; there are {', '.join(keys)}")
    out = {}
    for key, default in keys.items():
        kind = default if isinstance(default, type) else type(default)
        if key not in entry and isinstance(default, type):
            raise Broken(f"blocks.toml: {where}: `{key}` is missing")
        value = entry.get(key, default)
        if value is not None and default is not None and not isinstance(value, kind):
            raise Broken(f"blocks.toml: {where}: `{key}` has to be {kind.__name__}")
        out[key] = value
    return out


def read_blocks():
    """All blocks of blocks.toml, in its order."""
    with open(FABRIC / "blocks.toml", "rb") as file:
        try:
            described = tomllib.load(file)
        except tomllib.TOMLDecodeError as error:
            raise Broken(f"blocks.toml: {error}") from error
    blocks = {}
    for name, entry in described.items():
        values = table(entry, f"[{name}]", sources=list, uses=[], top=name, parameters={}, clocks=["clk_i"],
                       synthesise=True, placements=len(ROUTE_SEEDS), joins=False, test=[], proof=[], mutant=[])
        if not 1 <= values["placements"] <= len(ROUTE_SEEDS):
            raise Broken(f"blocks.toml: [{name}]: `placements` has to be from 1 to {len(ROUTE_SEEDS)}")
        sources = []
        for used in values["uses"]:
            if used not in blocks:
                raise Broken(f"blocks.toml: [{name}]: uses `{used}`, which no block above it is called")
            sources += [s for s in blocks[used].sources if s not in sources]
        sources += paths(values["sources"], f"[{name}]")
        block = Block(name, values["top"], sources, values["parameters"], values["clocks"],
                      synthesise=values["synthesise"], uses=values["uses"], placements=values["placements"],
                      joins=values["joins"], own=paths(values["sources"], f"[{name}]"))
        for test in values["test"]:
            where = f"[[{name}.test]]"
            v = table(test, where, module=str, name="", top=block.top, sources=[], parameters={}, slow=False)
            paths([f"test/{v['module']}.py"], where)
            block.tests.append(Test(v["name"] or v["module"], v["module"], v["top"], paths(v["sources"], where),
                                    v["parameters"], v["slow"]))
        for proof in values["proof"]:
            where = f"[[{name}.proof]]"
            v = table(proof, where, name=str, top=str, sources=list, parameters={}, design=block.top,
                      abstract=[], mode="prove", depth=int, solver="boolector", multiclock=False, slow=False,
                      long=False, cover=proof.get("depth", 0))
            v["sources"] = paths(v["sources"], where)
            block.proofs.append(Proof(**v))
        for proof in block.proofs:
            if not any(p.cover and p.top == proof.top and (proof.long or not p.long) for p in block.proofs):
                raise Broken(f"blocks.toml: [[{name}.proof]]: no proof reaches the covers of `{proof.top}`")
        for mutant in values["mutant"]:
            where = f"[[{name}.mutant]]"
            v = table(mutant, where, what=str, proof=str, file=str, old=str, new=str, fails="", unreached="",
                      long=False)
            if bool(v["fails"]) == bool(v["unreached"]):
                raise Broken(f"blocks.toml: {where}: has to have either `fails` or `unreached`")
            v["file"] = paths([v["file"]], where)[0]
            if v["file"] not in block.sources:
                raise Broken(f"blocks.toml: {where}: {v['file'].relative_to(FABRIC)} is no source of the block")
            if v["proof"] not in [p.name for p in block.proofs]:
                raise Broken(f"blocks.toml: {where}: there is no proof `{v['proof']}`")
            if v["file"].read_text().count(v["old"]) != 1:
                raise Broken(f"blocks.toml: {where}, \"{v['what']}\": its `old` is not in the file exactly once")
            block.mutants.append(Mutant(**v))
        blocks[name] = block
    return list(blocks.values())


# ---------------------------------------------------------------------------------------------------------------------
@contextlib.contextmanager
def heartbeat(what, status):
    """Says on standard error every few seconds what goes on and for how long: `status` gives what is done by now."""
    begin = time.monotonic()
    over = threading.Event()

    def beat():
        while not over.wait(HEARTBEAT_SECONDS):
            print(f"flow: {what}: {time.monotonic() - begin:.0f} s, {status()}", file=sys.stderr, flush=True)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


# ---------------------------------------------------------------------------------------------------------------------
# Lint


def written_sources():
    """All SystemVerilog that was not generated."""
    return sorted(p for p in FABRIC.glob("*/*.sv") if p.parent != GENERATED)


def lint_jobs(blocks):
    jobs = [Job("lint layout", lint_layout, written_sources(), {}),
            Job("lint limits", lambda folder: lint_limits(read_blocks()), [FABRIC / "synth" / "limits.toml"],
                {"blocks": [block.name for block in read_blocks() if block.synthesise]}),
            # It looks at all blocks and proofs, in a moment.
            Job("lint assumptions", lambda folder: discharge.lint_assumptions(read_blocks()), [discharge.FILE], {}, always=True)]
    for block in blocks:
        settings = {"top": block.top, "sources": block.sources, "parameters": block.parameters}
        reads = [*block.sources, FABRIC / "lint.vlt"]
        jobs.append(Job(f"lint {block.name} verilator", lambda f, b=block: lint_verilator(f, b), reads, settings))
        jobs.append(Job(f"lint {block.name} slang", lambda f, b=block: lint_slang(f, b), reads, settings))
        if has_bus(block):
            settings = {**settings, "joins": block.joins}
            jobs.append(Job(f"lint {block.name} structure", lambda f, b=block: lint_structure(f, b), block.sources,
                            settings, code=STRUCTURE))
        if block.name == "isolator":
            jobs.append(Job("lint isolator path-is-found", lambda f, b=block: lint_structure_fails(f, b), block.sources,
                            settings, code=STRUCTURE))
    return jobs


def lint_limits(blocks):
    """Every block that is synthesised has a limit for each measure: found now, not after all have been synthesised."""
    limits = read_limits()
    wanted = {block.name: set(MEASURES) for block in blocks if block.synthesise}
    wrong = [f"limits.toml has a [{name}], which no block that is synthesised is called"
             for name in limits if name not in wanted]
    for name, measures in wanted.items():
        found = set(limits.get(name, {}))
        wrong += [f"limits.toml: [{name}] has no limit for {measure}" for measure in sorted(measures - found)]
        wrong += [f"limits.toml: [{name}] has {measure}, which is not measured" for measure in sorted(found - measures)]
    if wrong:
        raise Failure("\n".join(wrong))
    return {}


def lint_design_jobs(designs):
    jobs = []
    for design in designs:
        shell = Block(design.name, "fabric_shell", design.sources, {}, [])
        reads = [*design.sources, FABRIC / "lint.vlt"]
        settings = {"top": design.top, "sources": design.sources, "tiles": design.tiles}
        for tool, lint in {"verilator": lint_verilator, "slang": lint_slang}.items():
            jobs.append(Job(f"lint design {design.name} {tool}",
                            lambda f, b=shell, d=design, l=lint: l(f, b, d.defines()), reads, settings))
    return jobs


def lint_verilator(folder, block, defines=()):
    code, out = command(["verilator", "--lint-only", "-sv", "-Wall", "--top-module", block.top,
                         *[f"-D{d}" for d in defines],
                         *[f"-G{k}={v}" for k, v in block.parameters.items()], FABRIC / "lint.vlt", *block.sources],
                        folder, "log")
    # Warnings and errors begin so; newer Verilators (5.032) print what they did as well.
    if code != 0 or re.search("^%", out, re.MULTILINE):
        raise Failure(tail(out))
    return {}


def lint_slang(folder, block, defines=()):
    # In a process of its own: the binding prints to the process's standard error, which threads share.
    # Generated sources are not ours to tidy. What is named unused_ for Verilator's sake counts as unused here. A
    # package is for several blocks: not each needs all its types.
    lines = ["slang", "-Weverything", "-Werror", "-Wno-unused-but-set-variable", "-Wno-unused-package-typedef",
             f"--suppress-warnings {GENERATED}",
             f"--top {block.top}", *[f"-D {d}" for d in defines], *[f"-G {k}={v}" for k, v in block.parameters.items()], *block.sources]
    program = ("import sys, pyslang.driver as d; x = d.Driver(); x.addStandardArgs(); "
               "sys.exit(not (x.parseCommandLine(sys.argv[1]) and x.processOptions() and x.parseAllSources() "
               "and x.runFullCompilation()))")
    code, out = command([sys.executable, "-c", program, " ".join(map(str, lines))], folder, "log")
    if code != 0:
        raise Failure(tail(out))
    return {}


def lint_layout(_folder):
    """One module or package a file, of the file's name; no long lines, no tabs, no blanks at their ends."""
    faults = []
    for path in written_sources():
        text = path.read_text()
        units = re.findall(r"^(?:module|package|interface)\s+(\w+)", text, re.MULTILINE)
        # A file of the tests may bind checks to a block instead.
        if units != [path.stem] and not (path.parent.name == "test" and not units and re.search("^bind ", text, re.M)):
            faults.append(f"{relative(path)}: holds {', '.join(units) or 'nothing'}; it should hold {path.stem} alone")
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > LINE_CHARACTERS_MAX:
                faults.append(f"{relative(path)}:{number}: {len(line)} characters; at most {LINE_CHARACTERS_MAX}")
            if "\t" in line or line != line.rstrip():
                faults.append(f"{relative(path)}:{number}: a tab, or a blank at the end of the line")
    if faults:
        raise Failure("\n".join(faults))
    return {}


# ---------------------------------------------------------------------------------------------------------------------
# Registers


def generate_registers(into_rtl, into_rust, into_html):
    """Generates everything from regs/*.rdl into three folders."""
    shared = FABRIC / "regs" / "udp.rdl"
    maps = sorted(p for p in (FABRIC / "regs").glob("*.rdl") if p != shared)
    peakrdl = PYTHON / "bin" / "peakrdl"
    into_rtl.mkdir(parents=True)
    for path in maps:
        name = path.stem
        runs = {
            "regblock": ["--cpuif", "passthrough", "--default-reset", "arst_n", "--err-if-bad-addr", "--err-if-bad-rw",
                         # A page, as software maps it: what is not there is an error, not the same again.
                         "--addr-width", "12", "--module-name", f"{name}_regs", "--package-name", f"{name}_regs_pkg",
                         "-o", into_rtl],
            "c-header": ["-o", into_rtl / f"{name}_regs.h"],
            "rust": ["--fmt", "-o", into_rust / name],
            "html": ["-o", into_html / name],
        }
        for kind, arguments in runs.items():
            done = subprocess.run([peakrdl, kind, shared, path, *arguments], capture_output=True, text=True)
            if done.returncode != 0:
                raise Failure(f"{relative(path)}: {kind}:\n{done.stdout}{done.stderr}")
    for path in into_rtl.glob("*.sv"):
        path.write_text(packed(path.read_text()))
    for path in [*into_rtl.rglob("*"), *into_rust.rglob("*.rs")]:
        # As the rest of the repository: no blanks at the ends of lines, one newline at the end of a file.
        path.write_text("\n".join(line.rstrip() for line in path.read_text().rstrip().splitlines()) + "\n")


def packed(text):
    """Makes the structures of generated RTL packed: Verilator 5.006 makes C++ of the others that does not compile."""
    def dimensions(match):
        inside = "".join(f"[{int(n) - 1}:0]" for n in re.findall(r"\[(\d+)\]", match[3]))
        return f"{match[1]}{inside} {match[2]};"
    text = text.replace("struct {", "struct packed {")
    # An array of N becomes a packed one, with the same indices.
    text = re.sub(r"(\} )(\w+)((?:\[\d+\])+);", dimensions, text)
    return re.sub(r"(logic )(\w+)((?:\[\d+\])+);", dimensions, text)


def generated_files(rtl, rust):
    """Every generated file below the two folders, by its name in the repository."""
    out = {Path("fabric/generated") / p.relative_to(rtl): p for p in rtl.rglob("*") if p.is_file()}
    for path in rust.glob("*/**/*.rs"):
        out[Path("fabric/registers/src") / path.relative_to(rust)] = path
    return out


def registers(check):
    """Generates the registers, or looks whether the generated files are what the generators give."""
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        try:
            generate_registers(scratch / "rtl", scratch / "rust", scratch / "html")
        except Failure as failure:
            print(f"flow: {failure}", file=sys.stderr)
            return False
        new = generated_files(scratch / "rtl", scratch / "rust")
        old = generated_files(GENERATED, RUST)
        stale = [name for name in sorted(new.keys() | old.keys())
                 if name not in new or name not in old or not filecmp.cmp(new[name], old[name], shallow=False)]
        if check:
            for name in stale:
                print(f"flow: {name} is not what fabric/regs gives; run fabric/flow.py regs", file=sys.stderr)
                if name in new and name in old:
                    difference = difflib.unified_diff(old[name].read_text().splitlines(),
                                                      new[name].read_text().splitlines(), "there", "fresh", lineterm="")
                    print("\n".join(list(difference)[:20]), file=sys.stderr)
            return not stale
        for name in stale:
            (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
            if name in new:
                shutil.copyfile(new[name], ROOT / name)
            else:
                (ROOT / name).unlink()
            print(f"  {'wrote' if name in new else 'removed'} {name}")
        html = BUILD / "html"
        shutil.rmtree(html, ignore_errors=True)
        shutil.copytree(scratch / "html", html)
        print(f"  {len(new)} files are fresh; for reading: {relative(html)}/NAME/index.html")
    return True


# ---------------------------------------------------------------------------------------------------------------------
# Tests

# Pages whose figures a test compares with what it measures.
DOCUMENTS = {"test_hw_task": [ROOT / "docs" / "src" / "reference" / "hardware-tasks.md"]}


def test_jobs(blocks, seed, waves, quick):
    jobs = []
    for block in blocks:
        for test in block.tests:
            if quick and test.slow:
                continue
            sources = [*block.sources, *test.sources]
            settings = {"sources": sources, "top": test.top, "parameters": {**block.parameters, **test.parameters},
                        "module": test.module, "seed": seed, "waves": waves}
            reads = [*sources, *sorted((FABRIC / "test").glob("*.py")), FABRIC / "lint.vlt",
                     *DOCUMENTS.get(test.module, [])]
            jobs.append(Job(f"test {block.name} {test.name}", lambda f, s=settings: run_test(f, s), reads, settings,
                            always=waves))
    return jobs


def run_test(folder, settings):
    (folder / "settings.json").write_text(json.dumps(settings, default=str))
    # In a process of its own: cocotb's runner keeps its state in the process.
    code, out = command([sys.executable, Path(__file__), "simulate", folder / "settings.json"], folder, "log",
                        # The model runs for a moment and is compiled for longer: without optimisation, and what all
                        # models have in common once.
                        environment={"PYTHONPATH": str(FABRIC / "test"), "CCACHE_DIR": str(BUILD / "ccache"),
                                     "MAKEFLAGS": "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0 "
                                                  + ("OBJCACHE=ccache" if shutil.which("ccache") else "")})
    if code != 0:
        raise Failure(f"{tail(out)}\nThe whole log: {relative(folder / 'log')}")
    return {}


def simulate(settings_file):
    """The process of one test: builds the model, runs the test module. Returns whether all of it passed."""
    import warnings
    warnings.filterwarnings("ignore", message="Python runners")
    from cocotb.runner import get_results, get_runner
    settings = json.loads(settings_file.read_text())
    folder = settings_file.parent / "model"
    runner = get_runner("verilator")
    waves = ["--trace-fst", "--trace-structs"] if settings["waves"] else []
    sources = [Path(s) for s in settings["sources"]]
    runner.build(verilog_sources=[FABRIC / "lint.vlt", *(s for s in sources if s.suffix != ".svh")],
                 hdl_toplevel=settings["top"], parameters=settings["parameters"], build_dir=folder,
                 includes=sorted({s.parent for s in sources if s.suffix == ".svh"}), waves=settings["waves"],
                 # Two-state: what hardware would leave undefined begins at random.
                 # Checks look at reset with the clock, flip-flops without it.
                 build_args=["-Wall", "-Wno-SYNCASYNCNET", "--assert", "--x-assign", "unique", "--x-initial", "unique",
                             *waves])
    results = runner.test(hdl_toplevel=settings["top"], test_module=settings["module"], build_dir=folder,
                          test_dir=folder, seed=settings["seed"], waves=settings["waves"],
                          plusargs=["+verilator+rand+reset+2", f"+verilator+seed+{settings['seed']}"])
    tests, failed = get_results(results)
    for case in ElementTree.parse(results).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            print(f"failed: {case.get('name')}")
    if tests == 0:
        print("no test in the module")
    return tests > 0 and failed == 0


# ---------------------------------------------------------------------------------------------------------------------
# Synthesis

MEASURES = {"lut": "LUT", "ff": "FF", "bram": "BRAM", "dsp": "DSP", "fmax_mhz": "Fmax MHz", "gates": "gates",
            "ram_bits": "RAM bits"}
def synth_jobs(blocks):
    jobs = []
    for block in blocks:
        if block.synthesise:
            settings = {"top": block.top, "parameters": block.parameters, "clocks": block.clocks,
                        "sources": block.sources, "placements": block.placements}
            for kind, run in {"xc7": synth_xc7, "ecp5": synth_ecp5, "osu018": synth_osu}.items():
                jobs.append(Job(f"synth {block.name} {kind}", lambda f, b=block, r=run: r(f, b),
                                [*block.sources, *([OSU] if kind == "osu018" else [])], settings,
                                code=SYNTHESIS))
    return jobs


def read_limits():
    """The limits of limits.toml: block to measure to figure."""
    with open(FABRIC / "synth" / "limits.toml", "rb") as file:
        try:
            return tomllib.load(file)
        except tomllib.TOMLDecodeError as error:
            raise Broken(f"limits.toml: {error}") from error


def report_synthesis(blocks, results):
    """Prints the table, compares with the limits, writes synth.json. Returns whether all are kept."""
    limits = read_limits()
    placements = {block.name: block.placements for block in blocks}
    kept = True
    figures = {}
    for block in blocks:
        if not block.synthesise:
            continue
        jobs = [f"synth {block.name} {kind}" for kind in ("xc7", "ecp5", "osu018")]
        if any(job not in results for job in jobs):
            continue
        parts = [results[job] for job in jobs]
        if None in parts:
            kept = False
            continue
        figures[block.name] = {key: value for part in parts for key, value in part.items()}
    width = max(map(len, [*figures, "block"]))
    print("\n" + "block".ljust(width) + "".join(f"{title:>18}" for title in MEASURES.values()))
    for name, values in figures.items():
        line = name.ljust(width)
        for measure in MEASURES:
            limit = limits.get(name, {}).get(measure)
            value = values[measure]
            least = measure == "fmax_mhz"
            if limit is None:
                print(f"flow: synth/limits.toml has no limit for {measure} of [{name}], which is {value:g}",
                      file=sys.stderr)
                kept = False
            good = limit is not None and (value >= limit if least else value <= limit)
            kept = kept and good
            bound = "none" if limit is None else f"{'>=' if least else '<='} {limit:g}"
            if least and placements[name] < len(ROUTE_SEEDS):
                bound += f", {placements[name]}p"
            line += f"{f'{value:g} ({bound})' + ('' if good else '!'):>18}"
        print(line)
    print("LUT, FF, BRAM (of 36 Kib), DSP: Xilinx 7-series, Yosys. Fmax: ECP5-85 speed 6, the worst of"
          f" {len(ROUTE_SEEDS)} placements; where it says 1p, of one.\nGates: cells of the OSU 0.18 um library, without memories of"
          f" {RAM_WORDS_MIN} words and more, which are in RAM bits. In brackets the limit; ! where it is not kept.")
    (BUILD / "synth.json").write_text(json.dumps(figures, indent=1) + "\n")
    report_areas(blocks, figures)
    return kept


def compare_areas(blocks, figures):
    """For each design with regions whose blocks have all been synthesised: its area, as rows of measures, against that of
    its tasks side by side. A region is as large as it has to be for each task that fits into it; its static side, and
    what else the design is made of, counts as often as it is there."""
    used = {block.name: block.uses for block in blocks}
    with open(FABRIC / "accelerators.toml", "rb") as file:
        described = tomllib.load(file)
    areas = {}
    for name, design in described.items():
        tasks = {task["name"]: task["fits"] for task in design["task"]}
        count = {"hw_interface": design["interfaces"], "region": len(design["region"])}
        if not {*tasks, *used.get(name, ["missing"])} <= set(figures):
            continue
        areas[name] = {measure: {
            "tasks side by side": sum(figures[task][measure] for task in tasks),
            "regions": sum(max(figures[task][measure] for task, fits in tasks.items() if region in fits)
                           for region in range(count["region"])),
            "interfaces": count["hw_interface"] * figures["hw_interface"][measure],
            "static sides of regions": count["region"] * figures["region"][measure],
            "all else": sum(figures[block][measure] for block in used[name] if block not in count),
        } for measure in ("lut", "ff", "bram", "dsp")}
    return areas


def report_areas(blocks, figures):
    """Prints what the reconfigurable designs take beside their tasks side by side, and writes it to area.json."""
    areas = compare_areas(blocks, figures)
    for name, measures in areas.items():
        print(f"\n{f'area of {name}':<28}" + "".join(f"{MEASURES[measure]:>10}" for measure in measures))
        rows = list(next(iter(measures.values())))
        for row in rows:
            print(f"{row:<28}" + "".join(f"{values[row]:>10g}" for values in measures.values()))
        together = {measure: sum(values[row] for row in rows[1:]) for measure, values in measures.items()}
        print(f"{'reconfigurable, all of it':<28}" + "".join(f"{value:>10g}" for value in together.values()))
        print(f"{'... times side by side':<28}"
              + "".join(f"{value / measures[measure][rows[0]]:>10.2f}" if measures[measure][rows[0]] else f"{'-':>10}"
                        for measure, value in together.items()))
    if areas:
        (BUILD / "area.json").write_text(json.dumps(areas, indent=1) + "\n")


# ---------------------------------------------------------------------------------------------------------------------
# The sweep: area at many points

# Each of the largest takes gigabytes.
SWEEP_WORKERS_MAX = 2
SWEEP_JOB_SECONDS_MAX = 1800
# As io_pkg::device_e has them.
DEVICES = {"uart": 1, "flash": 2, "vga": 3, "ethernet": 4}


@dataclass
class Point:
    """So many CPUs with timed I/O and, unless that is alone, the I/O hypervisor with these devices."""

    cpus: int
    name: str
    devices: list[str]
    alone: bool
    gates: bool

    def parts(self):
        """What it is made of, as blocks with their parameters."""
        mask = sum(1 << DEVICES[device] for device in self.devices)
        timed_io = [("timed_io", {"VMS": self.cpus})]
        return timed_io if self.alone else [*timed_io, ("io_area", {"CPUS": self.cpus, "DEVICES": mask})]


def read_sweep():
    """The points of sweep.toml, and the numbers of CPUs of those that `--quick` experiments read."""
    with open(FABRIC / "synth" / "sweep.toml", "rb") as file:
        try:
            described = tomllib.load(file)
        except tomllib.TOMLDecodeError as error:
            raise Broken(f"sweep.toml: {error}") from error
    points = []
    for entry in described.get("set", []):
        values = {"name": None, "devices": None, "cpus": described.get("cpus"), "alone": False, **entry}
        strange = set(values["devices"] or []) - set(DEVICES)
        if None in values.values() or len(values) != 4 or strange:
            raise Broken(f"sweep.toml: [[set]] has to have `name` and `devices`, of {', '.join(DEVICES)},"
                         " and may have `cpus` and `alone`")
        points += [Point(n, values["name"], values["devices"], values["alone"], n in described.get("gates_cpus", []))
                   for n in values["cpus"]]
    return points, described.get("quick_cpus", [])


def points_of(cpus):
    """The points with these numbers of CPUs, or all."""
    points, _ = read_sweep()
    for n in cpus:
        if n not in [point.cpus for point in points]:
            raise Broken(f"sweep.toml has no point with {n} CPUs")
    return [point for point in points if not cpus or point.cpus in cpus]


def sweep_job(block, parameters, kind):
    """What a part of a point takes, or the gates that it is made of."""
    part = replace(block, parameters={**block.parameters, **parameters})
    run = {"xc7": synth_xc7, "osu018": synth_osu}[kind]
    reads = [*block.sources, *([OSU] if kind == "osu018" else [])]
    name = "_".join([block.name, *(f"{key.lower()}{value}" for key, value in parameters.items())])
    return Job(f"sweep {name} {kind}", lambda folder: run(folder, part, SWEEP_JOB_SECONDS_MAX), reads,
               {"top": block.top, "parameters": part.parameters, "sources": block.sources}, code=SYNTHESIS)


def sweep_jobs(point):
    """The jobs whose figures, added up, are the point's."""
    blocks = {block.name: block for block in read_blocks()}
    return [sweep_job(blocks[name], parameters, kind)
            for kind in ["xc7"] + ["osu018"] * point.gates for name, parameters in point.parts()]


def sweep(points, workers, cached=False):
    """Synthesises all points and writes them to sweep.json. Returns them, or None where something failed.

    With `cached` nothing is synthesised: a point has the figures whose jobs have all passed with the sources as they are,
    and no others.
    """
    of = [(point, sweep_jobs(point)) for point in points]
    jobs = {job.name: job for _, parts in of for job in parts}
    if cached:
        results = {name: known(job) for name, job in jobs.items()}
    else:
        # The longest first.
        order = sorted(jobs.values(), key=lambda job: -job.settings["parameters"].get("CPUS", 0))
        results = perform_all(order, max(1, min(workers, SWEEP_WORKERS_MAX)))
        if None in results.values():
            return None
    found = []
    for point, parts in of:
        entry = {"cpus": point.cpus, "devices": point.name}
        for kind in ("xc7", "osu018"):
            figures = [results[job.name] for job in parts if job.name.endswith(f" {kind}")]
            if None not in figures:
                for figure in figures:
                    add(entry, figure)
        found.append(entry)
    if not cached:
        (BUILD / "sweep.json").write_text(json.dumps(found, indent=1) + "\n")
    return found


def synthesise_for_benches(workers):
    """The points of the sweep that `tactus bench --quick` reads and does not synthesise itself. Returns whether all are there."""
    points, quick = read_sweep()
    print("\nThe sweep's points for tactus bench blueio --quick:")
    return sweep([point for point in points if point.cpus in quick], workers) is not None


def add(entry, figures):
    """Adds figures, and figures by kind, to those that are there."""
    for key, value in figures.items():
        if isinstance(value, dict):
            add(entry.setdefault(key, {}), value)
        else:
            entry[key] = entry.get(key, 0) + value


def print_sweep(found):
    """The points as a table; those with gates by their kinds as another one."""
    measures = {measure: title for measure, title in MEASURES.items() if measure != "fmax_mhz"}
    print(f"\n{'devices':<12}{'CPUs':>6}" + "".join(f"{title:>10}" for title in measures.values()))
    for entry in found:
        print(f"{entry['devices']:<12}{entry['cpus']:>6}"
              + "".join(f"{entry[m]:>10g}" if m in entry else f"{'':>10}" for m in measures))
    gated = [entry for entry in found if "gates_by_kind" in entry]
    kinds = sorted({kind for entry in gated for kind in entry["gates_by_kind"]})
    print(f"\n{'devices':<12}{'CPUs':>6}" + "".join(f"{kind:>8}" for kind in kinds))
    for entry in gated:
        print(f"{entry['devices']:<12}{entry['cpus']:>6}"
              + "".join(f"{entry['gates_by_kind'].get(kind, 0):>8}" for kind in kinds))


# ---------------------------------------------------------------------------------------------------------------------
# Models for the board


def read_designs(blocks):
    """The designs of designs.toml: by their names."""
    sources_of = {block.name: block.sources for block in blocks}
    with open(FABRIC / "designs.toml", "rb") as file:
        try:
            described = tomllib.load(file)
        except tomllib.TOMLDecodeError as error:
            raise Broken(f"designs.toml: {error}") from error
    designs = {}
    for name, entry in described.items():
        # What of it software sees is `tactus check`'s.
        values = table(entry, f"[{name}]", sources=list, uses=[], top=f"{name}_design", counters=[], period=1, device=[],
                       pins=0, pins_at="hp", ends=False, tiles=False, nonvolatile=[])
        sources = paths(["designs/fabric_pkg.sv"], f"[{name}]")
        for used in values["uses"]:
            if used not in sources_of:
                raise Broken(f"designs.toml: [{name}]: uses `{used}`, which is no block of blocks.toml")
            sources += [s for s in sources_of[used] if s not in sources]
        sources += paths([*values["sources"], "designs/fabric_shell.sv"], f"[{name}]")
        designs[name] = Design(name, values["top"], sources, values["counters"], values["period"], values["tiles"],
                               values["nonvolatile"])
    return designs


@dataclass
class Design:
    """What the fabric is loaded with: blocks behind the ports that fabric_shell.sv has."""

    name: str
    top: str
    sources: list[Path]
    counters: list[str]
    # In so many cycles repeats what changes beside them while it is quiet.
    period: int
    # It has a port for each tile.
    tiles: bool
    # What keeps its state without power, by its path in the design.
    nonvolatile: list[str]

    def defines(self):
        return [f"FABRIC_DESIGN={self.top}", *(["FABRIC_TILES"] if self.tiles else []),
                *(["FABRIC_POWER"] if self.nonvolatile else [])]

    def model_job(self):
        reads = [*self.sources, FABRIC / "lint.vlt", *sorted((FABRIC / "coupling").iterdir())]
        return Job(f"model {self.name}", lambda folder: build_model(folder, self), reads,
                   {"top": self.top, "sources": self.sources, "counters": self.counters, "period": self.period,
                    "tiles": self.tiles, "nonvolatile": self.nonvolatile}, code=[FABRIC / "models.py"])


def compiled(folder):
    """How far the compilation of a model is, in words."""
    sources = list((folder / "model").glob("*.cpp"))
    objects = sum(source.with_suffix(".o").exists() for source in sources)
    return f"{objects} of {len(sources)} files" if objects else "Verilator translates it to C++"


def models(names):
    """Builds the designs' models where they are not there, and prints their files. Returns whether all are there."""
    designs = read_designs(read_blocks())
    for name in names:
        if name not in designs:
            raise Broken(f"there is no design {name}; there are {', '.join(designs)}")
    kept = BUILD / "models"
    kept.mkdir(exist_ok=True)
    good = True
    for name in names or designs:
        job = designs[name].model_job()
        file = kept / f"{name}-{job.key()[:16]}.so"
        # One at a time: what is asked for twice at once is built once.
        with open(kept / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not file.exists():
                what = f"compiling the model of design {name}"
                print(f"flow: {what}, once; takes about a minute on two cores", file=sys.stderr, flush=True)
                job.always = True
                with heartbeat(what, lambda: compiled(job.folder())):
                    passed, message, _ = perform(job)
                if not passed:
                    print(f"flow: the model of design {name} does not compile:\n{message}", file=sys.stderr)
                    good = False
                    continue
                os.replace(job.folder() / "model.so", file)
        print(file)
    return good


# ---------------------------------------------------------------------------------------------------------------------


def chosen(blocks, names):
    for name in names:
        if name not in [b.name for b in blocks]:
            raise Broken(f"there is no block {name}; there are {', '.join(b.name for b in blocks)}")
    return [b for b in blocks if not names or b.name in names]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many run side by side")
    what = parser.add_subparsers(dest="what", required=True)
    for name in ("lint", "test", "prove", "synth", "mutate"):
        sub = what.add_parser(name)
        sub.add_argument("block", nargs="*")
        if name == "test":
            sub.add_argument("--quick", action="store_true", help="only tests that take seconds")
            sub.add_argument("--waves", action="store_true", help="write FST waveforms")
            sub.add_argument("--seed", type=int, default=1)
        if name == "synth":
            sub.add_argument("--begin-within", type=int, metavar="SECONDS",
                             help="leave out, and name, what has not begun by then")
        if name == "mutate":
            sub.add_argument("--seed", type=int, default=1)
            sub.add_argument("--count", type=int, default=1, help="mutants of each block")
        if name == "prove":
            extent = sub.add_mutually_exclusive_group()
            extent.add_argument("--quick", dest="extent", action="store_const", const="quick", default="usual",
                                help="only proofs that take seconds, without the tests of the proofs")
            extent.add_argument("--long", dest="extent", action="store_const", const="long",
                                help="all, those that take minutes as well, and all mutants")
    points = what.add_parser("sweep")
    points.add_argument("--json", action="store_true", help="the points as JSON on stdout, and nothing else there")
    points.add_argument("--cached", action="store_true",
                        help="synthesise nothing: only what is known of the sources as they are")
    points.add_argument("cpus", nargs="*", type=int, help="only points of so many CPUs")
    what.add_parser("model").add_argument("design", nargs="*")
    what.add_parser("regs").add_argument("--check", action="store_true", help="only look whether they are fresh")
    what.add_parser("simulate").add_argument("settings", type=Path)
    arguments = parser.parse_args()

    if arguments.what == "simulate":
        return 0 if simulate(arguments.settings) else 1
    BUILD.mkdir(parents=True, exist_ok=True)
    if arguments.what == "regs":
        return 0 if registers(arguments.check) else 1
    try:
        if arguments.what == "model":
            return 0 if models(arguments.design) else 1
        if arguments.what == "sweep":
            points = points_of(arguments.cpus)
            with contextlib.redirect_stdout(sys.stderr if arguments.json else sys.stdout):
                found = sweep(points, arguments.jobs, arguments.cached)
                if found is not None and not (arguments.json and arguments.cached):
                    print_sweep(found)
            if found is not None and arguments.json:
                print(json.dumps(found))
            return 1 if found is None else 0
        blocks = chosen(read_blocks(), arguments.block)
    except Broken as broken:
        print(f"flow: {broken}", file=sys.stderr)
        return 2
    designs = [] if arguments.block else read_designs(read_blocks()).values()
    jobs = {"lint": lambda: lint_jobs(blocks) + lint_design_jobs(designs),
            "test": lambda: test_jobs(blocks, arguments.seed, arguments.waves, arguments.quick),
            "prove": lambda: proof_jobs(blocks, arguments.extent),
            "mutate": lambda: mutate_jobs(blocks, arguments.seed, arguments.count, run_test, read_blocks()),
            "synth": lambda: synth_jobs(blocks)}[arguments.what]()
    begin = time.monotonic()
    begin_within = getattr(arguments, "begin_within", None)
    results = perform_all(jobs, max(1, arguments.jobs), begin_within)
    good = None not in results.values()
    if arguments.what == "mutate":
        for name, result in results.items():
            print(f"  {name:<40} {result['noticed'] if result else 'SURVIVES'}")
    if arguments.what == "lint":
        good = registers(check=True) and good
    if arguments.what == "synth":
        good = report_synthesis(blocks, results) and good
        in_time = begin_within is None or time.monotonic() - begin < begin_within
        if not arguments.block and in_time:
            good = synthesise_for_benches(arguments.jobs) and good
    failed = sum(result is None for result in results.values())
    print(f"fabric {arguments.what}: {len(jobs)} jobs, {failed} failed, {time.monotonic() - begin:.1f} s")
    return 0 if good else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["model"]:
        # Needs none of the Python tools.
        missing = [tool for tool in ("verilator", "make", "g++") if not shutil.which(tool)]
        if missing:
            sys.exit(f"flow: {', '.join(missing)} not found in PATH; run `make setup`")
        sys.exit(main())
    if Path(sys.prefix).resolve() != PYTHON.resolve():
        interpreter = PYTHON / "bin" / "python"
        if not interpreter.exists():
            sys.exit("flow: the tools are not there; run `make setup`")
        os.execv(interpreter, [interpreter, *sys.argv])
    # The solver and the tools by their names, first of all.
    os.environ["PATH"] = f"{PYTHON / 'bin'}{os.pathsep}{os.environ['PATH']}"
    sys.exit(main())
