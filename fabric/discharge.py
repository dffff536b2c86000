"""Who discharges each assumption of the proofs: formal/assumptions.toml names the proof or the source for each, or says that
it is a choice of the harness, or asked of the processor, memory or software.

Two kinds need none: that a proof begins in reset, and that a free input of a harness keeps its value, which any value does.
"""

import re
import tomllib

from jobs import FABRIC, Failure

FILE = FABRIC / "formal" / "assumptions.toml"
ASSUME = re.compile(r"(?:(\w+):\s*)?\bassume\s*\(((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*)\);")
# Equality of an input with its value a cycle ago, and bounds of it.
KEPT = re.compile(r"!?\(?\$past\(rst_ni\)\)?|(\w+) == (?:\1_q|\$past\(\1\))|\d+'\(\w+\) < \w+|\w+ <= \w+|\w+ != \w+")


def assumptions():
    """The assumptions by harness and name; those without a name, or that are automatic, are left out."""
    found = {}
    for path in sorted((FABRIC / "formal").glob("*_formal.sv")):
        text = "\n".join(line.split("//")[0] for line in path.read_text().splitlines())
        for number, (name, body) in enumerate(ASSUME.findall(text)):
            body = " ".join(body.split())
            kept = all(KEPT.fullmatch(part.strip()) for part in re.split(r"&&|\|\|", body)) and "==" in body
            if name != "begin_in_reset" and not kept:
                found[f"{path.stem} {name or number}"] = body
    return found


def lint_assumptions(blocks):
    """Fails with assumptions that nothing is named for, and with names of what is not there. Returns how many no proof and
    no source discharges."""
    left, wrong, outside, choices = assumptions(), [], 0, 0
    proofs = {f"{b.name} {p.name}": " ".join(s.read_text() for s in p.sources) for b in blocks for p in b.proofs}
    for entry in tomllib.loads(FILE.read_text())["assumption"]:
        by = entry["by"] if isinstance(entry["by"], list) else [entry["by"]]
        wrong += [f"assumptions.toml: {fault}" for each in by if (fault := fault_of(each, proofs))]
        for name in entry["names"]:
            body = left.pop(f"{entry['of']} {name}", None)
            if body is None:
                wrong.append(f"assumptions.toml: {entry['of']} has no assumption {name}, or it is named twice")
            elif by[0].startswith("choice: ") and "dut." in body and len(by) == 1:
                wrong.append(f"assumptions.toml: {entry['of']} {name} is of the design's state, and no choice")
            outside += any(each.startswith("outside: ") for each in by)
            choices += any(each.startswith("choice: ") for each in by)
    wrong += [f"{name}: assumptions.toml names nothing that discharges it" for name in sorted(left)]
    if wrong:
        raise Failure("\n".join(wrong))
    return {"outside": outside, "choice": choices}


def fault_of(by, proofs):
    """What is wrong with one that is to discharge an assumption, or nothing."""
    kind, _, rest = by.partition(" ")
    if kind == "proof":
        block, _, rest = rest.partition(" ")
        proof, _, assertion = rest.partition(" ")
        if not re.search(rf"\b{assertion}: assert|PROVED, {assertion},", proofs.get(f"{block} {proof}", "")):
            return f"there is no proof `{block} {proof}` with an assertion `{assertion}`"
    elif kind == "rtl":
        file, _, text = rest.partition(": ")
        path = FABRIC / file
        if not path.is_file() or " ".join(text.split()) not in " ".join(path.read_text().split()):
            return f"fabric/{file} does not hold `{text}`"
    elif kind not in ("choice:", "outside:") or not rest:
        return f"`{by}` has to begin with `proof`, `rtl`, `choice:` or `outside:`, and to say more"
    return None
