#!/usr/bin/env python3
"""Fits the profile's costs of the way to the fabric to the paper's Table 1, and says how well.

    tactus bench sched --quick --json | bench/sched/calibrate.py

The input is the run of the program that measures Table 1, `bench-sched`, with the profile as it is; paper's figures come with it. Each operation's
cycles are linear in the costs, with a factor that says how often the operation pays each (OPERATIONS). The costs are those with the least
sum of squared differences, none below its least value. Exit code 0 where profiles/soc.toml has them, rounded; else 1.
"""

import itertools
import json
import sys
import tomllib
from pathlib import Path

PROFILE = Path(__file__).resolve().parent.parent.parent / "profiles" / "soc.toml"

# The costs that are fitted: where they are in the profile, the least that they can be, and how near is near enough. The
# answer to a read comes at an edge of the fabric's clock, of whose cycle this is half; and where the compiler lays the
# code decides of a misprediction, 9 cycles, in one of the two operations with an event.
COSTS = {
    "GP read": ("fabric", "read", 0, 3.34),
    "GP write": ("fabric", "handover", 0, 1),
    "event": ("fabric-port", "handover", 0, 5),
}
# Costs that others than the fabric's users pay as well, so that they stay as they are: what the fit would have of them
# if they were free is reported and no more.
HELD = {
    "barrier": (("pipeline", "fence"), 1),
    "coherent read": (("caches", "l2_latency"), 0),
}
# How often each operation pays each cost.
OPERATIONS = {
    "insert_cycles_gp": {"GP write": 1},
    "remove_cycles_gp": {"GP read": 1},
    "insert_cycles_acp": {"coherent read": 1, "barrier": 1, "event": 1},
    "remove_cycles_acp": {"coherent read": 1, "barrier": 1, "event": 1},
    "insert_cycles_acp_polling": {"coherent read": 1, "barrier": 1},
    "remove_cycles_acp_polling": {"coherent read": 1},
    "insert_cycles_hybrid": {"GP write": 1},
    "remove_cycles_hybrid": {"coherent read": 1, "GP write": 1},
}


def solve(rows, values):
    """The x with the least squares of rows * x - values; None where they do not determine it."""
    size = len(rows[0])
    normal = [[sum(row[i] * row[j] for row in rows) for j in range(size)]
              + [sum(row[i] * value for row, value in zip(rows, values))] for i in range(size)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(normal[k][i]))
        normal[i], normal[pivot] = normal[pivot], normal[i]
        if abs(normal[i][i]) < 1e-9:
            return None
        normal[i] = [number / normal[i][i] for number in normal[i]]
        for k in range(size):
            if k != i:
                normal[k] = [a - normal[k][i] * b for a, b in zip(normal[k], normal[i])]
    return [row[size] for row in normal]


def fit(names, least, missing):
    """The changes of these costs, none below its least one, that leave the least squares of what is missing in each operation."""
    best = None
    for count in range(len(names) + 1):
        for held in itertools.combinations(names, count):
            free = [name for name in names if name not in held]
            left = {op: value - sum(least[name] * OPERATIONS[op].get(name, 0) for name in held) for op, value in missing.items()}
            found = solve([[OPERATIONS[op].get(name, 0) for name in free] for op in left], list(left.values())) if free else []
            if found is None:
                continue
            changes = {**{name: least[name] for name in held}, **dict(zip(free, found))}
            if any(changes[name] < least[name] - 1e-9 for name in names):
                continue
            squares = sum(residual(op, value, changes) ** 2 for op, value in missing.items())
            if best is None or squares < best[0] - 1e-9:
                best = squares, changes
    return best[1]


def residual(operation, missing, changes):
    """What is still missing with these changes."""
    return missing - sum(changes.get(cost, 0) * times for cost, times in OPERATIONS[operation].items())


def main():
    metrics = json.load(sys.stdin)["metrics"]
    timing = tomllib.loads(PROFILE.read_text())["board"]["timing"]
    regions = {region["name"]: region for region in timing["region"]}
    now = {cost: regions[region].get(key, 0) for cost, (region, key, *_) in COSTS.items()}
    held = {cost: timing[table][key] for cost, ((table, key), _) in HELD.items()}
    least = {cost: COSTS[cost][2] - value for cost, value in now.items()}
    least_all = {**least, **{cost: HELD[cost][1] - value for cost, value in held.items()}}
    ours = {op: metrics[op]["value"] for op in OPERATIONS}
    paper = {op: metrics[op]["paper"] for op in OPERATIONS}
    missing = {op: paper[op] - ours[op] for op in OPERATIONS}

    changes = fit(list(COSTS), least, missing)
    freed = fit([*COSTS, *HELD], least_all, missing)
    print(f"{'cost, in cycles':<28}{'profile':>10}{'fitted':>10}{'if all were free':>20}")
    for cost, value in {**now, **held}.items():
        fitted = f"{value + changes[cost]:.1f}" if cost in changes else "held"
        print(f"{cost:<28}{value:>10}{fitted:>10}{value + freed[cost]:>20.1f}")
    print(f"\n{'operation':<28}{'now':>10}{'fitted':>10}{'paper':>10}{'error':>10}")
    errors = []
    for op in OPERATIONS:
        error = -residual(op, missing[op], changes)
        errors.append(error)
        print(f"{op:<28}{ours[op]:>10}{paper[op] + error:>10.1f}{paper[op]:>10}{error:>10.1f}")
    print(f"\nroot of the mean square of the errors: {(sum(e * e for e in errors) / len(errors)) ** 0.5:.1f} cycles")
    stale = [cost for cost in COSTS if abs(changes[cost]) > COSTS[cost][3] + 1e-9]
    if stale:
        print(f"the profile has other costs than the fit: {', '.join(stale)}", file=sys.stderr)
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
