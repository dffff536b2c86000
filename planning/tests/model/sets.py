"""Random sets of reservations near the limit of a hart, and what the tool says of them."""

import random
import subprocess

from analysis import NO_OVERHEADS, Overheads, Task

# Deadlines are this part of the period at least, at most the whole.
RANGES = (0.7, 0.3, 1.0)
COUNTS = (5, 12)
# Periods of 1 to 100 ms, in ticks of 100 ns.
PERIODS = (10_000, 1_000_000)
# Budgets are scaled in such parts.
SCALE = 4096
# Overheads like those of the profiles, with several numbers of interrupts.
OVERHEADS = (
    NO_OVERHEADS,
    Overheads(170, 450, 5_000, 390),
    Overheads(260, 500, 5_000, 160),
    Overheads(50, 60, 5_000, 120),
    Overheads(260, 500, 0, 0),
)


class Shape:
    """Periods, deadlines and shares of a set, whose budgets are scaled together."""

    def __init__(self, rng, count, part, kind, overheads):
        self.overheads = overheads
        self.rows = []
        left = 1.0
        for index in range(count):
            rest = left * rng.random() ** (1 / (count - index - 1)) if index < count - 1 else 0.0
            low, high = PERIODS
            period = int(low * (high / low) ** rng.random())
            deadline = min(period, max(1, int(period * (part + (1 - part) * rng.random()))))
            server = kind == 'server' or kind == 'mixed' and rng.random() < 0.5
            self.rows.append((period, left - rest, deadline, server))
            left = rest
        # The order of priorities: by deadline.
        self.rows.sort(key=lambda row: row[2])

    def tasks(self, scale):
        """The set with budgets of so many parts of their shares; `None`: one would exceed its deadline."""
        tasks = []
        for period, share, deadline, server in self.rows:
            budget = max(1, int(period * share * scale / SCALE))
            if budget > deadline:
                return None
            tasks.append(Task(period, budget, deadline, server))
        return tasks


def shapes(seed, number, kinds=('periodic', 'server'), overheads=OVERHEADS):
    """So many shapes, all combinations of the ranges of deadlines, numbers of vCPUs and kinds among them in turn."""
    rng = random.Random(seed)
    cells = [(part, count, kind) for kind in kinds for count in COUNTS for part in RANGES]
    for index in range(number):
        part, count, kind = cells[index % len(cells)]
        yield (part, count, kind), Shape(rng, count, part, kind, overheads[index // len(cells) % len(overheads)])


def line(policy, tasks, overheads):
    """A set as the tool's example reads it."""
    words = [policy, *map(str, overheads)]
    for task in tasks:
        kind = 'server' if task.server else 'periodic'
        words.append(f'{kind}:{task.period}:{task.budget}:{task.deadline}')
    return ' '.join(words)


def ask(program, lines, responses=False):
    """What the tool says of sets: of each the words of its answer."""
    command = [program, 'responses'] if responses else [program]
    done = subprocess.run(command, input='\n'.join(lines) + '\n', text=True, check=True, stdout=subprocess.PIPE)
    answers = [answer.split() for answer in done.stdout.splitlines()]
    if len(answers) != len(lines):
        raise RuntimeError(f'{len(lines)} sets, {len(answers)} answers')
    return answers


def edges(program, policy, all_shapes):
    """The largest scale at which the tool accepts each shape, by bisection of all of them together; 0: none."""
    low = [0] * len(all_shapes)
    high = [SCALE + 1] * len(all_shapes)
    while True:
        asked, lines = [], []
        for index, shape in enumerate(all_shapes):
            if high[index] - low[index] > 1:
                middle = (low[index] + high[index]) // 2
                tasks = shape.tasks(middle)
                if tasks is None:
                    high[index] = middle
                else:
                    asked.append((index, middle))
                    lines.append(line(policy, tasks, shape.overheads))
        if not asked:
            if all(above - below <= 1 for below, above in zip(low, high)):
                return low
            continue
        for (index, middle), answer in zip(asked, ask(program, lines)):
            if answer[0] == 'fits':
                low[index] = middle
            else:
                high[index] = middle
