"""Compiles a design into the model that the board loads.

A model is named by a hash that includes this module: what it does not decide belongs elsewhere.
"""

import os

from jobs import FABRIC, Failure, command, relative, tail

# Compiling the largest design, beside whatever else goes on.
MODEL_SECONDS_MAX = 3600


def build_model(folder, design):
    """Compiles a design with Verilator into a shared object, `folder`/model.so."""
    def member(path):
        return f"fabric_shell__DOT__u_design__DOT__{path.replace('.', '__DOT__')}"

    counted = "".join(f"    root.{member(path)} += cycles;\n" for path in design.counters)
    kept = "".join(f"    to.{member(path)} = from.{member(path)};\n" for path in design.nonvolatile)
    (folder / "counters.h").write_text(
        f"constexpr uint64_t PERIOD = {design.period};\n"
        "static void count_on(Vfabric_shell___024root& root, uint64_t cycles) {\n"
        f"    (void)root;\n    (void)cycles;\n{counted}}}\n"
        "static void keep(const Vfabric_shell___024root& from, Vfabric_shell___024root& to) {\n"
        f"    (void)from;\n    (void)to;\n{kept}}}\n")
    # Written from outside of the model, and so not to be optimised away.
    (folder / "counters.vlt").write_text("`verilator_config\n" + "".join(
        f'public_flat_rw -module "*" -var "{path.rpartition(".")[2]}"\n'
        for path in [*design.counters, *design.nonvolatile]))
    code, out = command(
        ["verilator", "--cc", "--exe", "--build", "-sv", "-Wall", "--savable", "--trace-fst", "--trace-structs", "-O3",
         # Two-state: every run begins the same way. The blocks' own tests begin at random.
         "--x-assign", "0", "--x-initial", "0", *[f"-D{d}" for d in design.defines()], "--top-module", "fabric_shell",
         # Tiles differ in their numbers alone, and yet each is a module, and so some files, of its own: those of 16
         # tiles take longer to compile than all that they hold in one.
         *(["--flatten"] if design.tiles else []),
         # What is slow runs once. The designs with tiles are the largest: at level 1 they compile in two thirds of the
         # time of level 2, and run an eighth longer.
         "--build-jobs", str(os.cpu_count()), "--Mdir", "model", "-MAKEFLAGS", f"OPT_FAST={'-O1' if design.tiles else '-O2'} OPT_SLOW=-O0 OBJCACHE={FABRIC / 'coupling' / 'compile.sh'}", "-LDFLAGS", "-shared", "-o", "../model.so",
         "-CFLAGS", f"-fPIC -fvisibility=hidden -I{FABRIC / 'coupling'} -I{folder} -DFABRIC_NAME='\"{design.name}\"'"
                    + "".join(f" -D{name}" for name in design.defines()[1:]),
         FABRIC / "lint.vlt", folder / "counters.vlt",
         # Messages name them: relative, so that a model says nothing of where it was built.
         *[os.path.relpath(source, folder) for source in design.sources], FABRIC / "coupling" / "model.cpp"],
        folder, "log", MODEL_SECONDS_MAX)
    if code != 0:
        raise Failure(f"{tail(out)}\nThe whole log: {relative(folder / 'log')}")
    return {}
