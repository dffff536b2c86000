"""A hart, simulated from event to event: the third witness beside the tool and `analysis`.

It knows nothing of demand or of response times: jobs come, the most urgent one runs, and each is done when it is done.
"""

import heapq
from functools import partial
from math import lcm


class Job:
    """Work that comes at a time."""

    def __init__(self, release, amount, urgency, deadline, task, measured=True):
        self.release = release
        self.left = amount
        # Less is more urgent.
        self.urgency = urgency
        self.deadline = deadline
        self.task = task
        # Its response counts.
        self.measured = measured
        self.done = None


def run(jobs, overheads, rng=None):
    """Runs jobs from time 0 on until all are done.

    The hypervisor takes all that it may, from the start on: its longest blocking, then its services as often as they
    may come. With `rng` it takes them at random times: a service as soon as it may or later, and blocking where a job
    comes that is more urgent than the one that runs.
    """
    coming = sorted(jobs, key=lambda job: job.release, reverse=True)
    ready = []
    now = 0
    service = overheads.service if overheads.service_period else 0
    next_service = 0 if service else None
    held = 0 if rng else overheads.blocking
    running = None
    order = 0
    while coming or ready:
        if not ready and not held and rng and coming[-1].release > now:
            # The hypervisor may be in the midst of work for best effort.
            now = coming[-1].release
            held = rng.randrange(overheads.blocking + 1)
        while coming and coming[-1].release <= now:
            job = coming.pop()
            if job.left:
                heapq.heappush(ready, (job.urgency, order, job))
                order += 1
            else:
                job.done = job.release
        if next_service is not None and now >= next_service:
            held += service
            next_service = now + overheads.service_period
            if rng:
                next_service += rng.choice((0, 0, rng.randrange(overheads.service_period)))
        stops = []
        if coming:
            stops.append(coming[-1].release)
        if next_service is not None:
            stops.append(next_service)
        if held:
            end = min([now + held, *stops])
            held -= end - now
            now = end
            continue
        if not ready:
            if not coming:
                break
            now = min(stops)
            continue
        job = ready[0][2]
        if rng and running not in (None, job) and rng.random() < 0.5:
            # The hypervisor does not look yet: it works for the one that runs, whose time that is.
            held = min(overheads.blocking, running.left - 1)
            running.left -= held
            running = None
            continue
        running = job
        end = min([now + job.left, *stops])
        job.left -= end - now
        now = end
        if not job.left:
            heapq.heappop(ready)
            job.done = now
            running = None
    return jobs


def responses(jobs, tasks):
    """The longest response of each task's jobs, and whether a job was late."""
    longest = [0] * len(tasks)
    late = False
    for job in jobs:
        if job.measured:
            longest[job.task] = max(longest[job.task], job.done - job.release)
        late = late or job.done > job.deadline
    return longest, late


def periodic_jobs(hart, offsets, end):
    """The jobs of periodic tasks that are released before a time, by deadline."""
    jobs = []
    for index, (task, cost) in enumerate(zip(hart.tasks, hart.costs)):
        for release in range(offsets[index], end, task.period):
            jobs.append(Job(release, cost, release + task.deadline, release + task.deadline, index))
    return jobs


def hyperperiod(hart):
    """After which all releases come again."""
    return lcm(*(task.period for task in hart.tasks))


def is_late_within(hart, end):
    """Whether a job is late, of those that are due by a time, all being released together."""
    jobs = [job for job in periodic_jobs(hart, [0] * len(hart.tasks), end) if job.deadline <= end]
    return responses(run(jobs, hart.overheads), hart.tasks)[1]


