"""The proofs of the fabric's blocks, and the tests of the proofs: covers, arbitrary and silent designs, mutants.

All that decides a proof's result is in here and in jobs.py: a change of flow.py runs no proof again.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from jobs import FABRIC, JOB_SECONDS_MAX, PYTHON, Failure, Job, command, relative, tail

LONG_JOB_SECONDS_MAX = 4 * 3600
TOOL = f"{PYTHON}/bin/yowasp-"
CODE = [FABRIC / "proofs.py"]


@dataclass
class Proof:
    name: str
    top: str
    sources: list[Path]
    parameters: dict
    design: str
    abstract: list[str]
    mode: str
    depth: int
    solver: str
    multiclock: bool
    # Takes more than ten seconds: left to `make prove`.
    slow: bool
    # Takes minutes: left to `make soak`.
    long: bool
    # In so many cycles from reset every cover statement is reached; 0: another proof of the same harness reaches them.
    cover: int


@dataclass
class Mutant:
    """A fault put into a source, and the assertion that fails, or the cover statement that is not reached, because of it."""

    what: str
    proof: str
    file: Path
    old: str
    new: str
    fails: str
    unreached: str
    long: bool


# `prove` is the proof itself, and that the harness' cover statements are reached: no assumption has made it empty.
# `falsify` replaces the design by arbitrary behaviour, and every assertion has to fail; and by one whose outputs are 0
# for ever, which must not reach every cover statement.
SBY = """[options]
mode {mode}
depth {depth}
multiclock {multiclock}
expect {expect}

[engines]
smtbmc {options} {solver}

[script]
read_slang --threads 1 -D FORMAL {blackbox} {parameters} --top {top} {files}
{cut}
prep -top {top}

[files]
{sources}
"""

# SymbiYosys' own steps between the design and the solver, for a model that it has not made.
COVER_MODEL = """read_rtlil design.il
{silence}
scc -select; simplemap; select -clear
memory_nordff
{clock}
chformal -assume -early
opt_clean
formalff -setundef -clk2ff -ff2anyinit -hierarchy
chformal -live -fair -assert -remove
opt_clean
setundef -undriven -anyseq
opt -fast
rename -witness
opt_clean
hierarchy -smtcheck
delete */t:$print
formalff -assume
dffunmap
write_smt2 -wires cover.smt2
"""

# What arbitrary behaviour is made of, replaced by silence.
SILENCE = """(* techmap_celltype = "$anyseq" *)
module silence(output [WIDTH-1:0] Y);
  parameter WIDTH = 1;
  assign Y = 0;
