#!/usr/bin/env python3
"""Compares the analysis of the tool with a second, independent one on random sets of reservations near a hart's limit.

usage: compare.py agree SETS [SEED]       verdicts, slack and responses: of the tool, the second analysis, simulations
       compare.py accepted SETS [SEED]    that no set is accepted which the exact test refuses
       compare.py breakdown SETS [SEED]   utilisation at which sets are refused: by the tool and by the exact test

SETS is the number of random sets, of all combinations in turn, and SEED makes other ones. It asks the tool's example,
which `cargo build --release -p tactus-planning --example verdicts` makes. Exit code 1: they do not agree.
"""

import os
import random
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import sets
import simulation
from analysis import NO_OVERHEADS, Hart, Overheads, Task

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(os.environ.get('CARGO_TARGET_DIR', ROOT / 'target')) / 'release' / 'examples' / 'verdicts'
# Of periodic sets at the limit, the part that the tool's test may leave undecided, as its steps end.
UNDECIDED_MOST = 0.2
# The least mean of a reached response by its bound.
REACHED_LEAST = 0.85
# Points of utilisation by which the tool may refuse earlier than the exact test.
BREAKDOWN_MOST = 1.0


class Findings:
    """What was compared, and what does not agree."""

    def __init__(self):
        self.counts = Counter()
        self.wrong = []

    def check(self, holds, what, policy, tasks, overheads):
        """Counts an agreement; keeps a disagreement with the set that shows it."""
        self.counts[what] += 1
        if not holds:
            self.wrong.append((what, sets.line(policy, tasks, overheads)))

    def end(self):
        """Prints all, and returns the exit code."""
        for what, count in sorted(self.counts.items()):
            print(f'  {count:8} {what}')
        for what, line in self.wrong[:20]:
            print(f'DISAGREE {what}: {line}')
        if self.wrong:
            print(f'{len(self.wrong)} disagreements')
        return 1 if self.wrong else 0


def fits(policy, hart):
    """The second analysis's verdict."""
    if policy == 'deadlines':
        return hart.fits_by_deadline()
    return all(hart.response_by_priority(which) is not None for which in range(len(hart.tasks)))


def is_periodic(tasks):
    return not any(task.server for task in tasks)


def compare_verdicts(policy, shape, edge, findings, undecided):
    """The tool's largest accepted scale is one that the second analysis accepts, and the next one it refuses."""
    overheads = shape.overheads
    if edge:
        tasks = shape.tasks(edge)
        accepted = fits(policy, Hart(tasks, overheads))
        findings.check(accepted is True, f'{policy}: accepted sets are feasible', policy, tasks, overheads)
    tasks = shape.tasks(edge + 1)
    if tasks is None or edge == sets.SCALE:
        return
    hart = Hart(tasks, overheads)
    verdict = fits(policy, hart)
    if policy == 'deadlines' and verdict and undecided:
        return
    what = f'{policy}: refused sets are infeasible'
    if policy == 'deadlines' and verdict and not is_periodic(tasks):
        # The tool rounds the demand of each server up to a tick.
        what = f'{policy}: refused sets of servers lack less than a tick each'
        verdict = hart.slack() >= len(tasks)
    findings.check(not verdict, what, policy, tasks, overheads)


def compare_responses(policy, hart, answer, findings, ratios, rng):
    """The tool's slack and bounds are the exact ones; simulations reach no more, and that where it can be."""
    tasks, overheads = hart.tasks, hart.overheads
    periodic = is_periodic(tasks)
    kind = 'periodic' if periodic else 'with servers'

    def check(holds, what):
        findings.check(holds, f'{policy}, {kind}: {what}', policy, tasks, overheads)

    if policy == 'deadlines' and answer[1] != '-':
        slack = int(answer[1])
        over = hart.slack() - slack
        # The tool's test, made with so much more blocking, may end undecided.
        check(over == 0 if periodic and slack else 0 <= over, 'slack')
    busy = hart.busy_period() if policy == 'deadlines' and periodic else None
    bounds = []
    for which in range(len(tasks)):
        word = answer[2 + which]
        bound = int(word.lstrip('~'))
        bounds.append(bound)
        if word.startswith('~'):
            findings.counts[f'{policy}, {kind}: search for a response not ended'] += 1
            continue
        if policy == 'priorities':
            worst, where = hart.response_by_priority(which)
            reached = simulation.reached_by_priority(hart, which, where, worst)
        else:
            worst, where = hart.response_by_deadline(which, busy) if periodic else hart.response_with_servers(which)
            reached = simulation.reached_by_deadline(hart, which, where, worst)
        check(bound == worst, 'responses')
        check(reached <= bound, 'responses simulated')
        if periodic and overheads == NO_OVERHEADS:
            check(reached == bound, 'responses reached')
        ratios.setdefault((policy, kind), []).append(reached / bound)
    if periodic and policy == 'deadlines':
        offsets = [rng.randrange(task.period) for task in tasks]
        jobs = simulation.periodic_jobs(hart, offsets, 4 * max(task.period for task in tasks))
        longest, late = simulation.responses(simulation.run(jobs, overheads, rng), tasks)
        check(not late and all(seen <= bound for seen, bound in zip(longest, bounds)), 'random releases')