def response_at(hart, which, offset, jobs):
    """The response of a job of one vCPU that is released at an offset, with jobs that others have, by deadline.

    The vCPU has its own jobs before that, one in each period, and the rest of one if it is a server.
    """
    task, cost = hart.tasks[which], hart.costs[which]
    jobs = [job for job in jobs if job.task != which and job.deadline <= offset + task.deadline]
    target = Job(offset, cost, offset + task.deadline, offset + task.deadline, which)
    release = offset - task.period
    while release >= 0:
        jobs.append(Job(release, cost, release + task.deadline, release + task.deadline, which))
        release -= task.period
    due = release + task.deadline
    if task.server and due > 0:
        jobs.append(Job(0, due * cost // task.deadline, due, due, which, measured=False))
    # The last one in the list is the last among those with its deadline.
    jobs.append(target)
    for job in jobs:
        job.urgency = (job.urgency, job is target)
    run(jobs, hart.overheads)
    return target.done - offset


def server_jobs(hart, index, phase, end, urgency=None):
    """A server that goes on with a job at time 0, `phase` ticks before that is due, and wants all of the next ones."""
    task, cost = hart.tasks[index], hart.costs[index]
    jobs = []
    if phase:
        jobs.append(Job(0, phase * cost // task.deadline, urgency or phase, phase, index, measured=False))
    for release in range(phase + task.period - task.deadline, end, task.period):
        due = release + task.deadline
        jobs.append(Job(release, cost, urgency or due, due, index))
    return jobs


def worst_phase(hart, index, length):
    """The phase of a server with which the most of it is due within a length."""
    task = hart.tasks[index]
    return min(length % task.period, task.deadline)


def last_begins(hart, others, own, end):
    """Times at which the last jobs of the other servers may begin so that a response which ends at `end` is long.

    Each where the hart would have nothing else to do, those with the shortest period last; or all at a time; or so that
    they end one after the other. Jobs have whole ticks, so that what comes before is some ticks shorter than the sums
    say: they begin sooner by that.
    """
    servers = sorted((index for index in others if hart.tasks[index].server), key=lambda i: hart.tasks[i].period)
    total = sum(hart.costs[index] for index in servers)
    parts = 4
    yield as_needed(hart, others, servers, own)
    for sooner in (len(servers), end // 50):
        for part in range(parts + 1):
            yield dict.fromkeys(others, max(0, end - sooner - total * part // parts))
        begins, last = dict.fromkeys(others, end), end - sooner
        for index in servers:
            last = max(0, last - hart.costs[index])
            begins[index] = last
        yield begins


def as_needed(hart, others, servers, own):
    """When last jobs begin, each where the hart has done all else: `own` ticks of one vCPU, and the others."""
    begins = dict.fromkeys(others, 0)
    fixed = own * hart.unit

    def before_last(index):
        cost = hart.costs[index]

        def term(time):
            value, growth, last = hart.executed(index, time + cost)
            return value - cost * hart.unit, growth, last - cost

        return term

    left = list(servers)
    for number, index in enumerate(reversed(servers)):
        terms = [before_last(other) for other in left]
        terms += [partial(hart.executed, other) for other in others if not hart.tasks[other].server]
        begins[index] = max(0, hart.done(fixed, [terms]) - 2 * number - 2)
        left.remove(index)
        fixed += hart.due(index, begins[index] + hart.tasks[index].deadline)
    return begins


def other_jobs(hart, index, due, end, urgency=None):
    """What another vCPU does at worst from time 0 on: of a server, a job is due at a time."""
    task, cost = hart.tasks[index], hart.costs[index]
    if task.server:
        return server_jobs(hart, index, worst_phase(hart, index, due), end, urgency)
    return [
        Job(release, cost, urgency or release + task.deadline, release + task.deadline, index)
        for release in range(0, end, task.period)
    ]


def reached_by_deadline(hart, which, offset, bound):
    """A response that one vCPU reaches by deadline, with what others do at worst near an offset."""
    task = hart.tasks[which]
    due = offset + task.deadline
    others = [index for index in range(len(hart.tasks)) if index != which]
    reached = 0
    for begins in last_begins(hart, others, task.budget, offset + bound):
        jobs = []
        for index in others:
            jobs += other_jobs(hart, index, min(due, begins[index] + hart.tasks[index].deadline), due + 1)
        reached = max(reached, response_at(hart, which, offset, jobs))
    return reached


def reached_by_priority(hart, which, woken, bound):
    """A response that one vCPU reaches by priority, where it woke so long before its deadline."""
    task, cost = hart.tasks[which], hart.costs[which]
    release = woken + task.period - task.deadline if woken else 0
    end = release + bound
    reached = 0
    for begins in last_begins(hart, range(which), cost + woken * cost // task.deadline, end):
        jobs = []
        for index in range(which):
            jobs += other_jobs(hart, index, begins[index] + hart.tasks[index].deadline, end, index - which)
        if woken:
            jobs.append(Job(0, woken * cost // task.deadline, 0, woken, which, measured=False))
        target = Job(release, cost, 0, release + task.deadline, which)
        run([*jobs, target], hart.overheads)
        reached = max(reached, target.done - release)
    return reached
