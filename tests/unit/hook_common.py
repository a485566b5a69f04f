"""What the tests of the hook share: a device that only notes what it is told, and fresh modules of the hook beside it."""
import importlib
import os
import re
import sys
import types
from pathlib import Path
from unittest import mock

HOOK = Path(__file__).resolve().parent.parent.parent / "hook" / "plimsoll_hook"
SHARED = re.findall(r"(?m)^SHARED\((\w+),", (HOOK.parent.parent / "src/device/shared.def").read_text())
POLICY = re.findall(r'(?m)^(LEAVES|READS)\((\w+), "?([^",]*)', (HOOK.parent.parent / "src/common/policy.def").read_text())
TESTS = []


def test(function):
    TESTS.append(function)
    return function


class Constant(str):
    """One of src/device/shared.def; as a flag, it is joined with others."""

    def __or__(self, other):
        return Constant(f"{self}|{other}") if other else self

    __ror__ = __or__


class Device(types.ModuleType):
    """Notes every call: (name, arguments)."""

    def __init__(self):
        super().__init__("plimsoll_hook.device")
        self.calls, self.answers, self.texts = [], {}, []
        self.DETAIL, self.PROCESS = "full", os.getpid()
        for name in SHARED:  # told apart by their names, here; the device has the numbers
            setattr(self, name, Constant(name))
        self.MESSAGE_MOST = 1 << 20
        self.LEAVES, self.READS = ({name: tells for kind, name, tells in POLICY if kind == wanted} for wanted in ("LEAVES", "READS"))

    def text(self, value):
        if value not in self.texts:
            self.texts.append(value)
        return self.texts.index(value) + 1

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*args):
            self.calls.append((name, *args))
            answer = self.answers.get(name)
            return answer(*args) if callable(answer) else answer

        return call

    def told(self, name):
        return [call[1:] for call in self.calls if call[0] == name]


def load(*wanted):
    """Fresh modules of the hook, by their names in it, and the device that they have."""
    for name in [name for name in sys.modules if name.split(".")[0] == "plimsoll_hook"]:
        del sys.modules[name]
    package = types.ModuleType("plimsoll_hook")
    package.__path__ = [str(HOOK)]
    device = package.device = Device()
    sys.modules.update({"plimsoll_hook": package, "plimsoll_hook.device": device})
    return (*(importlib.import_module(f"plimsoll_hook.{name}") for name in wanted), device)


def environment(**variables):
    return mock.patch.dict(os.environ, variables)


def raised(kind, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except kind as error:
        return str(error)
    raise AssertionError(f"{kind.__name__} was not raised")


def equal(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


class Thing(types.SimpleNamespace):
    __hash__ = object.__hash__
    __eq__ = object.__eq__


def thing(**attributes):
    return Thing(**attributes)
