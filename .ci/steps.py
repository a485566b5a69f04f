"""What decides whether a change lands, on two cores. Needs root, git, make and Python's standard library.

    .ci/run             the steps that always run, and those whose turn it is
    .ci/run --list      only says which, and for how long
    CI_ALL=1 .ci/run    all steps, which takes twice as long

The two commands of README.md come first, on a machine that has nothing else: tools/fresh-machine runs them in a minimal Debian, so that nothing that
somebody installed here by hand is seen. The other steps work in a fresh clone of HEAD in a temporary folder, build-ci-*. They are not everything.
What repeats most on other releases of PyTorch, the full tiers and the less used targets of the Makefile take turns: the date says which of six it is,
a new one every four hours, in another order every day, and nothing in a commit can change that: who submits at the same hour every day gets all of
them, on a machine without a memory too. CI_TURN=N is for trying; such a run is not remembered. Of tests/mutants a tenth is tried, and of PyTorch's
other minor releases one, with a few trainings, both drawn by the date (CI_MINOR=2.4.1 names it; tools/torch tries more of a release). No run here
has: on 2.6 and 2.10 the full tier of anything but the workloads, the hour-long fuzzing (tests/fuzz/run --minutes 60), a real card. Estimates are held
against runs on real cards if ../shared/truth lies beside the checkout (CI_TRUTH=PATH names another place).

What was not run is not green by itself. CI remembers, in the folder ci of the cache, in which submission each step last ran. A step that has
waited for OVERDUE submissions runs before those whose turn it is; one that has waited for MOST fails the run, whether its turn never came,
time was short, or something that it needs is missing. The last table has a line for every step that was left out: why, and how many submissions ago
it ran. A step that always runs and cannot fails at once.

In a step nothing may be missing: a test that lacks a program, which elsewhere is skipped, fails (CI=true in the environment says so
to tests/run). What is skipped for another reason is printed with it and counted, not passed.

A step is a row of STEPS; to add one, add a row. Its seconds are what it may take on a calm machine, and those of a turn may
add up to BUDGET: with a row too many, .ci/run says so instead of running. A step is ended when its seconds are used up
three times, or when CI_SECONDS (4800; 10000 for all steps) are; either is a failure. One that takes turns is not started unless
there is time for it. Beside the time stands that of the processor, which depends less on what else the machine does.

Ends with `N passed, N failed` over all steps and a non-zero status if anything failed. The clone is
kept if something failed.
"""
import collections
import json
import os
import re
import resource
import shlex
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
OVERDUE, MOST = 4, 6  # submissions
SLOT = int(time.time() // (4 * 3600))  # of the date
MEMORY = Path(os.environ.get("PLIMSOLL_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll") / "ci" / "steps.json"
TRUTH = Path(os.environ.get("CI_TRUTH") or HERE.parent / "shared" / "truth").resolve()
TURNS = 6
ALWAYS = range(TURNS)
SUM = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")

# The groups in which something depends on the release of PyTorch, in two halves that take about as long: what runs inside of the
# program, and what is made of its record.
INSIDE = "attribution calls capture conformance descriptors golden imports kinds ladder large lines live measure releases steps traces tuning values world"
OUTSIDE = "calibrate cli estimate evaluate export files fit import pytest questions ranks stack sweep time verify"
# Those with which it can be told that a release still gives the same figures.
FIGURES = "calls e2e golden imports"
# Those with tests that only the full tier has, in two halves as well.
FULL_INSIDE = "attribution conformance e2e kinds large live ranks values world"
FULL_OUTSIDE = "capture dataset evaluate files fit networks page sweep wheel"

Step = collections.namedtuple("Step", "name turns seconds command")


def torch(version, groups, tier="fast"):
    return f"make test TORCH={version} TEST_ARGS='--tier {tier} {groups}'"


STEPS = [Step(*row) for row in (
    # name, turns, seconds, command
    ("make demo, make test", ALWAYS, 1150, "tools/fresh-machine --wheels"),
    # Targets that nothing else here calls. Each is the first of its turn that builds, so that it does all by itself.
    ("make bench", (3,), 90, "make bench BENCH_ARGS='--rounds 1 replay'"),
    ("make install", (1,), 60, "make install DESTDIR=build-ci-install"),
    ("make docs", (2,), 60, "make docs"),
    ("make torch", (5,), 250, "make torch VERSION=2.15.0"),
    ("make wheel", (4,), 90, "make wheel"),
    *((f"lint, sixth {turn}", (turn,), 240, f"env LINT_PART={turn}/{TURNS} make lint") for turn in range(TURNS)),
    ("sanitizers", ALWAYS, 240, "make sanitize"),
    ("threads", ALWAYS, 90, "make tsan STRESS_SECONDS=30"),
    ("fuzz", ALWAYS, 140, "tests/fuzz/run"), # 20,000 executions of each target
    ("mutants", ALWAYS, 400, f"tests/mutants/run --tenth {SLOT}"),
    ("truth", ALWAYS, 130, f"make test TRUTH={TRUTH} TEST_ARGS=truth"),
    ("figures of 2.6.0", (2, 3, 4), 105, torch("2.6.0", FIGURES)),
    ("figures of 2.10.0", (0, 1, 5), 105, torch("2.10.0", FIGURES)),
    ("2.6.0, inside", (0,), 430, torch("2.6.0", INSIDE)),
    ("2.6.0, outside", (1,), 490, torch("2.6.0", OUTSIDE)),
    ("2.10.0, inside", (2,), 430, torch("2.10.0", INSIDE)),
    ("2.10.0, outside", (3,), 490, torch("2.10.0", OUTSIDE)),
    ("workloads of 2.6.0", (2,), 350, torch("2.6.0", "e2e world", "full")),
    ("workloads of 2.10.0", (0,), 350, torch("2.10.0", "e2e world", "full")),
    # `make test` was the fast tier of 2.15.0. These groups have more.
    ("full tier, inside", (4,), 450, torch("2.15.0", FULL_INSIDE, "full")),
    ("full tier, outside", (5,), 490, torch("2.15.0", FULL_OUTSIDE, "full")),
    # Projects of other people, a sixth of the rows of tests/projects/cases.tsv each turn; `make test` has the page and the fast rows.
    *((f"projects, sixth {turn}", (turn,), 140, f"env PLM_PART={turn}/{TURNS} {torch('2.15.0', 'projects', 'full')}") for turn in range(TURNS)),
    # Here NVIDIA's own libraries lie beside PyTorch: the replacements must win.
    ("with NVIDIA's packages", (3,), 150, torch("2.15.0-nvidia", "attribution calls e2e golden imports")),
    # Of the others of tests/envs/minors.txt one, drawn by the date.
    ("another minor release", (1, 4), 150, "make test TEST_ARGS='minors -k MINOR/'"),
    ("PyTorch without CUDA", (1,), 110, torch("2.13.0-cpu", "capture")),
)]
# A step for which this command fails cannot be run here: not every package index has such a build, nor everybody measured runs.
NEEDS = {"PyTorch without CUDA": "tools/setup torch 2.13.0-cpu", "truth": f"test -e {TRUTH}"}


class Memory:
    """In which submission each step last ran, or was first seen. Runs of the same commit are one submission."""

    def __init__(self):
        try:
            kept = json.loads(MEMORY.read_text())
            self.submissions, self.ran = list(kept["submissions"]), dict(kept["ran"])
        except (OSError, ValueError, KeyError, TypeError):
            self.submissions, self.ran = [], {}

    def begin(self):
        commit = git("rev-parse", "HEAD")
        if self.submissions[-1:] != [commit]:
            self.submissions.append(commit)
        for step in STEPS:
            self.ran.setdefault(step.name, len(self.submissions) - 1)

    def age(self, step):
        return len(self.submissions) - self.ran.get(step.name, len(self.submissions))

    def ago(self, step):
        age = self.age(step)
        return f"{age} submission{'s' * (age > 1)} without it" if age else "it ran in this submission"

    def keep(self, results):
        for result in results:
            if not result.left_out:
                self.ran[result.step.name] = len(self.submissions)
        MEMORY.parent.mkdir(parents=True, exist_ok=True)
        new = MEMORY.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps({"submissions": self.submissions, "ran": self.ran}, indent=1) + "\n")
        new.rename(MEMORY)


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
        elif step.name in NEEDS and subprocess.run(shlex.split(NEEDS[step.name]), cwd=self.place, env=self.env, capture_output=True).returncode:
            result.left_out = f"`{NEEDS[step.name]}` fails here"
        if result.left_out:
            result.failed = int(always)
            return result
        print(f"==== {step.name}: {step.command} ({step.seconds} s)", flush=True)
        started, cpu, sums = time.monotonic(), children(), None
        self.process = subprocess.Popen(shlex.split(step.command), cwd=self.place, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
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


def turn_of(slot):
    """Six of the four-hour slots are a day: without its number, an hour of the day would always have the same turn."""
    return (slot + slot // 6) % TURNS


def of_turn(turn):
    return [step for step in STEPS if turn in step.turns]


# A line that says what a group has, the groups of which a step runs that, what it is.
MORE = (("@full", f"{FULL_INSIDE} {FULL_OUTSIDE}", "the full tier of {}"), ("# each: torch", f"{INSIDE} {OUTSIDE} {FIGURES}", "{} on other releases of PyTorch"))


def never_run():
    """What groups have and no step runs."""
    for path in sorted((HERE / "tests" / "groups").iterdir()):
        lines = path.read_text().splitlines() if os.access(path, os.X_OK) and path.is_file() else []
        yield from (what.format(path.name) for line, groups, what in MORE if line in lines and path.name not in groups.split())


def minors():
    return re.findall(r"^torch==([\d.]+)$", (HERE / "tests" / "envs" / "minors.txt").read_text(), re.M)


def minor():
    """The minor release of PyTorch whose turn it is (CI_MINOR=2.4.1 names one)."""
    return os.environ.get("CI_MINOR") or minors()[SLOT % len(minors())]


def check_steps():
    if forgotten := list(never_run()):
        sys.exit(f".ci/run: in no step: {', '.join(forgotten)}")
    for turn in range(TURNS):
        if seconds(of_turn(turn)) > BUDGET:
            sys.exit(f".ci/run: the steps of turn {turn} may take {seconds(of_turn(turn))} s, which is more than {BUDGET}")


def chosen(turn, memory):
    """The steps of this run in their order, and {name: why} of the others: what always runs, what is overdue, what has its turn, while
    the budget lasts."""
    if ALL:
        return STEPS, {}
    overdue = sorted((step for step in STEPS if memory.age(step) >= OVERDUE), key=memory.age, reverse=True)
    now, others = [step for step in STEPS if step.turns == ALWAYS], {}
    for step in [*overdue, *of_turn(turn)]:
        if step in now:
            continue
        if seconds(now) + step.seconds <= BUDGET:
            now.append(step)
            others.pop(step.name, None)
        else:
            others[step.name] = "no room beside what is overdue"
    for step in STEPS:
        if step not in now:
            others.setdefault(step.name, f"its turn is {' or '.join(map(str, step.turns))}")
    return [step for step in STEPS if step in now], others


def left_out(step, why, memory):
    """Not green for ever: what has not run for too long fails."""
    result = Result(step)
    result.left_out = f"{why}; {memory.ago(step)}"
    result.skipped = 1
    if memory.age(step) >= MOST:
        result.failed, result.skipped = 1, 0
        result.left_out += f", {MOST} are too many"
    return result


def tell(results, started):
    print("==== budget")
    for result in results:
        print(result.line())
    print(f"{'in all':<24} {time.monotonic() - started:6.0f} s of {LIMIT:5} s, processor {sum(result.cpu for result in results):6.0f} s")


def main():
    STEPS[:] = [step._replace(command=step.command.replace("MINOR", minor())) for step in STEPS]
    check_steps()
    memory, trying = Memory(), bool(os.environ.get("CI_TURN"))
    memory.begin()
    turn = int(os.environ["CI_TURN"]) % TURNS if trying else turn_of(SLOT)
    now, others = chosen(turn, memory)
    print(f"turn {turn} of 0 to {TURNS - 1}{', and all others' if ALL else ''}: budget {seconds(now)} s, limit {LIMIT} s", flush=True)
    if "--list" in sys.argv:
        for step in STEPS:
            print(f"{step.name:<24} {step.seconds:5} s  {step.command}" if step in now else left_out(step, others[step.name], memory).line())
        return 0
    if git("status", "--porcelain"):
        print("what is not committed is not tested", flush=True)
    place = clone()
    runner = Runner(place)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, runner.stop)
    started = time.monotonic()
    results = [runner.run(step) for step in now]
    if not trying and not runner.stopped:
        memory.keep(results)
    results = [left_out(result.step, result.left_out, memory) if result.left_out and not result.failed else result for result in results]
    results += [left_out(step, others[step.name], memory) for step in STEPS if step.name in others]
    tell(results, started)
    passed, failed, skipped = (sum(getattr(result, name) for result in results) for name in ("passed", "failed", "skipped"))
    if failed:
        print(f"kept: {place}")
    else:
        shutil.rmtree(place.parent, ignore_errors=True)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
