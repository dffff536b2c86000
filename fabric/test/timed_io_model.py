"""What command programs do, and when: in times of effect, with nothing of how the RTL counts them."""

import tomllib
from pathlib import Path

TABLE = tomllib.loads((Path(__file__).parent / "timed_io_commands.toml").read_text())
COMMANDS = {command["name"]: command for command in TABLE["command"]}
LATE_SCHEDULE, LATE_COMMAND, NO_PIN, STILL_RUNNING, SAMPLES_FULL, NO_END = range(1, 7)
SAMPLES_MAX, REPORTS_MAX = 32, 8


def encode(name, **values):
    """The word of a command."""
    command = COMMANDS[name]
    word = command["bits"]
    for field in command["fields"]:
        value = values.pop(field["name"])
        assert field["least"] <= value <= field["most"], (name, field, value)
        word |= value - field["less"] << field["low"]
    assert not values, values
    return word


def decode(word):
    """The command's name and its fields' values, or None where the word is no command."""
    for command in COMMANDS.values():
        covered = 0
        values = {}
        for field in command["fields"]:
            bits = (1 << field["width"]) - 1 << field["low"]
            covered |= bits
            values[field["name"]] = ((word & bits) >> field["low"]) + field["less"]
        if word & ~covered == command["bits"]:
            if all(f["least"] <= values[f["name"]] <= f["most"] for f in command["fields"]):
                return command["name"], values
    return None


class Vm:
    """One VM: its program, which lines have a pin, and all that happened so far."""

    def __init__(self, granted):
        self.program = [0] * TABLE["program_words"]
        self.granted = granted
        # (time, mask, values), times of samples, (cause, time).
        self.writes, self.samples, self.reports = [], [], []

    def run(self, entry, start):
        """A whole run; returns the time from which on the next may begin."""
        at, mark, word = start, start, entry
        left = [0, 0]
        while True:
            name, values = decode(self.program[word])
            next_word = word + 1
            if name == "end":
                return at + 1
            if name == "read":
                if len(self.samples) == SAMPLES_MAX:
                    return self.fail(SAMPLES_FULL, at)
            elif name == "write":
                if values["mask"] & ~self.granted:
                    return self.fail(NO_PIN, at)
            elif name == "until" and mark + values["cycles"] <= at:
                # Which takes a cycle to find out.
                return self.fail(LATE_COMMAND, at) + 1
            elif name == "repeat" and left[values["level"]] > 1:
                next_word = values["word"]
            if next_word == len(self.program):
                return self.fail(NO_END, at)
            # The last moment of this command.
            over = {"wait": at + values.get("cycles", 0) - 1,
                    "until": mark + values.get("cycles", 0) - 1}.get(name, at)
            if name == "read":
                self.samples.append(at)
            elif name == "write":
                self.writes.append((at, values["mask"], values["values"]))
            elif name == "loop":
                left[values["level"]] = values["count"]
            elif name == "repeat" and left[values["level"]] > 1:
                left[values["level"]] -= 1
            at = over + 1
            if name in ("wait", "until"):
                mark = at
            word = next_word

    def fail(self, cause, at):
        self.reports.append((cause, at))
        return at + 1

    def schedule(self, entry, start, period=0, runs=1):
        """Runs one after the other, and reports those that cannot begin; returns when all is over."""
        free = 0
        for _ in range(runs):
            if start < free:
                self.reports.append((STILL_RUNNING, start))
            else:
                free = self.run(entry, start)
            start += period
        self.reports.sort(key=lambda report: report[1])
        return free

    def levels(self, since, until):
        """The lines' levels in each cycle of a range."""
        changes = {at: (mask, values) for at, mask, values in self.writes}
        level, out = 0, []
        for at in range(until):
            mask, values = changes.get(at, (0, 0))
            level = level & ~mask | values & mask
            if at >= since:
                out.append(level)
        return out
