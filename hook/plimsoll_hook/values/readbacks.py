"""Where a program read values that nobody computed, so that one that fails over them is told which, where and what to do. The
device calls unknown() for each (src/device/values_python.c)."""

import linecache
import os
import re
import sys
import typing

from .. import device
from ..imports.after_import import replace
from . import branches, waiting

_MOST = 64  # places that are remembered
_SHORTLY = 3  # lines
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_TORCH = f"{os.sep}site-packages{os.sep}torch{os.sep}"
_TEXT = f"{_TORCH}_tensor_str.py"
_ERRORS = (ArithmeticError, AssertionError, LookupError, RuntimeError, ValueError)
_places = {}  # (file, line) → the code of the function; the last one read comes last


class Read(typing.NamedTuple):
    """struct plm_values_read of src/device/values.h"""

    truth: bool
    zero: bool
    assumed: bool


def unknown(*read):
    """The answer to a read that just happened, a byte, if there is one; else the place is remembered."""
    frame = sys._getframe(1)
    found = answer(frame, Read(*read))
    if found is None:
        _remember(frame)
    return found


def _in_text(frame):
    """Whether PyTorch makes the text of a tensor: what it looks for there decides how wide a column is, and nothing else."""
    while frame is not None and _TORCH in frame.f_code.co_filename:
        if frame.f_code.co_filename.endswith(_TEXT):
            return True
        frame = frame.f_back
    return False


def shown():
    return _in_text(sys._getframe(1))


def _shown(frame, read):
    if not _in_text(frame):
        return None
    return device.HELD if read.assumed else 0


def _ensured(frame, read):
    return branches.answer(frame) if read.truth else None


def _awaited(frame, read):
    found = waiting.other(frame, *read)
    if found is not None:
        _tell("AWAITED", frame)
    return found


def _looped(frame, read):
    if not (read.truth and read.assumed and waiting.decides(frame)):
        return None
    _tell("LOOPED", frame)
    return int(not read.zero)


# The rows of READS that are the hook's: (frame, what is read) → the answer; None: the row does not apply.
_ROWS = {"SHOWN": _shown, "ENSURED": _ensured, "AWAITED": _awaited, "LOOPED": _looped}
_rows = [_ROWS[name] for name in device.READS if name in _ROWS]


def answer(frame, read):
    """What the first row of the policy that applies answers, in each byte; None: none does."""
    found = next((found for row in _rows if (found := row(frame, read)) is not None), None)
    return int(found) if isinstance(found, bool) else found


def _programs(frame):
    """The innermost frame that is neither PyTorch's nor ours; None: there is none."""
    while frame is not None and (frame.f_code.co_filename.startswith((_OURS, "<")) or _TORCH in frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _line(path, line):
    return f"{os.path.basename(path)}:{line} (`{linecache.getline(path, line).strip()[:80]}`)"


def _tell(row, frame):
    frame = _programs(frame) or frame
    device.note(device.READS[row], _line(frame.f_code.co_filename, frame.f_lineno))


def _remember(frame):
    frame = _programs(frame)
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
            return (f"{_line(path, line)} read a GPU value that plimsoll did not compute, as it depends on "
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
