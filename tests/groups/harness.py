"""What the groups share: where things are, how a program is run, how a test is declared and its result told.

A group imports what it needs of this, declares functions with @test or @full, and ends with main(). The names of its tests
are GROUP/function-name, with the PyTorch version between them where the group has the line `# each: torch`. A test passes
when it returns; Skip and Missing leave it out with a reason; anything else that it raises fails it, with the traceback.

With main(parallel=True) the tests run in PLM_JOBS threads. What several tests use is made by a function with @once, and what
several groups use by shared(), so the order of tests and groups does not matter.
"""
import concurrent.futures
import contextlib
import fcntl
import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import traceback
from pathlib import Path

SOURCE = Path(os.environ["PLM_SOURCE"])
BUILD = Path(os.environ["PLM_BUILD"])
PYTHON = os.environ["PLM_TEST_PYTHON"]
TORCH = os.environ.get("PLM_TORCH", "")  # as tests/envs names it
VERSION = TORCH.split("-")[0]
RELEASE = tuple(int(part) for part in VERSION.split(".")[:2] if part)
PATTERN = os.environ.get("PLM_PATTERN", "")
FULL = os.environ.get("PLM_TIER") == "full"
JOBS = int(os.environ.get("PLM_JOBS", "1"))
PLIMSOLL = str(BUILD / "plimsoll")
TMP = Path(tempfile.mkdtemp(dir=os.environ.get("PLM_TMP")))
WORKLOADS = SOURCE / "tests" / "e2e" / "workloads"
MIB, GIB = 1 << 20, 1 << 30
TRACE = 6000  # characters of a traceback that are told: its end

# Programs get signals as they are by default, also where whoever runs the tests ignores some: nohup, or a shell in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)

KEPT = ("PLIMSOLL_CACHE", "PLIMSOLL_PYTHON", "LD_LIBRARY_PATH")
# What every program gets. Settings of whoever runs the tests stay outside, and so does CI, which pytest and others look at.
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(("PLIMSOLL_", "CUDA_", "PYTORCH_", "NCCL_", "LD_")) and name != "CI" or name in KEPT}
ENVIRONMENT.update(XDG_CONFIG_HOME=str(TMP / "config"), PYTHONDONTWRITEBYTECODE="1", HF_HUB_OFFLINE="1")
# Some virtual machines say that they have AMX and then trap it: PyTorch itself dies there of a product in bfloat16 on the CPU.
ENVIRONMENT.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")


def say(text):
    """A line in one piece: print() writes its end apart, and tests run in threads beside each other."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Skip(Exception):
    """The test is not for this PyTorch or machine; the text says why."""


class Missing(Skip):
    """A program that the test needs is not here; the text says which. In CI that is a failure."""


# ---- running programs ----


def folder():
    """A new, empty one."""
    return Path(tempfile.mkdtemp(dir=TMP))


def script(code, name="train.py", place=None):
    """A file with that code, in a folder of its own unless told where."""
    path = (place or folder()) / name
    path.write_text(textwrap.dedent(code))
    return path


def run(*words, check=0, cwd=None, env=None, input=None, text=True, timeout=300):
    """Runs a command to its end, in TMP unless told where, with its output captured.

    `check` is the exit status that it must have, a tuple of such, or None for any. `env` adds to ENVIRONMENT."""
    given = {"stdin": subprocess.DEVNULL} if input is None else {"input": input}
    done = subprocess.run([str(word) for word in words], cwd=cwd or TMP, env={**ENVIRONMENT, **(env or {})}, capture_output=True,
                          text=text, errors="replace" if text else None, timeout=timeout, **given)
    allowed = check if isinstance(check, tuple) else (check,)
    assert check is None or done.returncode in allowed, \
        f"{' '.join(map(str, words))}: exit {done.returncode}, expected {check}: {done.stdout[-600:]}\n{done.stderr[-1200:]}"
    return done


def plimsoll(*words, **how):
    return run(PLIMSOLL, *words, **how)


def sentence(done, text=""):
    """The one line of plimsoll's on stderr, which has that text in it."""
    ours = [line for line in done.stderr.splitlines() if line.startswith("plimsoll: ")]
    assert len(ours) == 1 and text in ours[0], f"{text!r} is not the one sentence in: {done.stderr[-1200:]}"
    return ours[0]


