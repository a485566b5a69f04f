"""What decides whether a change lands, on two cores. Needs git, make and Python's standard library.

    .ci/run             the steps that always run, and those whose turn it is
    .ci/run --list      only says which, and for how long
    CI_ALL=1 .ci/run    all steps, which takes twice as long

It works in a fresh clone of HEAD in a temporary folder, build-ci-*, so that nothing is used that was built before, and starts with the two
commands of README.md in their order. It is not everything. What repeats most on other releases of PyTorch, and the full tiers, take turns:
the hash of the commit says which of five it is (CI_TURN=N does too), so each step runs within a few submissions, and CI_ALL=1 runs all. Of
tests/mutants a tenth is tried, drawn by the commit, and of PyTorch's other minor releases one, with a few trainings (CI_MINOR=2.4.1 names it;
tools/torch tries more of a release). No run here has: on 2.6 and 2.10 the full tier of anything but the workloads, a machine without what
tools/setup installs (tools/fresh-machine), the hour-long fuzzing (tests/fuzz/run --minutes 60), a real card. Estimates are held against runs on real cards if ../shared/truth lies beside
the checkout (CI_TRUTH=PATH names another place). The last table has a line for every step that was left out, with the reason.

In a step nothing may be missing: a test that lacks a program, which elsewhere is skipped, fails (CI=true in the environment says so
to tests/run). What is skipped for another reason is printed with it and counted, not passed.

A step is a row of STEPS; to add one, add a row. Its seconds are what it may take on a calm machine, and those of a turn may
add up to BUDGET: with a row too many, .ci/run says so instead of running. A step is ended when its seconds are used up
three times, or when CI_SECONDS (4800; 10000 for all steps) are; either is a failure. One that takes turns is not started unless
there is time for it: then it is left out, which the last table says. Beside the time stands that of the processor, which
depends less on what else the machine does.

Ends with `N passed, N failed` over all steps and a non-zero status if anything failed. The clone is
kept if something failed.
"""
import collections
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
ALL = os.environ.get("CI_ALL", "0") not in ("", "0")
LIMIT = int(os.environ.get("CI_SECONDS") or ("10000" if ALL else "4800"))
BUDGET = 58 * 60
TRUTH = Path(os.environ.get("CI_TRUTH") or HERE.parent / "shared" / "truth").resolve()
TURNS = 5
ALWAYS = range(TURNS)
SUM = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")

# The groups in which something depends on the release of PyTorch, in two halves that take about as long: what runs inside of the
# program, and what is made of its record.
INSIDE = "attribution calls capture conformance golden imports kinds ladder large live measure releases steps traces tuning values world"
OUTSIDE = "calibrate cli estimate evaluate export files fit import pytest ranks stack time verify"
# Those with which it can be told that a release still gives the same figures.
FIGURES = "calls e2e golden imports"
# Those with tests that only the full tier has.
FULL = "attribution capture conformance dataset e2e evaluate files fit kinds large live networks page ranks values wheel world"

