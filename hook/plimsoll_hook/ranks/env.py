"""Which rank of its job this process is, and which other ranks run: what plimsoll put into the environment.

plimsoll sets PLIMSOLL_JOB where such ranks may be run, and PLIMSOLL_WORLD with the other variables of src/world/rank.c in each of them; a
process that was forked after the import has these later than that. So everything here looks when it is called.
"""

import functools
import os
import sys

from .. import device


def here():
    return "PLIMSOLL_WORLD" in os.environ


def size():
    return int(os.environ["PLIMSOLL_WORLD"])


def rank():
    return int(os.environ["PLIMSOLL_RANK"])


def local_rank():
    return int(os.environ["LOCAL_RANK"])


def per_node():
    return int(os.environ["LOCAL_WORLD_SIZE"])


@functools.lru_cache(maxsize=1)
def _ranks(text):
    """Of ranges as groups.ranges() writes them."""
    ranks = set()
    for part in text.split(","):
        ends, _, step = part.partition("/")
        first, _, last = ends.partition("-")
        ranks.update(range(int(first), int(last or first) + 1, int(step or 1)))
    return ranks


def _live():
    return _ranks(os.environ.get("PLIMSOLL_LIVE") or os.environ["PLIMSOLL_RANK"])


def absent(member):
    """Whether this rank of the job does not run."""
    return member not in _live()


def lonely():
    """Whether some rank of the job does not run."""
    return here() and len(_live()) < size()


def refuse(sentence):
    """Ends the program: what it wants contradicts what plimsoll was asked for."""
    sys.stdout.flush()
    raise SystemExit(f"plimsoll: {sentence}")


# Who asks rank 0 for the state of its random numbers, which decides nothing.
_HARMLESS = ("torch.distributed.tensor", "torch.distributed._tensor")


def _frames():
    """Of those who called, from the innermost on: (module, file, line)."""
    frame = sys._getframe(2)
    while frame:
        yield frame.f_globals.get("__name__") or "", os.path.basename(frame.f_code.co_filename), frame.f_lineno
        frame = frame.f_back


def asker():
    """The line of the program that called; None if that was somebody who asks for nothing that decides."""
    for module, file, line in _frames():
        if module.startswith(_HARMLESS):
            return None
        if module.split(".")[0] not in ("torch", "plimsoll_hook", "functools", "contextlib"):
            return f"{file}:{line}"
    return "?"


def lacks(what, source):
    """Notes that the program was given nothing where it takes a value from a rank that does not run, and the place where it asked."""
    place = asker()
    if place:
        device.note("absent-peer", f"{what} from rank {source} ({place})")
