"""What the ready queue has to do, in the plainest form: a list for each priority."""

from enum import IntEnum


class Op(IntEnum):
    INSERT_TAIL = 0
    INSERT_HEAD = 1
    REMOVE = 2
    NEXT = 3
    TAKE = 4
    PEEK = 5
    TAKE_HIGHEST = 6
    PEEK_HIGHEST = 7


class Status(IntEnum):
    DONE = 0
    EMPTY = 1
    QUEUED = 2
    ABSENT = 3
    INVALID = 4


class Model:
    def __init__(self, depth, priorities):
        self.depth = depth
        self.lists = [[] for _ in range(priorities)]
        self.level = {}

    def first(self, below=None):
        """The (handle, priority) that comes first, of all or of the priorities below one."""
        for priority in reversed(range(len(self.lists) if below is None else below)):
            if self.lists[priority]:
                return self.lists[priority][0], priority
        return None

    def take(self, handle):
        priority = self.level.pop(handle)
        self.lists[priority].remove(handle)
        return priority

    def apply(self, op, priority, handle):
        """Does a command; gives its status, and with DONE the handle and priority of the answer."""
        if op in (Op.INSERT_TAIL, Op.INSERT_HEAD, Op.REMOVE, Op.NEXT) and handle >= self.depth:
            return Status.INVALID, None
        if op in (Op.INSERT_TAIL, Op.INSERT_HEAD):
            if handle in self.level:
                return Status.QUEUED, None
            self.level[handle] = priority
            self.lists[priority].insert(0 if op == Op.INSERT_HEAD else self.depth, handle)
            return Status.DONE, (handle, priority)
        if op in (Op.REMOVE, Op.NEXT):
            if handle not in self.level:
                return Status.ABSENT, None
            if op == Op.REMOVE:
                return Status.DONE, (handle, self.take(handle))
            priority = self.level[handle]
            behind = self.lists[priority][self.lists[priority].index(handle) + 1:]
            found = (behind[0], priority) if behind else self.first(below=priority)
        elif op in (Op.TAKE, Op.PEEK):
            found = (self.lists[priority][0], priority) if self.lists[priority] else None
        else:
            found = self.first()
        if found is None:
            return Status.EMPTY, None
        if op in (Op.TAKE, Op.TAKE_HIGHEST):
            self.take(found[0])
        return Status.DONE, found
