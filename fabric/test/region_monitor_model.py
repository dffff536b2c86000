"""What the region monitor has to find: the policy, as a few lines of Python."""

IDLE, BUSY = 0, 1
UNAVAILABLE, ASSIGN, PREEMPT, NO_ROOM = range(4)


def solve(regions, compatibility, task, priority):
    """The best region for a task: (method, region, whether it has to be configured).

    regions: (state, loaded task, client's priority) each, the smallest first; compatibility: the regions by task.
    """
    fits = [i for i in range(len(regions)) if task and i in compatibility.get(task, ())]
    idle = [i for i in fits if regions[i][0] == IDLE]
    loaded = [i for i in idle if regions[i][1] == task]
    lower = [i for i in fits if regions[i][0] == BUSY and regions[i][2] < priority]
    if loaded:
        return ASSIGN, loaded[0], False
    if idle:
        return ASSIGN, idle[0], True
    if lower:
        return PREEMPT, lower[0], regions[lower[0]][1] != task
    return UNAVAILABLE, 0, False


class Monitor:
    """Requests that wait, and what is found for them."""

    def __init__(self, compatibility, room):
        self.compatibility, self.room = compatibility, room
        self.regions = []
        # Client, task, priority; the highest priority first, and who came first before who came later.
        self.waiting = []

    def withdraw(self, client):
        self.waiting = [entry for entry in self.waiting if entry[0] != client]

    def request(self, client, task, priority):
        self.withdraw(client)
        method, region, configure = solve(self.regions, self.compatibility, task, priority)
        if method == UNAVAILABLE:
            if len(self.waiting) == self.room:
                return NO_ROOM, 0, False
            self.waiting.append((client, task, priority))
            self.waiting.sort(key=lambda entry: -entry[2])
        return method, region, configure

    def found(self):
        """The first that waits for which there is a region: (method, region, configure, client, task), or None."""
        for client, task, priority in self.waiting:
            method, region, configure = solve(self.regions, self.compatibility, task, priority)
            if method != UNAVAILABLE:
                return method, region, configure, client, task
        return None
