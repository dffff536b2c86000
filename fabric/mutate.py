"""Random mutants of the blocks: each is a small fault in one source, and a proof or a test of the block has to notice it.

A mutant that no proof and no test notices is a survivor. Those that have been judged are in survivors.toml; any other
survivor fails the run. The mutants are a function of the seed and of the source.
"""

import random
import re
import tomllib
from dataclasses import replace

from jobs import FABRIC, Failure, Job
from proofs import CODE, log, prove, symbiyosys, failed

SURVIVORS = FABRIC / "survivors.toml"

# What is replaced by what, in code alone.
CHANGES = [
    (r"&&", "||"), (r"\|\|", "&&"), (r"==", "!="), (r"!=", "=="), (r"(?<![<>=!])<(?![<=])", ">="), (r" \+ ", " - "), (r" - ", " + "),
    (r"(?<=[(=? ])!(?=[a-z(])", ""), (r"1'b1", "1'b0"), (r"1'b0", "1'b1"), (r"<= '0;", "<= '1;"), (r"\bif \(", "if (!("),
]


def sites(text):
    """Where a fault can be put: (begin, end, new text) each, in lines that are code of a module's body."""
    body = text.index(");", text.index("module ")) if "module " in text else len(text)
    found, at = [], 0
    for line in text.splitlines(keepends=True):
        code = line.split("//")[0]
        # A reset that does not suit the sensitivity list is no design.
        if at > body and not re.match(r"\s*(localparam|typedef|function|`|for \(|module|import|assert|if \(!rst_ni)", code):
            for pattern, new in CHANGES:
                for match in re.finditer(pattern, code):
                    begin, end = at + match.start(), at + match.end()
                    if pattern == r"\bif \(":
                        close = closing(text, end)
                        found.append((end, close, f"!({text[end:close]})"))
                    else:
                        found.append((begin, end, new))
        at += len(line)
    return found


def closing(text, at):
    """The place of the bracket that closes the one before `at`."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at - 1


def mutants(block, seed, count):
    """(source, line, text of the line before and after, whole text) of `count` random faults in the block's own sources."""
    own = [s for s in block.sources if s.parent.name == "rtl" and not s.stem.endswith("_pkg") and s in block.own]
    all_sites = [(source, site) for source in own for site in sites(source.read_text())]
    chosen = random.Random(f"{seed} {block.name}").sample(all_sites, min(count, len(all_sites)))
    for source, (begin, end, new) in chosen:
        text = source.read_text()
        changed = text[:begin] + new + text[end:]
        number = text.count("\n", 0, begin)
        yield source, number + 1, text.splitlines()[number].strip(), changed.splitlines()[number].strip(), changed


def tested(block, every_block):
    """The block whose tests try this one: itself, or else the smallest that uses it and has tests."""
    with_tests = [other for other in every_block if other.tests and set(block.own) <= set(other.sources)]
    return block if block.tests else min(with_tests, key=lambda other: len(other.sources), default=block)


def mutate_jobs(blocks, seed, count, run_test, every_block):
    judged = tomllib.loads(SURVIVORS.read_text()).get("survivor", [])
    known = {(s["file"], s["old"], s["new"], s["occurrence"]) for s in judged}
    jobs = []
    for block in blocks:
        tester = tested(block, every_block)
        if not block.proofs and not tester.tests:
            continue
        for n, (source, line, old, new, text) in enumerate(mutants(block, seed, count)):
            name = source.relative_to(FABRIC).as_posix()
            what = f"{name}:{line}: `{old}` became `{new}`"
            same = [at for at, other in enumerate(source.read_text().splitlines(), 1) if other.strip() == old]
            judgement = (name, old, new, same.index(line) + 1) in known
            jobs.append(Job(f"mutate {block.name} {seed} {n}",
                            lambda f, b=block, r=tester, s=source, t=text, w=what, j=judgement:
                                run_mutant(f, b, r, s, t, w, j, run_test),
                            [*tester.sources, *block.sources, *(s for p in block.proofs for s in p.sources)],
                            {"what": what, "text": text, "judged": judgement}, code=[*CODE, FABRIC / "mutate.py"]))
    return jobs


def run_mutant(folder, block, tester, source, text, what, judged, run_test):
    """Returns what notices the mutant; fails where nothing does and it has not been judged. `tester`: whose tests try
    the block.
    """
    changed = folder / source.name
    changed.write_text(text)

    def with_mutant(sources):
        return [changed if s == source else s for s in sources]

    # Quick proofs first, then tests, and of long proofs what they find from reset.
    def counterexample(proof):
        where = folder / proof.name
        where.mkdir()
        sources = [*with_mutant(block.sources), *proof.sources]
        _, out = symbiyosys(where, proof, sources, proof.abstract, "bmc", proof.depth, "fail", "", "--keep-going")
        return where, sources, sorted(failed(out))[:3]

    for proof in sorted((p for p in block.proofs if not p.long), key=lambda p: p.depth):
        where, sources, fails = counterexample(proof)
        if fails:
            return {"noticed": f"proof {proof.name}: {', '.join(fails)}"}
        try:
            prove(where, proof, sources)
        except Failure as failure:
            return {"noticed": f"proof {proof.name}: {str(failure).splitlines()[0]}"}
    for test in tester.tests:
        where = folder / test.name
        where.mkdir()
        sources = [*with_mutant(tester.sources), *test.sources]
        try:
            run_test(where, {"sources": sources, "top": test.top, "parameters": {**tester.parameters, **test.parameters},
                             "module": test.module, "seed": 1, "waves": False})
        except Failure:
            return {"noticed": f"test {test.name} of {tester.name}"}
    for proof in (p for p in block.proofs if p.long):
        fails = counterexample(proof)[2]
        if fails:
            return {"noticed": f"proof {proof.name}: {', '.join(fails)}"}
    if judged:
        return {"noticed": "nothing; judged in survivors.toml"}
    raise Failure(f"{what}: no proof and no test of {block.name} notices it. Strengthen one, or judge it in "
                  f"fabric/survivors.toml.{log(folder)}")
