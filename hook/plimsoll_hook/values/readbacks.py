"""Where a program read values that nobody computed, so that one that fails over them is told which, where and what to do. The
device calls unknown() for each (src/device/values_python.c)."""

import linecache
import os
import re
import sys

from .. import device
from ..imports.after_import import replace
from . import branches

_MOST = 64  # places that are remembered
_SHORTLY = 3  # lines
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_TORCH = f"{os.sep}site-packages{os.sep}torch{os.sep}"
_TEXT = f"{_TORCH}_tensor_str.py"
_ERRORS = (ArithmeticError, AssertionError, LookupError, RuntimeError, ValueError)
_places = {}  # (file, line) → the code of the function; the last one read comes last


def unknown(truth):
    """The answer to a read that just happened, if there is one; else the place is remembered."""
    frame = sys._getframe(1)
    found = answer(frame, truth)
    if found is None:
        _remember(frame)
    return found


def _shown(frame, _truth):
    """Whether PyTorch makes the text of a tensor: what it looks for there decides how wide a column is, and nothing else."""
    while frame is not None and _TORCH in frame.f_code.co_filename:
        if frame.f_code.co_filename.endswith(_TEXT):
            return False
        frame = frame.f_back
    return None


def _ensured(frame, truth):
    return branches.answer(frame) if truth else None


def _awaited(frame, truth):
    return truth if branches.waits(frame) else None


# The rows of READS that are the hook's: (frame, whether it is a truth value) → the answer; None: the row does not apply.
_ROWS = {"SHOWN": _shown, "ENSURED": _ensured, "AWAITED": _awaited}
_rows = [_ROWS[name] for name in device.READS if name in _ROWS]


def answer(frame, truth):
    """What the first row of the policy that applies answers, True or False (zero); None: none does."""
    return next((found for row in _rows if (found := row(frame, truth)) is not None), None)


def _remember(frame):
    """The innermost place that is neither PyTorch's nor ours."""
    while frame is not None and (frame.f_code.co_filename.startswith((_OURS, "<")) or _TORCH in frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return
    place = frame.f_code.co_filename, frame.f_lineno
    _places.pop(place, None)
    _places[place] = frame.f_code
    if len(_places) > _MOST:
        del _places[next(iter(_places))]


def _passed(entry):
    """The functions that a traceback goes through: code → the line where it left."""
    lines = {}
    while entry is not None:
        lines[entry.tb_frame.f_code] = entry.tb_lineno
        entry = entry.tb_next
    return lines


def _decides(path, read, left):
    """Whether what was read in a line may be why the function left in another: it came shortly before, or a name that it was
    given stands there. A loss that is read for a log explains no failure elsewhere in the same loop."""
    if read <= left <= read + _SHORTLY:
        return True
    names = re.match(r"\s*([\w\s,]+?)\s*[-+*/|&]?=(?!=)", linecache.getline(path, read))
    failed = linecache.getline(path, left)
    return names is not None and any(re.search(rf"\b{name}\b", failed) for name in re.findall(r"\w+", names.group(1)))


def sentence(error, entry):
    """About the last value that was read in a function of the traceback and may have decided; None if there is none."""
    passed = _passed(entry) if isinstance(error, _ERRORS) else {}
    for (path, line), code in reversed(_places.items()):
        if code in passed and _decides(path, line, passed[code]):
            text = linecache.getline(path, line).strip()[:80]
            return (f"{os.path.basename(path)}:{line} (`{text}`) read a GPU value that plimsoll did not compute, as it depends on "
                    "weights or random numbers: it got zero, about 0.001 or an older value, which may be why the program failed; "
                    "--assume sets what masks keep and what all() returns")
    return None


def install():
    original = sys.excepthook

    @replace(sys, "excepthook")
    def excepthook(kind, value, entry):
        try:
            text = sentence(value, entry)
            if text:
                device.note("failed-on-value", text)
        except Exception:
            pass  # then nothing is said
        return original(kind, value, entry)
