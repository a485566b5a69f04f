"""When the program ends by itself, the threads of autograd may still be giving back what the last backward pass held. An
interpreter that shuts down meanwhile ends them in the middle of it, and C++ then ends the process with an abort. So the
end waits until they have come to rest, a moment at most.
"""

import atexit
import os
import time

_THREADS = "/proc/self/task"
_MOST = 1.0
_PAUSE = 0.005


def _busy():
    """Whether a thread of autograd runs or wants to."""
    for thread in os.listdir(_THREADS):
        try:
            with open(f"{_THREADS}/{thread}/stat", encoding="ascii", errors="replace") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if name.startswith("pt_autograd") and rest.split()[0] in "RD":
            return True
    return False


def _wait():
    end = time.monotonic() + _MOST
    still = 0
    while still < 3 and time.monotonic() < end:
        time.sleep(_PAUSE)  # gives the interpreter's lock to a thread that waits for it
        still = 0 if _busy() else still + 1


def install():
    atexit.register(_wait)