Step = collections.namedtuple("Step", "name turns seconds command")
STEPS = [Step(*row) for row in (
    # name, turns, seconds, command
    ("make demo", ALWAYS, 120, "make demo"),
    ("make test", ALWAYS, 1000, "make test"),
    *((f"lint, fifth {turn}", (turn,), 250, f"env LINT_PART={turn}/{TURNS} make lint") for turn in range(TURNS)),
    ("sanitizers", ALWAYS, 240, "make sanitize"),
    ("threads", ALWAYS, 90, "make tsan STRESS_SECONDS=30"),
    ("fuzz", ALWAYS, 140, "tests/fuzz/run"), # 20,000 executions of each target
    ("mutants", ALWAYS, 250, "tests/mutants/run --tenth"),
    ("truth", ALWAYS, 130, f"tests/run --truth {TRUTH} truth"),
    ("figures of 2.6.0", (2, 3, 4), 105, f"tests/run --torch 2.6.0 {FIGURES}"),
    ("figures of 2.10.0", (0, 1, 4), 105, f"tests/run --torch 2.10.0 {FIGURES}"),
    ("2.6.0, inside", (0,), 430, f"tests/run --torch 2.6.0 {INSIDE}"),
    ("2.6.0, outside", (1,), 430, f"tests/run --torch 2.6.0 {OUTSIDE}"),
    ("2.10.0, inside", (2,), 430, f"tests/run --torch 2.10.0 {INSIDE}"),
    ("2.10.0, outside", (3,), 430, f"tests/run --torch 2.10.0 {OUTSIDE}"),
    ("workloads of 2.6.0", (2,), 350, "tests/run --tier full --torch 2.6.0 e2e world"),
    ("workloads of 2.10.0", (0,), 350, "tests/run --tier full --torch 2.10.0 e2e world"),
    # `make test` was the fast tier of 2.15.0. These groups have more.
    ("full tier of 2.15.0", (4,), 850, f"tests/run --tier full {FULL}"),
    # Projects of other people, a fifth of the rows of tests/projects/cases.tsv each turn; `make test` has the page and the fast rows.
    *((f"projects, fifth {turn}", (turn,), 160, f"env PLM_PART={turn}/{TURNS} tests/run --tier full projects") for turn in range(TURNS)),
    # Here NVIDIA's own libraries lie beside PyTorch: the replacements must win.
    ("with NVIDIA's packages", (3,), 150, "tests/run --torch 2.15.0-nvidia attribution calls e2e golden imports"),
    # Of the others of tests/envs/minors.txt one, drawn by the commit.
    ("another minor release", (1, 3), 150, "tests/run minors -k MINOR/"),
    ("PyTorch without CUDA", (1,), 110, "tests/run --torch 2.13.0-cpu capture"),
)]
# A step for which this command fails is left out: not every package index has such a build, nor everybody measured runs.
NEEDS = {"PyTorch without CUDA": "tools/setup torch 2.13.0-cpu", "truth": f"test -e {TRUTH}"}


class Result:
    """What became of a step. A command that prints no sum counts as one test."""

    def __init__(self, step):
        self.step, self.used, self.cpu = step, 0.0, 0.0
        self.passed = self.failed = self.skipped = 0
        self.left_out, self.broken = "", ""

    def line(self):
        name = f"{self.step.name:<24}"
        if self.left_out:
            return f"{name} left out: {self.left_out}"
        sums = f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"
        late = ", over its budget" if self.used > self.step.seconds else ""
        return f"{name} {self.used:6.0f} s of {self.step.seconds:5} s, processor {self.cpu:6.0f} s   {sums}{late}" + (f"; {self.broken}" if self.broken else "")


