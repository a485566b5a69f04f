"""What `plimsoll trace` and `plimsoll describe` add to the user's interpreter: the program runs on the CPU, its iterations are
found, and a few of them are traced or described.

Loaded by entry/sitecustomize.py when the interpreter starts. Everything begins when torch has been imported. Nothing here
may raise into the user's program, except the SystemExit that ends it and Unavailable of redirect.py.
"""

import os

from . import status
from .shared import after_import, ending, tracebacks


def _begin(torch):
    from . import iterations, redirect, session

    status.say(f"torch {torch.__version__}")
    redirect.install(torch)
    if status.COMPUTE is False:
        from . import no_compute

        no_compute.install(torch)
    iterations.install(torch, session.make(torch))
    tracebacks.hide()


def _failed(name, error):
    status.problem(f"the capture could not begin ({name}: {type(error).__name__}: {error})")


def _install():
    status.say("hook")
    ending.install()
    tracebacks.install()
    after_import.Watcher({"torch": [_begin]}, _failed, lambda name: status.say("importing")).install()


if "PLIMSOLL_CAPTURE" in os.environ:  # else somebody wants one of its modules
    _install()
