#!/usr/bin/env python3
"""Measures the ready queue beside the structures it might have had, and writes the table of ready-queue.md.

    fabric/synth/compare/compare.py [--check]

Cycles come from a simulation that also checks the answers, area from Yosys for Xilinx 7-series, the clock rate from place
and route on ECP5: as fabric/flow.py has them. Takes about half an hour; what has not changed is remembered. --check only says whether the
page has what the script would write.
"""

import argparse
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FABRIC = HERE.parent.parent
sys.path.insert(0, str(FABRIC))
import flow  # noqa: E402

PAGE = FABRIC.parent / "docs" / "src" / "explanation" / "ready-queue.md"
BEGIN, END = "<!-- compare.py: begin -->", "<!-- compare.py: end -->"
DEPTHS = (64, 256, 1024)
QUEUE = ["rtl/ready_queue_ram.sv", "rtl/ready_queue.sv"]
TAKES = "INSERT_TAIL INSERT_HEAD TAKE_HIGHEST"
# Module, its sources below fabric, its name in the table, what of it the measurement may use, up to which depth it is
# measured and up to which it is placed: beyond that it takes the tools too long.
CANDIDATES = [
    ("ready_queue", QUEUE, "lists and bitmap (chosen)", TAKES + " TAKE REMOVE", 1024, 1024),
    ("fifo_bank", ["synth/compare/fifo_bank.sv"], "bank of 256 FIFOs (the paper's)", TAKES + " TAKE", 1024, 256),
    ("heap_queue", ["synth/compare/heap_queue.sv"], "binary heap with sequence numbers", TAKES, 1024, 1024),
    ("shift_queue", ["synth/compare/shift_queue.sv"], "sorted shift register", TAKES + " TAKE REMOVE", 64, 0),
]


def jobs():
    """All measurements: (module, depth, kind) and the job."""
    for module, names, _, able, measured, placed in CANDIDATES:
        sources = [FABRIC / "rtl/ready_queue_pkg.sv", *(FABRIC / name for name in names)]
        for depth in (d for d in DEPTHS if d <= measured):
            block = flow.Block(f"{module}_{depth}", module, sources, {"DEPTH": depth}, ["clk_i"])
            settings = {"top": module, "depth": depth, "sources": sources, "able": able}
            yield (module, depth, "xc7"), flow.Job(f"compare {block.name} xc7", lambda f, b=block: flow.synth_xc7(f, b),
                                                   sources, settings)
            if depth <= placed:
                yield (module, depth, "ecp5"), flow.Job(
                    f"compare {block.name} ecp5", lambda f, b=block: flow.synth_ecp5(f, b), sources, settings)
            reads = [*sources, HERE / "measure.py", *sorted((FABRIC / "test").glob("*.py"))]
            yield (module, depth, "cycles"), flow.Job(f"compare {block.name} cycles",
                                                      lambda f, b=block, a=able: cycles(f, b, a), reads, settings)


def cycles(folder, block, able):
    """Least, mean and most cycles of each command."""
    settings = {"sources": block.sources, "top": block.top, "parameters": block.parameters, "module": "measure",
                "seed": 1, "waves": False}
    (folder / "settings.json").write_text(json.dumps(settings, default=str))
    program = f"import sys; sys.path.insert(0, {str(FABRIC)!r}); import flow, pathlib; " \
              "sys.exit(not flow.simulate(pathlib.Path('settings.json')))"
    code, out = flow.command([sys.executable, "-c", program], folder, "log", environment={
        "PYTHONPATH": os.pathsep.join([str(FABRIC / "test"), str(HERE)]), "QUEUE_DEPTH": str(block.parameters["DEPTH"]),
        "QUEUE_OPS": able, "QUEUE_RESULT": str(folder / "result.json")})
    if code != 0:
        raise flow.Failure(flow.tail(out))
    return json.loads((folder / "result.json").read_text())


def rows(results):
    """The table's lines."""
    yield "| structure | handles | insert, cycles | take highest, cycles | LUT | FF | BRAM | Fmax, MHz |"
    yield "|---|---|---|---|---|---|---|---|"
    for module, _, name, _, measured, _ in CANDIDATES:
        for depth in (d for d in DEPTHS if d <= measured):
            spent, area = results[module, depth, "cycles"], results[module, depth, "xc7"]
            rate = results.get((module, depth, "ecp5"))
            inserts = [spent["INSERT_TAIL"], spent["INSERT_HEAD"]]
            worst = max(i[2] for i in inserts)
            take = spent["TAKE_HIGHEST"]
            yield (f"| {name} | {depth:,} | {span(min(i[0] for i in inserts), worst)} | {span(take[0], take[2])} | {area['lut']:,} | "
                   f"{area['ff']:,} | {area['bram']:g} | {rate['fmax_mhz'] if rate else 'not placed'} |")


def span(least, most):
    return f"{least}" if least == most else f"{least} to {most}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--check", action="store_true")
    check = arguments.parse_args().check
    named = dict(jobs())
    done = flow.perform_all(list(named.values()), os.cpu_count())
    results = {key: done[job.name] for key, job in named.items()}
    if None in results.values():
        return 1
    text = PAGE.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    new = f"{text[:begin]}\n" + "\n".join(rows(results)) + f"\n{text[end:]}"
    if check:
        if new != text:
            print(f"compare: {flow.relative(PAGE)} is not what the measurement gives", file=sys.stderr)
        return new != text
    PAGE.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
