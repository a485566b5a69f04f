"""Ways to end the program in the middle of its work, and at its own end.

When the program ends by itself, the threads of autograd may still be giving back what the last backward pass held. An
interpreter that shuts down meanwhile ends them in the middle of it, and C++ then ends the process with an abort. So the
end waits until they have come to rest, a moment at most.
"""

import atexit
import os
import sys
import threading
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


class Stop(SystemExit):
    """Ends the program as sys.exit(0) would."""


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass  # closed or replaced by the program


def in_main_thread():
    return threading.current_thread() is threading.main_thread()


def stop(leave):
    """Ends the program from within; `leave` ends the process."""
    if not in_main_thread():
        leave()  # a SystemExit would end this thread alone
    _leave_after_exit_functions(leave)
    raise Stop(0)


def _leave_after_exit_functions(leave):
    """The interpreter shuts down by calling threading._shutdown, then the exit functions, and then ends every
    thread that still wants to run Python. PyTorch's autograd threads, stopped in the middle of a step, abort the
    process at that point. So it leaves just before."""
    shutdown = threading._shutdown

    def last():
        try:
            shutdown()
            atexit._run_exitfuncs()
        finally:
            leave()

    threading._shutdown = last