endmodule
"""


def proof_jobs(blocks, extent):
    """The jobs of these blocks, by `extent`: "quick" is the quick proofs alone, without their tests; "usual" all but those
    that take minutes, with the first mutant of each; "long" all.
    """
    if extent == "quick":
        return [proof_job(block, proof, "prove") for block in blocks for proof in block.proofs
                if not (proof.slow or proof.long)]
    long = extent == "long"
    jobs = []
    for block in blocks:
        broken = set()
        for proof in block.proofs:
            if proof.long and not long:
                continue
            jobs += [proof_job(block, proof, kind) for kind in ("prove", "falsify")]
        for number, mutant in enumerate(block.mutants):
            proof = next(p for p in block.proofs if p.name == mutant.proof)
            if long or not (proof.long or mutant.long or proof.name in broken):
                jobs.append(proof_job(block, proof, f"mutant{number}", mutant))
                broken.add(proof.name)
    return jobs


def proof_job(block, proof, kind, mutant=None):
    sources = [*block.sources, *proof.sources]
    decisive = {key: value for key, value in vars(proof).items() if key != "slow"}
    settings = {"block": block.parameters, "proof": decisive, "kind": kind, "mutant": mutant and vars(mutant),
                "sources": sources}
    return Job(f"prove {block.name} {proof.name} {kind}",
               lambda folder: run_proof(folder, proof, sources, kind, mutant), sources, settings, code=CODE)


def run_proof(folder, proof, sources, kind, mutant):
    if kind == "prove":
        return prove(folder, proof, sources)
    if kind == "falsify":
        return falsify(folder, proof, sources)
    return catch(folder, proof, sources, mutant)


def prove(folder, proof, sources):
    """The proof, and that its covers are reached."""
    code, out = symbiyosys(folder, proof, sources, proof.abstract, proof.mode, proof.depth, "pass")
    if code != 0:
        told = [line for line in out.splitlines() if re.search(r"ERROR|failed|trace:", line)]
        raise Failure("\n".join(told[-12:] or [tail(out)]) + log(folder))
    if proof.cover:
        reached, unreached = covers(folder, proof, "")
        if unreached or not reached:
            raise Failure((f"not reached in {proof.cover} cycles: {', '.join(sorted(unreached))}" if unreached
                           else "the harness has no cover statement") + log(folder, "cover.log"))
    return {"assertions": len(statements(folder / "run", "assert"))}


def falsify(folder, proof, sources):
    """That every assertion fails of arbitrary behaviour, and that silence does not reach every cover statement."""
    _, out = symbiyosys(folder, proof, sources, [proof.design], "bmc", proof.depth, "fail", "-D CUT", "--keep-going")
    # Assertions inside of the design went with it; what is left is the harness's.
    left = statements(folder / "run", "assert") - failed(out)
    if left:
        raise Failure(f"whatever the design does, these cannot fail: {', '.join(sorted(left))}{log(folder)}")
    if proof.cover:
        (folder / "run" / "model" / "silence.v").write_text(SILENCE)
        reached, unreached = covers(folder, proof, "techmap -autoproc -map silence.v */t:$anyseq")
        if not unreached:
            raise Failure(f"a design that does nothing reaches every cover statement outside of `ifndef CUT`: "
                          f"{', '.join(sorted(reached)) or 'there is none'}{log(folder, 'cover.log')}")
    return {}


def catch(folder, proof, sources, mutant):
    """That the mutant is noticed, by what it names."""
    changed = folder / mutant.file.name
    changed.write_text(mutant.file.read_text().replace(mutant.old, mutant.new))
    sources = [changed if s == mutant.file else s for s in sources]
    long = proof.long or mutant.long
    if mutant.unreached:
        _, out = symbiyosys(folder, proof, sources, proof.abstract, "cover", proof.cover, "fail", long=long)
        noticed, wanted = set(re.findall(r"Unreached cover statement at \w+: (\S+)", out)), mutant.unreached
        does = "leaves"
    else:
        _, out = symbiyosys(folder, proof, sources, proof.abstract, "bmc", proof.depth, "fail", "", "--keep-going", long)
        noticed, wanted, does = failed(out), mutant.fails, "makes"
    if wanted not in noticed:
        raise Failure(f"\"{mutant.what}\" is not noticed by {wanted}; what it {does} "
                      f"{'unreached' if mutant.unreached else 'fail'}: {', '.join(sorted(noticed)) or 'nothing'}"
                      + log(folder))
    return {}


def symbiyosys(folder, proof, sources, cut, mode, depth, expect, defines="", options="", long=False):
    """Runs SymbiYosys with the modules of `cut` replaced by arbitrary behaviour; returns (exit code, output)."""
    (folder / "proof.sby").write_text(SBY.format(
        mode=mode, depth=depth, multiclock="on" if proof.multiclock else "off", expect=expect, options=options,
        solver=proof.solver, top=proof.top,
        blackbox=" ".join([defines, *(f"--blackboxed-module {module}" for module in cut)]),
        cut="cutpoint -blackbox" if cut else "",
        parameters=" ".join(f"-G {k}={v}" for k, v in proof.parameters.items()),
        files=" ".join(s.name for s in sources if s.suffix != ".svh"), sources="\n".join(map(str, sources))))
    return command([f"{TOOL}sby", "-f", "--yosys", f"{TOOL}yosys", "--smtbmc", f"{TOOL}yosys-smtbmc", "--witness",
                    f"{TOOL}yosys-witness", "-d", "run", "proof.sby"], folder, "log",
                   LONG_JOB_SECONDS_MAX if proof.long or long else JOB_SECONDS_MAX)


def covers(folder, proof, silence):
    """The cover statements that are reached in the proof's time, and those that are not, of the design in `run`."""
    model = folder / "run" / "model"
    (model / "cover.ys").write_text(COVER_MODEL.format(
        silence=silence, clock="clk2fflogic" if proof.multiclock else "async2sync"))
    code, out = command([f"{TOOL}yosys", "-ql", "cover_yosys.log", "cover.ys"], model, "cover_yosys.out")
    if code != 0:
        raise Failure(tail(out))
    limit = LONG_JOB_SECONDS_MAX if proof.long else JOB_SECONDS_MAX
    _, out = command([f"{TOOL}yosys-smtbmc", "-s", proof.solver, "--presat", "--unroll", "-c", "--noprogress",
                      "-t", proof.cover, model / "cover.smt2"], folder, "cover.log", limit)
    if "Status: " not in out:
        raise Failure(tail(out))
    return (set(re.findall(r"Reached cover statement.* at \w+: (\S+)", out)),
            set(re.findall(r"Unreached cover statement at \w+: (\S+)", out)))


def failed(out):
    """The names of the assertions that SymbiYosys says have failed."""
    return set(re.findall(r"Assert failed in \w+: (\S+)", out))


def statements(run, kind):
    """The names of the assertions in the design as the solver got it."""
    model = run / "model" / "design_smt2.smt2"
    if not model.is_file():
        raise Failure(f"the design could not be elaborated{log(run.parent)}")
    return set(re.findall(rf"^; yosys-smt2-{kind} \d+ (\S+)", model.read_text(), re.MULTILINE))


def log(folder, name="log"):
    return f"\nThe whole log: {relative(folder / name)}"
