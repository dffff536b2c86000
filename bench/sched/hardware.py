#!/usr/bin/env python3
"""Prints a figure of the fabric's ready queue with 1,024 handles.

    bench/sched/hardware.py cycles      from an insertion or a removal of the highest to the next command, the worst; simulated
    bench/sched/hardware.py lut         of a Xilinx 7-series, for all of ready_queue_top
    bench/sched/hardware.py fmax_mhz    on an ECP5, the worst of three placements

As fabric/flow.py and fabric/synth/compare/compare.py measure them; what has not changed is remembered.
"""

import contextlib
import os
import sys
from pathlib import Path

FABRIC = Path(__file__).resolve().parent.parent.parent / "fabric"
sys.path[:0] = [str(FABRIC), str(FABRIC / "synth" / "compare")]
import compare  # noqa: E402
import flow  # noqa: E402

COMMANDS = ("INSERT_TAIL", "INSERT_HEAD", "TAKE_HIGHEST")



def result(wanted, jobs):
    """What the one of these jobs gives that is called so; None where it failed."""
    (job,) = (job for job in jobs if job.name == wanted)
    # What is said of it is for people, and stdout is for the figure.
    with contextlib.redirect_stdout(sys.stderr):
        return flow.perform_all([job], os.cpu_count())[job.name]


def cycles():
    """The worst of the commands that a scheduler gives all the time: least, mean and most of each are measured."""
    spent = result("compare ready_queue_1024 cycles", [job for _, job in compare.jobs()])
    return spent and max(spent[command][2] for command in COMMANDS)


def synthesised(kind, figure):
    """A figure of the block, as `fabric/flow.py synth` has it."""
    blocks = [block for block in flow.read_blocks() if block.name == "ready_queue_top"]
    area = result(f"synth ready_queue_top {kind}", flow.synth_jobs(blocks))
    return area and area[figure]


FIGURES = {"cycles": cycles, "lut": lambda: synthesised("xc7", "lut"), "fmax_mhz": lambda: synthesised("ecp5", "fmax_mhz")}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in FIGURES:
        print(__doc__, file=sys.stderr)
        return 2
    figure = FIGURES[sys.argv[1]]()
    if figure is None:
        return 1
    print(figure)
    return 0


if __name__ == "__main__":
    # With the tools' own Python, as the flow.
    if Path(sys.prefix).resolve() != flow.PYTHON.resolve():
        interpreter = flow.PYTHON / "bin" / "python"
        if not interpreter.exists():
            sys.exit("hardware: the tools are not there; run `make setup`")
        os.execv(interpreter, [interpreter, *sys.argv])
    os.environ["PATH"] = f"{flow.PYTHON / 'bin'}{os.pathsep}{os.environ['PATH']}"
    sys.exit(main())