def compare_small(number, seed, findings):
    """Sets with a short hyperperiod: all of it simulated, and a job released at each tick of the busy period."""
    rng = random.Random(seed)
    cases = []
    while len(cases) < number:
        tasks = []
        for _ in range(rng.randrange(2, 5)):
            period = rng.choice((6, 8, 9, 10, 12, 15, 18, 20, 24, 30, 36, 40, 45, 60))
            budget = rng.randrange(1, max(2, period // 2))
            tasks.append(Task(period, budget, rng.randrange(budget, period + 1), False))
        part = sum(Fraction(task.budget, task.period) for task in tasks)
        if Fraction(7, 10) <= part <= 1:
            cases.append(tasks)
    lines = [sets.line('deadlines', tasks, NO_OVERHEADS) for tasks in cases]
    for tasks, answer in zip(cases, sets.ask(PROGRAM, lines, responses=True)):
        hart = Hart(tasks, NO_OVERHEADS)

        def check(holds, what, tasks=tasks):
            findings.check(holds, f'small sets: {what}', 'deadlines', tasks, NO_OVERHEADS)

        late = simulation.is_late_within(hart, simulation.hyperperiod(hart) + max(task.deadline for task in tasks))
        check((answer[0] == 'fits') == (not late), 'verdict and simulation of the hyperperiod')
        check(hart.fits_by_deadline() == (not late), 'second analysis and simulation of the hyperperiod')
        if late or answer[0] != 'fits':
            continue
        busy = hart.busy_period()
        for which in range(len(tasks)):
            others = simulation.periodic_jobs(hart, [0] * len(tasks), busy + 60)
            seen = max(
                simulation.response_at(hart, which, offset, [copy(job) for job in others]) for offset in range(busy)
            )
            check(answer[2 + which] == str(seen), 'responses and simulation from each tick')


def copy(job):
    return simulation.Job(job.release, job.left, job.urgency, job.deadline, job.task, job.measured)


def agree(number, seed):
    findings, ratios = Findings(), {}
    rng = random.Random(seed)
    for policy in ('deadlines', 'priorities'):
        cells = list(sets.shapes(f'{seed} {policy}', number // 2, ('periodic', 'server', 'mixed')))
        shapes = [shape for _, shape in cells]
        edges = sets.edges(PROGRAM, policy, shapes)
        beyond = [shape.tasks(edge + 1) or shape.tasks(edge) for shape, edge in zip(shapes, edges)]
        lines = [sets.line(policy, tasks, shape.overheads) for tasks, shape in zip(beyond, shapes)]
        undecided = [answer[0] == 'undecided' for answer in sets.ask(PROGRAM, lines)]
        for shape, edge, unknown in zip(shapes, edges, undecided):
            compare_verdicts(policy, shape, edge, findings, unknown)
        if policy == 'deadlines':
            periodic = [unknown for (cell, _), unknown in zip(cells, undecided) if cell[2] == 'periodic']
            print(f'periodic sets at the limit: {sum(periodic)} of {len(periodic)} undecided')
            if sum(periodic) > UNDECIDED_MOST * len(periodic) + 2:
                findings.wrong.append(('too many sets are undecided', 'of periodic vCPUs'))
        # A little below the limit: at it, the busy period of a full hart is as long as the hyperperiod.
        near = [(shape, int(edge * rng.uniform(0.90, 0.98))) for shape, edge in zip(shapes, edges)]
        harts = [Hart(shape.tasks(scale), shape.overheads) for shape, scale in near if scale]
        lines = [sets.line(policy, hart.tasks, hart.overheads) for hart in harts]
        for hart, answer in zip(harts, sets.ask(PROGRAM, lines, responses=True)):
            if answer[0] == 'fits':
                compare_responses(policy, hart, answer, findings, ratios, rng)
    compare_small(number // 3, seed, findings)
    for (policy, kind), all_of in sorted(ratios.items()):
        mean = sum(all_of) / len(all_of)
        print(f'{policy}, {kind}: response reached by its bound: {mean:.3f} on average, {min(all_of):.3f} at least')
        if mean < REACHED_LEAST:
            findings.wrong.append(('bounds are loose', f'{policy}, {kind}'))
    return findings.end()


def accepted(number, seed):
    findings = Findings()
    done = 0
    while done < number:
        batch = min(2000, number - done)
        shapes = [shape for _, shape in sets.shapes(f'{seed} {done}', batch, ('periodic', 'server', 'mixed'))]
        for shape, edge in zip(shapes, sets.edges(PROGRAM, 'deadlines', shapes)):
            if edge:
                tasks = shape.tasks(edge)
                holds = Hart(tasks, shape.overheads).fits_by_deadline() is True
                findings.check(holds, 'accepted sets are feasible', 'deadlines', tasks, shape.overheads)
        done += batch
        print(f'accepted_infeasible: {len(findings.wrong)} of {done} sets at the limit', flush=True)
    return findings.end()


def exact_edge(shape):
    """The largest scale that the exact test accepts."""
    low, high = 0, sets.SCALE + 1
    while high - low > 1:
        middle = (low + high) // 2
        tasks = shape.tasks(middle)
        if tasks is not None and Hart(tasks, shape.overheads).fits_by_deadline():
            low = middle
        else:
            high = middle
    return low


def reserved(shape, scale):
    """Budgets by periods, in per cent."""
    return 100 * sum(task.budget / task.period for task in shape.tasks(scale)) if scale else 0.0


def breakdown(number, seed):
    wrong = 0
    print('mean breakdown utilisation in per cent, budgets by periods, with overheads like those of `soc`')
    print('  kind      vCPUs  deadlines    tool   exact  as periodic')
    cells = {}
    overheads = (Overheads(170, 450, 5_000, 390),)
    for cell, shape in sets.shapes(f'breakdown {seed}', number, overheads=overheads):
        cells.setdefault(cell, []).append(shape)
    for (part, count, kind), shapes in sorted(cells.items(), key=lambda item: (item[0][2], item[0][1], item[0][0])):
        tool = [reserved(shape, edge) for shape, edge in zip(shapes, sets.edges(PROGRAM, 'deadlines', shapes))]
        exact = [reserved(shape, exact_edge(shape)) for shape in shapes]
        for shape in shapes:
            shape.rows = [(period, share, deadline, False) for period, share, deadline, _ in shape.rows]
        periodic = [reserved(shape, edge) for shape, edge in zip(shapes, sets.edges(PROGRAM, 'deadlines', shapes))]
        tool, exact, periodic = (sum(values) / len(values) for values in (tool, exact, periodic))
        print(f'  {kind:8} {count:6}   {part:.1f}..1.0  {tool:6.2f}  {exact:6.2f}       {periodic:6.2f}')
        if exact - tool > BREAKDOWN_MOST:
            wrong += 1
            print(f'DISAGREE: the tool refuses {exact - tool:.2f} points earlier')
    return 1 if wrong else 0


def main():
    commands = {'agree': agree, 'accepted': accepted, 'breakdown': breakdown}
    words = sys.argv[1:]
    if len(words) not in (2, 3) or words[0] not in commands or not all(word.isdigit() for word in words[1:]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    if not PROGRAM.exists():
        print(f'compare.py: {PROGRAM} is missing; build it as said above', file=sys.stderr)
        return 2
    return commands[words[0]](int(words[1]), int(words[2]) if len(words) > 2 else 1)


if __name__ == '__main__':
    sys.exit(main())
