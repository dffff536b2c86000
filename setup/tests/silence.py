#!/usr/bin/env python3
"""Runs a command as a user without a terminal sees it, and measures how long it says nothing.

    silence.py [--limit SECONDS] [--longest N] COMMAND [ARGUMENT...]

Passes on what the command writes to a pipe. Ends with the N (5) longest silences, each with the line before it, on
stderr. Exit code: that of the command; 1 where it passed but was silent for longer than the limit.
"""

import argparse
import os
import subprocess
import sys
import time


def last_line(text):
    """The last line with something on it; what was written over with carriage returns counts as lines."""
    lines = [line.strip() for line in text.replace(b"\r", b"\n").split(b"\n")]
    return next((line for line in reversed(lines) if line), b"").decode(errors="replace")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--limit", type=float, metavar="SECONDS")
    options.add_argument("--longest", type=int, default=5, metavar="N")
    options.add_argument("command", nargs=argparse.REMAINDER)
    asked = options.parse_args()
    if not asked.command:
        options.error("which command?")

    silences, recent = [], b""
    begin = heard = time.monotonic()
    with subprocess.Popen(asked.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        while True:
            output = os.read(process.stdout.fileno(), 1 << 16)
            now = time.monotonic()
            silences.append((now - heard, heard - begin, last_line(recent)))
            heard = now
            if not output:
                break
            recent = (recent + output)[-4096:]
            sys.stdout.buffer.write(output)
            sys.stdout.buffer.flush()
    silences.sort(reverse=True)
    print(f"\nsilence: {now - begin:.1f} s; the longest silences:", file=sys.stderr)
    for length, at, line in silences[:asked.longest]:
        print(f"  {length:6.1f} s, {at:7.1f} s after the start, after: {line or '(nothing yet)'}", file=sys.stderr)
    if process.returncode == 0 and asked.limit is not None and silences[0][0] > asked.limit:
        print(f"silence: longer than {asked.limit:g} s", file=sys.stderr)
        return 1
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


sys.exit(main())