def only_sentence(done, text=""):
    """The same, where nothing else was printed at all."""
    alone = done.stderr.startswith("plimsoll: ") and done.stderr.count("\n") == 1 and not done.stdout
    assert alone, (done.stdout[-600:], done.stderr[-1200:])
    return sentence(done, text)


def validate(schema, path):
    """Holds a document against a schema of docs/schema."""
    run(PYTHON, SOURCE / "tests/schema/validate.py", SOURCE / "docs/schema" / schema, path, timeout=60)


def workload(name, record, *options, arguments=(), check=0, env=None, timeout=600):
    """A script of tests/e2e/workloads under plimsoll, on an RTX 3060 unless an option says otherwise."""
    card = () if "--gpu" in options else ("--gpu", "rtx3060")
    return plimsoll("run", "--allow-tight", "-f", "-o", record, *card, *options, "--", PYTHON, f"{name}.py", *arguments, cwd=WORKLOADS,
                    check=check, env=env, timeout=timeout)


# ---- what is made once ----


def once(function):
    """Makes a result once for each set of arguments, whichever thread is first; the others wait for it, and fail as it did."""
    guard, locks, results = threading.Lock(), {}, {}

    @functools.wraps(function)
    def wrapped(*arguments, **named):
        key = arguments, tuple(sorted(named.items()))
        with guard:
            lock = locks.setdefault(key, threading.Lock())
        with lock:
            if key not in results:
                try:
                    results[key] = function(*arguments, **named), None
                except Exception as error:
                    results[key] = None, error
        made, error = results[key]
        if error:
            raise error
        return made

    return wrapped


@contextlib.contextmanager
def locked(path):
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@once
def shared(name):
    """The record of a workload as `plimsoll run --gpu rtx3060` makes it, by the first group of a run of tests that asks for it.

    It is to be read only. Groups of the same PyTorch share it through the folder PLM_SHARED."""
    place = Path(os.environ.get("PLM_SHARED") or TMP)
    record = place / f"{TORCH}-{name}.plm"
    with locked(record.with_suffix(".lock")):
        if not record.exists():
            made = record.with_suffix(".new")
            workload(name, made)
            made.rename(record)
    return record


@once
def setup(*what):
    """The folder of what tools/setup installs, or Missing."""
    done = run(SOURCE / "tools" / "setup", *what, check=None, timeout=900)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise Missing(f"tools/setup {' '.join(what)}: {last.removeprefix('plimsoll: ')}")
    return Path(done.stdout.strip())


def need_program(name):
    if not shutil.which(name):
        raise Missing(f"{name} is not installed")


# ---- tests ----

TESTS = []  # (name, function, only in the full tier)


def test(function, name=None, full=False):
    TESTS.append((name or function.__name__.replace("_", "-"), function, full))
    return function


def full(function):
    """A test of the full tier; it also runs where PLM_PATTERN names it."""
    return test(function, full=True)


@functools.cache
def prefix():
    """Of the names of this group's tests."""
    with open(sys.argv[0], errors="replace") as file:
        each_torch = any(line.strip() == "# each: torch" for line in file.readlines()[:20])
    return f"{Path(sys.argv[0]).name}/" + (f"{TORCH}/" if each_torch else "")


def wanted(name, only_full=False):
    """Whether the tier and the pattern choose the test."""
    return PATTERN in prefix() + name and (FULL or not only_full or (PATTERN != "" and PATTERN in name))


def in_ci():
    return os.environ.get("CI", "").lower() in ("1", "true", "yes")


def outcome(name, function):
    """The lines that tell how the test ended. Those that explain are indented, so that none is taken for a result."""
    try:
        function()
        return f"ok {name}"
    except Missing as reason:
        return f"not ok {name} - in CI nothing may be missing: {reason}" if in_ci() else f"skip {name} - {reason}"
    except Skip as reason:
        return f"skip {name} - {reason}"
    except Exception as error:  # whatever it is, the other tests run
        first = (str(error).splitlines() or [""])[0][:300]
        lines = traceback.format_exc()[-TRACE:].splitlines()
        return "\n".join([f"not ok {name} - {type(error).__name__}: {first}", *(f"    {line}" for line in lines)])


def main(parallel=False, every=False):
    """Runs the tests that are wanted, or every one."""
    with concurrent.futures.ThreadPoolExecutor(JOBS if parallel else 1) as pool:
        futures = [pool.submit(outcome, prefix() + name, function)
                   for name, function, only_full in TESTS if every or wanted(name, only_full)]
        for future in concurrent.futures.as_completed(futures):
            say(future.result())
