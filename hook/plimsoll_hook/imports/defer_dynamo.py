"""Imports torch._dynamo when something of it is used. It takes as long as the rest of PyTorch, and every optimizer of torch.optim imports it
only to say where a graph would break if one were being made. Until then there is a module that has this one function."""

import functools
import importlib._bootstrap as bootstrap
import importlib.machinery
import sys
import types

from . import after_import

_NAME = "torch._dynamo"
_spared = []  # functions that the compiler is to keep away from, and has not been told


class _Deferred(types.ModuleType):
    def __getattr__(self, name):
        if not name.startswith("__"):
            _load(self)
        if type(self) is _Deferred:  # a module that is half imported has no more, neither would it have without us
            raise AttributeError(f"module {_NAME!r} has no attribute {name!r}")
        return getattr(self, name)


def _load(module):
    """Waits for a thread that is at it; returns at once if that is this one, or waits for us. Whoever fails to import it, fails again."""
    try:
        with bootstrap._ModuleLockManager(_NAME):
            load = module.__dict__.pop("__plimsoll_load__", None)
            if load is None:
                return
            del module.graph_break
            try:
                load()
            except BaseException:
                module.graph_break = _break
                module.__plimsoll_load__ = load
                raise
            module.__class__ = types.ModuleType
            while _spared:
                vars(_spared.pop()).pop("__dynamo_disable", None)
    except bootstrap._DeadlockError:
        pass


def _break(*_, **__):
    """Graphs are not being made."""


class _Loader:
    """Of torch._dynamo: `loader` is the one that imports it."""

    def __init__(self, loader):
        self.loader = loader

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.loader
        module.__class__ = _Deferred
        module.graph_break = _break
        module.__plimsoll_load__ = functools.partial(self.loader.exec_module, module)


class _Present:
    """Of a module that came with torch._dynamo."""

    def __init__(self, module):
        self.module, self.spec = module, module.__spec__

    def create_module(self, _):
        return self.module

    def exec_module(self, module):
        module.__spec__ = self.spec


class _Finder(after_import.Finder):
    def find_spec(self, name, path=None, target=None):
        if name == _NAME:
            spec = self.find_behind(name, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _Loader(spec.loader)
            return spec
        if name.startswith(_NAME + ".") and isinstance(sys.modules.get(_NAME), _Deferred):
            _load(sys.modules[_NAME])
            if name in sys.modules:
                return importlib.machinery.ModuleSpec(name, _Present(sys.modules[name]))
        return None


def defer(module):
    """Called when torch._compile has been imported."""
    if _NAME in sys.modules:
        return
    original = module._disable_dynamo

    @after_import.replace(module, "_disable_dynamo")
    def disable(fn=None, recursive=True):
        if fn is None:
            return functools.partial(disable, recursive=recursive)
        if not hasattr(fn, "__dynamo_disable") and _deferred():
            fn.__dynamo_disable = fn
            _spared.append(fn)
        return original(fn, recursive)

    _Finder().install()


def _deferred():
    return isinstance(sys.modules.get(_NAME), (_Deferred, type(None)))
