"""Exact schedulability of one hart's reservations: the second implementation beside `policy` and `planning`.

Follows the page "Guaranteed time" and the papers that it cites, with integers and fractions. It favours plain
enumeration over speed: every deadline up to the proven horizon, every release offset that can be the worst. All times
are in ticks.
"""

from bisect import bisect_left, bisect_right
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import ceil, lcm
from typing import NamedTuple


class Task(NamedTuple):
    """A real-time vCPU with a reservation."""

    period: int
    budget: int
    deadline: int
    server: bool


class Overheads(NamedTuple):
    """What the hypervisor takes of a hart."""

    job: int
    blocking: int
    service_period: int
    service: int


NO_OVERHEADS = Overheads(0, 0, 0, 0)


class Hart:
    """The vCPUs of a hart, most urgent first where they have priorities, and the hypervisor's overheads there."""

    def __init__(self, tasks, overheads):
        self.tasks = list(tasks)
        self.overheads = overheads
        self.costs = [task.budget + overheads.job for task in self.tasks]
        self.service = overheads.service if overheads.service_period else 0
        # Fractions of the hart have this denominator, so that sums of them are sums of integers.
        self.unit = lcm(*(task.period for task in self.tasks), *(task.deadline for task in self.tasks))

    def services(self, length):
        """The hypervisor's work for others within a length."""
        return (length // self.overheads.service_period + 1) * self.service if self.service else 0

    def utilisation(self):
        """Of the whole hart, services included."""
        jobs = sum(Fraction(cost, task.period) for task, cost in zip(self.tasks, self.costs))
        return jobs + (Fraction(self.service, self.overheads.service_period) if self.service else 0)

    # Earliest deadline first: the demand.

    def horizon(self, spare=0):
        """The length from which on the demand leaves at least `spare` of every length: La of the page.

        `None`: the utilisation leaves nothing to prove it with.
        """
        left = 1 - self.utilisation()
        if left <= 0:
            return None
        above = sum(Fraction(cost * (t.period - t.deadline), t.period) for t, cost in zip(self.tasks, self.costs))
        return ceil((above + self.overheads.blocking + self.service + spare) / left)

    def least_slack(self, horizon, enough=None):
        """The least of `L - H(L)` over all lengths from the shortest deadline to `horizon`, and the length.

        Looks at every length where the demand jumps or bends. Ends early where less than `enough` is left.
        """
        unit = self.unit
        shortest = min(task.deadline for task in self.tasks)
        jumps = {}
        ramps = []
        for task, cost in zip(self.tasks, self.costs):
            if task.server:
                ramps.append((task.deadline, cost * unit // task.deadline, cost * unit, cost * unit // task.period))
                jumps.setdefault(task.deadline, 0)
            else:
                for due in range(task.deadline, horizon + 1, task.period):
                    jumps[due] = jumps.get(due, 0) + cost
        if self.service:
            step = self.overheads.service_period
            for length in range(-(-shortest // step) * step, horizon + 1, step):
                jumps.setdefault(length, 0)
        periodic = 0
        least = None
        for length in sorted(jumps):
            periodic += jumps[length]
            demand = (self.overheads.blocking + self.services(length) + periodic) * unit
            for deadline, slope, cost, rate in ramps:
                demand += length * slope if length < deadline else cost + (length - deadline) * rate
            slack = length * unit - demand
            if least is None or slack < least[0]:
                least = (slack, length)
                if enough is not None and slack < enough * unit:
                    break
        return Fraction(least[0], unit), least[1]

    def fits_by_deadline(self):
        """Whether the page's two tests hold. `None`: they prove nothing, as servers leave nothing of the hart."""
        if any(cost > task.deadline for task, cost in zip(self.tasks, self.costs)):
            return False
        if self.utilisation() > 1:
            return False
        horizon = self.horizon()
        if horizon is None:
            if any(task.server for task in self.tasks):
                return None
            horizon = self.busy_period()
        horizon = max(horizon, min(task.deadline for task in self.tasks))
        return self.least_slack(horizon, enough=0)[0] >= 0

    def slack(self):
        """How much further blocking does no harm, of a hart that fits with something to spare."""
        shortest = min(task.deadline for task in self.tasks)
        at_shortest, _ = self.least_slack(shortest)
        horizon = self.horizon(spare=max(at_shortest, 0))
        return self.least_slack(max(horizon, shortest))[0]

    def busy_period(self):
        """The longest time for which the hart is busy without pause, all vCPUs being periodic."""
        length = 1
        while True:
            jobs = sum(-(-length // t.period) * cost for t, cost in zip(self.tasks, self.costs))
            more = self.overheads.blocking + self.services(length) + jobs
            if more <= length:
                return length
            length = more

    # Earliest deadline first: response times.

    def offsets(self, which, busy):
        """The releases of a job within a busy period at which its response can be the longest, all being periodic.

        Where it is due with a job of one of them (Spuri).
        """
        own = self.tasks[which].deadline
        at = {0}
        for task in self.tasks:
            first = task.deadline - own
            first += max(0, -(first // task.period)) * task.period
            at.update(range(first, busy, task.period))
        return sorted(at)

    def response_by_deadline(self, which, busy=None):
        """The longest response of a vCPU, all being periodic; and the release within the busy period that has it."""
        if busy is None:
            busy = self.busy_period()
        own = self.tasks[which]
        blocking = self.overheads.blocking
        worst, worst_offset, done = 0, 0, 1
        for offset in self.offsets(which, busy):
            due = offset + own.deadline
            rows = [
                (task.period, cost, (due - task.deadline) // task.period + 1)
                for index, (task, cost) in enumerate(zip(self.tasks, self.costs))
                if index != which and task.deadline <= due
            ]
            fixed = blocking + (offset // own.period + 1) * self.costs[which]
            while True:
                more = fixed + self.services(done)
                for period, cost, most in rows:
                    jobs = -(-done // period)
                    more += cost * min(jobs, most)
                if more <= done:
                    break
                done = more
            if done - offset > worst:
                worst, worst_offset = done - offset, offset
        return worst, worst_offset

    # Response times with servers, and by priority. Sums are in parts of `1 / unit` ticks.

    def due(self, index, length):
        """What jobs of a vCPU that are released and due within a length may cost, in parts."""
        task, cost = self.tasks[index], self.costs[index]
        if not task.server:
            return max(0, (length - task.deadline) // task.period + 1) * cost * self.unit
        # Whole jobs at the end, a period from each other; before them the rest of one that was released earlier.
        jobs, rest = divmod(length, task.period)
        return jobs * cost * self.unit + min(rest, task.deadline) * cost * (self.unit // task.deadline)

    def executed(self, index, time):
        """The most that a vCPU runs within a time that begins with none of its jobs pending: the amount in parts, its
        growth by the tick, and the last time to which it grows so."""
        task, cost = self.tasks[index], self.costs[index]
        if not task.server:
            jobs = -(-time // task.period)
            return jobs * cost * self.unit, 0, jobs * task.period
        if time < cost:
            return cost * self.unit, 0, cost
        # All is due within a deadline of the start of the last job, which just ends.
        period, deadline = task.period, task.deadline
        jobs, rest = divmod(time + deadline - cost, period)
        if rest < deadline:
            growth = cost * (self.unit // deadline)
            return jobs * cost * self.unit + rest * growth, growth, time + deadline - rest
        return (jobs + 1) * cost * self.unit, 0, time + period - rest

    def needed(self, index, most):
        """The growth, as `executed` has it, of what a vCPU needs, `most` at most in all."""

        def term(time):
            value, growth, last = self.executed(index, time)
            if value >= most:
                return most, 0, None
            if growth:
                last = min(last, time + (most - value) // growth)
            return value, growth, last

        return term

    def together(self, servers):
        """The growth of what servers run together: their last jobs take the end of the time, one after the other."""

        def line(index, taken):
            task, cost = self.tasks[index], self.costs[index]
            growth = cost * self.unit // task.period

            def term(time):
                if time < taken:
                    return cost * self.unit, 0, taken
                return cost * self.unit + (time - taken) * growth, growth, None

            return term

        terms, taken = [], 0
        for index in sorted(servers, key=lambda index: self.tasks[index].period):
            taken += self.costs[index]
            terms.append(line(index, taken))
        return terms

    def done(self, fixed, choices, begin=1):
        """The least time from `begin` on in which all get what they need: the hypervisor, `fixed` parts, and the others.

        Each of the choices is a sum of growths that bounds what the others need.
        """
        unit = self.unit
        fixed += self.overheads.blocking * unit
        time = begin
        while True:
            needs = []
            for terms in choices:
                need, slope = fixed + self.services(time) * unit, 0
                end = time + unit
                if self.service:
                    end = (time // self.overheads.service_period + 1) * self.overheads.service_period - 1
                for term in terms:
                    value, growth, last = term(time)
                    need += value
                    slope += growth
                    if last is not None and last < end:
                        end = last
                lacking = need - time * unit
                if lacking <= 0:
                    return time
                # One more round, or as far as all grows evenly.
                even = end if slope >= unit else min(end, time - (-lacking // (unit - slope)))
                needs.append(max(-(-need // unit), even))
            time = min(needs)

    def kinks(self, others, first, last):
        """Times at which what others get within a time jumps or bends."""
        times = set()
        if self.service:
            step = self.overheads.service_period
            times.update(range(-(-first // step) * step, last + 1, step))
        for index in others:
            task, cost = self.tasks[index], self.costs[index]
            starts = [0, cost, cost - task.deadline] if task.server else [0]
            for start in starts:
                times.update(range(start - (start - first) // task.period * task.period, last + 1, task.period))
        return times

    def longest(self, parameters, done, begin, kinks):
        """The longest `done(x) - begin(x)` of all integers `x` of a range; both grow with `x`. With its `x`.

        `done` bends or jumps at the `parameters` mostly, and where it reaches one of the times `kinks(first, last)`.
        """
        low, high = parameters[0], parameters[-1]
        known = {}

        def at(x, least=1):
            if x not in known:
                known[x] = done(x, least)
            return known[x]

        near = {x for middle in parameters for x in (middle - 1, middle, middle + 1)}
        points = sorted(x for x in near if low <= x <= high)
        times = sorted(kinks(at(low), at(high)))
        worst = max((at(x) - begin(x), -x) for x in (low, high))
        intervals = [(low, high)]
        while intervals:
            left, right = intervals.pop()
            # Nothing between them can be longer.
            if at(right, at(left)) - begin(left + 1) <= worst[0]:
                continue
            # At the middle one of the parameters inside; without one, where the middle one of the times is reached;
            # where that is an end, at the middle.
            cuts = points[bisect_right(points, left) : bisect_left(points, right)]
            cuts = cuts[len(cuts) // 2 :][:1]
            if not cuts:
                inside = times[bisect_left(times, at(left)) : bisect_right(times, at(right))]
                for time in inside[len(inside) // 2 :][:1]:
                    for reached in (time, time + 1):
                        below, above = left, right
                        while above - below > 1:
                            middle = (below + above) // 2
                            if at(middle, at(below)) >= reached:
                                above = middle
                            else:
                                below = middle
                        cuts += [x for x in (below, above, above + 1) if left < x < right]
            cuts = cuts or [(left + right) // 2]
            worst = max([worst] + [(at(x, at(left)) - begin(x), -x) for x in cuts])
            cuts = sorted({left, right, *cuts})
            intervals.extend((a, b) for a, b in pairwise(cuts) if b - a > 1)
        return worst

    def busy_with_servers(self):
        """Like `busy_period`, of any kinds. `None`: it may never end."""
        if self.utilisation() >= 1:
            return None
        return self.done(0, [[partial(self.executed, index) for index in range(len(self.tasks))]])

    def response_with_servers(self, which):
        """The longest response by deadline of a vCPU, of any kinds, and the release that has it."""
        own = self.tasks[which]
        last = self.busy_with_servers() - 1
        rest = [index for index in range(len(self.tasks)) if index != which]
        parameters = {0, last}
        for task in self.tasks:
            for start in (0, task.deadline):
                first = start - own.deadline
                first -= first // task.period * task.period
                parameters.update(range(first, last + 1, task.period))

        def done(offset, begin):
            due = offset + own.deadline
            others = [self.needed(index, self.due(index, due)) for index in rest]
            return self.done(self.due(which, due), [others], begin)

        worst, offset = self.longest(sorted(parameters), done, lambda x: x, lambda a, b: self.kinks(rest, a, b))
        return worst, -offset

    # Fixed priorities.

    def response_by_priority(self, which):
        """The longest response of a vCPU, those before it being as urgent at least; `None`: it may exceed the deadline.

        A server that woke `woken` ticks before its deadline has the rest of that job before it, in proportion. With the
        wake-up that is the worst.
        """
        task, cost = self.tasks[which], self.costs[which]
        before = range(which)
        if cost > task.deadline or sum(Fraction(self.costs[i], self.tasks[i].period) for i in before) >= 1:
            return None
        servers = [index for index in before if self.tasks[index].server]
        implicit = [index for index in servers if self.tasks[index].deadline == self.tasks[index].period]
        choices = [
            [partial(self.executed, index) for index in before if index not in grouped] + self.together(grouped)
            for grouped in ([], servers, implicit)
        ]
        gap = task.period - task.deadline
        per_tick = cost * self.unit // task.deadline

        def begin(woken):
            return woken + gap if woken else 0

        def done(woken, begin):
            return self.done(cost * self.unit + woken * per_tick, choices, begin)

        first = done(0, 1)
        if first > task.deadline:
            return None
        if not task.server:
            return first, 0
        worst, woken = self.longest([0, 1, task.deadline], done, begin, lambda a, b: self.kinks(before, a, b))
        return None if worst > task.deadline else (worst, -woken)
