"""What `plimsoll measure` adds to the user's interpreter on a machine with a GPU: it watches the card's memory, notes what is trained,
and leaves one small file when the program ends. Nothing is changed that has to do with memory, and nothing here may raise into the user's program.

Loaded by plimsoll_capture/entry/sitecustomize.py when the interpreter starts.
"""

import atexit
import importlib.util
import os
import sys

from . import card, training


class _Report:
    """The file that this process leaves for plimsoll: [process] and pairs of key and value."""

    def __init__(self):
        self.process = os.getpid()
        self.torch = None
        self.written = False
        self.ended_by = ""
        self.failures = []

    def lines(self):
        yield "python", sys.version.split()[0]
        if self.torch is not None:
            yield "torch", self.torch.__version__
            yield "cuda", self.torch.version.cuda or ""
        yield from card.facts(self.torch)
        yield from training.facts()
        yield "exception", self.ended_by
        yield "failures", "; ".join(self.failures)

    def write(self):
        if self.written or os.getpid() != self.process:
            return
        self.written = True
        folder = os.environ["PLIMSOLL_MEASURE"]
        text = ["[process]"]
        try:
            for key, value in self.lines():
                if value != "":
                    text.append(f"{key} = {' '.join(str(value).split())[:200]}")
        except Exception as error:
            text.append(f"failures = {type(error).__name__}: {' '.join(str(error).split())[:150]}")
        path = os.path.join(folder, str(self.process))
        try:
            with open(path + ".part", "w", encoding="utf-8", errors="replace") as file:
                file.write("\n".join(text) + "\n")
            os.replace(path + ".part", path + ".ini")
        except OSError:
            pass  # plimsoll says that nothing was measured


_report = _Report()


def _watch_the_end():
    """What ended the program; and programs that leave at once are heard too."""
    excepthook, leave = sys.excepthook, os._exit

    def note(kind, value, trace):
        _report.ended_by = kind.__name__
        excepthook(kind, value, trace)

    def leave_after_report(status):
        _report.write()
        leave(status)

    sys.excepthook = note
    os._exit = leave_after_report
    atexit.register(_report.write)


def _begin(module):
    """torch.cuda is imported; torch itself may be half imported."""
    _report.torch = sys.modules["torch"]
    _watch_the_end()
    card.watch(_report.torch)


def _failed(name, error):
    _report.failures.append(f"{name}: {type(error).__name__}: {error}")


def _of_hook(package, name):
    """A file of plimsoll_hook, whose package needs the virtual device."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    spec = importlib.util.spec_from_file_location(f"plimsoll_measure.{name}", os.path.join(folder, "plimsoll_hook", package, f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_of_hook("job", "tracebacks").install()
_of_hook("imports", "after_import").Watcher(
    {
        "torch.cuda": [_begin],
        "torch.nn.modules.module": [training.hook_modules],
        "torch.optim.optimizer": [training.hook_optimizer],
    },
    _failed,
).install()
