"""Tracebacks of the user's program show the user's program: entries of plimsoll's own functions, which stand between his
module and PyTorch's, are taken out before anybody prints or formats one.

A frame enters a traceback when it is left, so the functions themselves cannot leave theirs out. Needs no virtual device."""

import functools
import os
import sys
import threading
import traceback

_HOOK = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
_OURS = tuple(os.path.join(_HOOK, name) + os.sep
              for name in ("plimsoll_hook", "plimsoll_capture", "plimsoll_measure", "plimsoll_server"))


def _next(entry):
    """The first one from here on that is not ours."""
    while entry is not None and entry.tb_frame.f_code.co_filename.startswith(_OURS):
        entry = entry.tb_next
    return entry


def without(entry):
    """The same traceback, with our entries taken out of its chain."""
    first = entry = _next(entry)
    while entry is not None:
        following = _next(entry.tb_next)
        if following is not entry.tb_next:
            entry.tb_next = following
        entry = following
    return first


def clean(error):
    """An exception, its causes and its parts."""
    seen, left = set(), [error]
    while left:
        error = left.pop()
        if not isinstance(error, BaseException) or id(error) in seen:
            continue
        seen.add(id(error))
        error.__traceback__ = without(error.__traceback__)
        left += [error.__cause__, error.__context__]
        if isinstance(getattr(error, "exceptions", None), tuple):
            left += error.exceptions


def _before(owner, name, prepare):
    """`prepare` gets the arguments of a function and returns those that it is called with."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def function(*args, **kwargs):
        try:
            args = prepare(*args)
        except Exception:
            pass  # then it is shown as it is
        return original(*args, **kwargs)

    setattr(owner, name, function)


def _with_value(kind, value, entry, *rest):
    clean(value)
    return (kind, value, without(entry), *rest)


def _of_thread(args):
    clean(args.exc_value)
    return (args,)


def _others(walk):
    """Of the stack as it is now (traceback.print_stack, logging's stack_info)."""

    @functools.wraps(walk)
    def walk_stack(frame):
        return (pair for pair in walk(frame) if not pair[0].f_code.co_filename.startswith(_OURS)) if frame else walk(frame)

    return walk_stack


def hide():
    """pytest makes its own tracebacks, without functions of modules that have this name."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("plimsoll_hook.", "plimsoll_capture.", "plimsoll_measure")):
            module.__tracebackhide__ = True


def install():
    hide()
    traceback.walk_stack = _others(traceback.walk_stack)
    _before(sys, "excepthook", _with_value)
    _before(threading, "excepthook", _of_thread)
    _before(traceback.TracebackException, "__init__", lambda self, *args: (self, *_with_value(*args)))
    for name in ("extract_tb", "walk_tb"):
        _before(traceback, name, lambda entry, *rest: (without(entry), *rest))
