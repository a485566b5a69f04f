"""What the program was asked for, and what it tells about itself: src/cli/trace.c reads it. One line for each thing, each
written at once, because several processes may write."""

import os

WHAT = os.environ.get("PLIMSOLL_CAPTURE", "trace")
OUTPUT = os.environ.get("PLIMSOLL_CAPTURE_OUTPUT", "")
PACKED = os.environ.get("PLIMSOLL_CAPTURE_PACKED", "no") == "yes"
COMMAND = os.environ.get("PLIMSOLL_CAPTURE_COMMAND", "").split("\x1f")[1:]  # without its secrets
ITERATIONS = int(os.environ.get("PLIMSOLL_CAPTURE_ITERATIONS", "4"))
COMPUTE = os.environ.get("PLIMSOLL_CAPTURE_COMPUTE", "yes") == "yes"
_PATH = os.environ.get("PLIMSOLL_CAPTURE_STATUS", "")


def say(line):
    try:
        fd = os.open(_PATH, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.write(fd, (line.replace("\n", " ")[:1100] + "\n").encode("utf-8", "replace"))
    finally:
        os.close(fd)


def problem(sentence):
    say(f"problem {sentence}")


def claim():
    """Whether this process is the one whose iterations count: the first that asks."""
    mine = f"claim {os.getpid()}"
    say(mine)
    try:
        with open(_PATH, encoding="utf-8") as file:
            return next((line.strip() == mine for line in file if line.startswith("claim ")), False)
    except OSError:
        return False