def children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Runner:
    def __init__(self, place):
        self.place, self.process, self.stopped = place, None, False
        self.end = time.monotonic() + LIMIT
        # Tests that lack a program fail. Their own children do not see this.
        self.env = {**os.environ, "CI": "true"}

    def left(self):
        return self.end - time.monotonic()

    def stop(self, *_):
        """For a signal: the step that runs is ended, no other is started."""
        self.stopped = True
        self.send(signal.SIGTERM)

    def send(self, number):
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, number)

    def end_late(self, result, why):
        """SIGTERM, so that tests/run can end what it started and add up; ten seconds later SIGKILL."""
        result.broken = why
        self.send(signal.SIGTERM)
        timer = threading.Timer(10, self.send, [signal.SIGKILL])
        timer.daemon = True
        timer.start()

    def run(self, step):
        result, always = Result(step), step.turns == ALWAYS
        allowed = min(3 * step.seconds, self.left())
        if self.stopped or allowed <= 0 or (not always and self.left() < step.seconds):
            result.left_out = "stopped" if self.stopped else f"no time, {max(self.left(), 0):.0f} s are left"
            result.failed = int(always)
            return result
        if step.name in NEEDS and subprocess.run(NEEDS[step.name].split(), cwd=self.place, env=self.env, capture_output=True).returncode:
            result.left_out = f"`{NEEDS[step.name]}` fails here"
            return result
        print(f"==== {step.name}: {step.command} ({step.seconds} s)", flush=True)
        started, cpu, sums = time.monotonic(), children(), None
        self.process = subprocess.Popen(step.command.split(), cwd=self.place, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        timer = threading.Timer(allowed, self.end_late, [result, f"ended after {allowed:.0f} s"])
        timer.start()
        for line in self.process.stdout:
            print(line, end="", flush=True)
            sums = SUM.match(line.rstrip("\n")) or sums
        status = self.process.wait()
        timer.cancel()
        result.used, result.cpu = time.monotonic() - started, children() - cpu
        result.passed, result.failed, result.skipped = (int(n or 0) for n in sums.groups()) if sums else (int(status == 0), 0, 0)
        if status and not result.broken:
            result.broken = f"status {status}"
        result.failed += int(bool(result.broken) and not result.failed)
        print(f"==== {result.line()}", flush=True)
        return result


def git(*words):
    return subprocess.run(["git", "-C", str(HERE), *words], check=True, capture_output=True, text=True).stdout.strip()


def clone():
    """HEAD, in a folder of its own."""
    place = Path(tempfile.mkdtemp(prefix="build-ci-", dir=HERE)) / "plimsoll"
    git("clone", "--quiet", "--no-hardlinks", str(HERE), str(place))
    subprocess.run(["git", "checkout", "--quiet", "--detach", git("rev-parse", "HEAD")], cwd=place, check=True)
    stale = [path.name for path in place.glob("build*")]
    if stale:
        sys.exit(f".ci/run: a fresh clone has {', '.join(stale)}")
    return place


def seconds(steps):
    return sum(step.seconds for step in steps)


def of_turn(turn):
    return [step for step in STEPS if turn in step.turns]


# A line that says what a group has, the groups of which a step runs that, what it is.
MORE = (("@full", FULL, "the full tier of {}"), ("# each: torch", f"{INSIDE} {OUTSIDE} {FIGURES}", "{} on other releases of PyTorch"))


def never_run():
    """What groups have and no step runs."""
    for path in sorted((HERE / "tests" / "groups").iterdir()):
        lines = path.read_text().splitlines() if os.access(path, os.X_OK) and path.is_file() else []
        yield from (what.format(path.name) for line, groups, what in MORE if line in lines and path.name not in groups.split())


def minor():
    """The minor release of PyTorch whose turn it is (CI_MINOR=2.4.1 names one)."""
    known = re.findall(r"^torch==([\d.]+)$", (HERE / "tests" / "envs" / "minors.txt").read_text(), re.M)
    return os.environ.get("CI_MINOR") or known[int(git("rev-parse", "HEAD")[8:16], 16) % len(known)]


def chosen():
    """The steps of this run, and the others."""
    STEPS[:] = [step._replace(command=step.command.replace("MINOR", minor())) for step in STEPS]
    if forgotten := list(never_run()):
        sys.exit(f".ci/run: in no step: {', '.join(forgotten)}")
    for turn in range(TURNS):
        if seconds(of_turn(turn)) > BUDGET:
            sys.exit(f".ci/run: the steps of turn {turn} may take {seconds(of_turn(turn))} s, which is more than {BUDGET}")
    turn = int(os.environ.get("CI_TURN") or int(git("rev-parse", "HEAD")[:8], 16)) % TURNS
    now = STEPS if ALL else of_turn(turn)
    print(f"turn {turn} of 0 to {TURNS - 1}{', and all others' if ALL else ''}: budget {seconds(now)} s, limit {LIMIT} s", flush=True)
    return now, [step for step in STEPS if step not in now]


def not_now(step):
    return f"its turn is {' or '.join(map(str, step.turns))}; CI_ALL=1 runs it"


def main():
    now, others = chosen()
    if "--list" in sys.argv:
        for step in now:
            print(f"{step.name:<24} {step.seconds:5} s  {step.command}")
        for step in others:
            print(f"{step.name:<24} left out: {not_now(step)}")
        return 0
    if git("status", "--porcelain"):
        print("what is not committed is not tested", flush=True)
    place = clone()
    runner = Runner(place)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, runner.stop)
    started = time.monotonic()
    results = [runner.run(step) for step in now]
    for step in others:
        result = Result(step)
        result.left_out = not_now(step)
        results.append(result)
    print("==== budget")
    for result in results:
        print(result.line())
    print(f"{'in all':<24} {time.monotonic() - started:6.0f} s of {LIMIT:5} s, processor {sum(result.cpu for result in results):6.0f} s")
    passed, failed, skipped = (sum(getattr(result, name) for result in results) for name in ("passed", "failed", "skipped"))
    if failed:
        print(f"kept: {place}")
    else:
        shutil.rmtree(place.parent, ignore_errors=True)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
