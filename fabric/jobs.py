"""Jobs of the fabric's flow: each runs a tool in a folder of its own, and its result is kept by a hash of its inputs.

A job's key covers what decides its result, and nothing else: the inputs, the settings, the versions of the tools and the
modules of the flow in its `code`, of which this one decides nothing. File names count from the project's root: all clones of
the user share results.
"""

import concurrent.futures
import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

FABRIC = Path(__file__).resolve().parent
ROOT = FABRIC.parent
BUILD = ROOT / "build" / "fabric"
PYTHON = ROOT / "build" / "setup" / "python"
PASSED = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tactus" / "fabric"

# No job of `make test` and `make prove` comes near this; one that does hangs.
JOB_SECONDS_MAX = 480


class Failure(Exception):
    """A job that failed; the text is for the user."""


@dataclass
class Job:
    """Something to run. `run` gets a fresh folder, returns a result for JSON, and raises Failure."""

    name: str
    run: callable
    reads: list[Path]
    settings: dict
    # Its files are wanted, and not only its result: it always runs.
    always: bool = False
    # The modules of the flow that decide its result.
    code: list[Path] = field(default_factory=lambda: [FABRIC / "flow.py"])

    def key(self):
        """A hash of all that the job's result depends on."""
        digest = hashlib.sha256()
        described = {"name": self.name, "settings": self.settings, "tools": tools()}
        digest.update(json.dumps(described, sort_keys=True, default=from_root).encode())
        for path in [*self.code, *self.reads]:
            digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()

    def folder(self):
        return BUILD / self.name.replace(" ", "/")

    def remembered(self):
        """The file of the result, which is there once the job has passed."""
        return PASSED / self.key()


def from_root(value):
    """A path as part of a key: where it is within the project."""
    return os.path.relpath(value, ROOT) if isinstance(value, Path) else str(value)


def known(job):
    """The result of a job that has passed with these inputs, or None; runs nothing."""
    remembered = job.remembered()
    return json.loads(remembered.read_text()) if remembered.is_file() else None


_tools = None


def tools():
    """The versions of the tools, as part of each result's key."""
    global _tools
    if _tools is None:
        verilator = subprocess.run(["verilator", "--version"], capture_output=True, text=True, check=True).stdout
        packages = (ROOT / "setup" / "requirements.txt").read_text().splitlines()
        _tools = [verilator, sorted(line for line in packages if line.strip() and not line.startswith("#"))]
    return _tools


def perform(job):
    """Runs one job unless its result is remembered: (passed, result or message, seconds or None when remembered)."""
    remembered = job.remembered()
    if remembered.is_file() and not job.always:
        return True, json.loads(remembered.read_text()), None
    folder = job.folder()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    begin = time.monotonic()
    try:
        result = job.run(folder)
    except Failure as failure:
        return False, str(failure), time.monotonic() - begin
    remembered.parent.mkdir(parents=True, exist_ok=True)
    # Whole or not at all: another run may be reading.
    with tempfile.NamedTemporaryFile("w", dir=remembered.parent, delete=False) as file:
        json.dump(result, file)
    os.replace(file.name, remembered)
    return True, result, time.monotonic() - begin


def perform_all(jobs, workers, begin_within=None):
    """Runs jobs side by side and says how each went. Returns the results by name, or None for those that failed.

    A job that is not remembered and has not begun after `begin_within` seconds is left out: the results do not have it.
    """
    results = {}
    remembered = 0
    left_out = []
    begin = time.monotonic()

    def perform_in_time(job):
        late = begin_within is not None and time.monotonic() - begin > begin_within
        return None if late and known(job) is None else perform(job)

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        running = {pool.submit(perform_in_time, job): job for job in jobs}
        for future in concurrent.futures.as_completed(running):
            job = running[future]
            outcome = future.result()
            if outcome is None:
                left_out.append(job.name)
                continue
            passed, result, seconds = outcome
            results[job.name] = result if passed else None
            if seconds is None:
                remembered += 1
            elif passed:
                print(f"  passed   {job.name:<56} {seconds:6.1f} s", flush=True)
            else:
                print(f"  FAILED   {job.name:<56} {seconds:6.1f} s", flush=True)
                print("".join(f"           {line}\n" for line in result.splitlines()), end="", flush=True)
    if remembered:
        print(f"  {remembered} of {len(jobs)} as before: nothing that they read has changed")
    if left_out:
        names = sorted({' '.join(name.split()[:2]) for name in left_out})
        print(f"  LEFT OUT for want of time, {len(left_out)} of {len(jobs)} jobs, of: {', '.join(names)}")
    return results


def command(arguments, folder, log, seconds=JOB_SECONDS_MAX, environment=None):
    """Runs a tool in a folder with its output in a file there; returns (exit code, output)."""
    with open(folder / log, "w") as out:
        process = subprocess.Popen([str(a) for a in arguments], cwd=folder, stdout=out, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL, start_new_session=True,
                                   env={**os.environ, **(environment or {})})
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise Failure(f"gave up after {seconds} s; see {relative(folder / log)}") from error
        finally:
            # With all that it started, also when this program is interrupted.
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    return code, (folder / log).read_text(errors="replace")


def relative(path):
    return os.path.relpath(path, ROOT)


def tail(text, lines=25):
    return "\n".join(text.rstrip().splitlines()[-lines:])
