"""Who discharges each assumption of the proofs: formal/assumptions.toml names the proof or the RTL for each.

Two kinds need no one: that a proof begins in reset, and that a free input of a harness keeps its value, which any value does.
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
    """Fails with assumptions that nothing is named for, and with names of what is not there."""
    described = tomllib.loads(FILE.read_text())
    left, wrong = assumptions(), []
    proofs = {f"{b.name} {p.name}": " ".join(s.read_text() for s in p.sources) for b in blocks for p in b.proofs}
    for entry in described.get("assumption", []):
        for name in entry["names"]:
            if left.pop(f"{entry['of']} {name}", None) is None:
                wrong.append(f"assumptions.toml: {entry['of']} has no assumption {name}")
        kind, _, rest = entry["by"].partition(" ")
        if kind == "proof":
            block, _, rest = rest.partition(" ")
            proof, _, assertion = rest.partition(" ")
            text = proofs.get(f"{block} {proof}")
            if text is None or (assertion and not re.search(rf"\b{assertion}: assert|, {assertion},", text)):
                wrong.append(f"assumptions.toml: there is no proof `{block} {proof}` with an assertion `{assertion}`")
        elif kind == "rtl":
            file, _, text = rest.partition(": ")
            path = FABRIC / file
            if not path.is_file() or " ".join(text.split()) not in " ".join(path.read_text().split()):
                wrong.append(f"assumptions.toml: fabric/{file} does not hold `{text}`")
        else:
            wrong.append(f"assumptions.toml: `by` of {entry['of']} has to begin with `proof` or `rtl`")
    still = set(described.get("open", []))
    wrong += [f"{name}: assumptions.toml names nothing that discharges it" for name in sorted(set(left) - still)]
    wrong += [f"assumptions.toml: {name} is not open any more" for name in sorted(still - set(left))]
    if wrong:
        raise Failure("\n".join(wrong))
    return {"open": len(still)}
