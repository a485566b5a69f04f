"""Calls functions right after the import of the modules that they concern, and puts functions into the place of others."""

import functools
import importlib.abc
import sys


def replace(owner, name):
    """Decorates a function that takes the place of owner.name and passes for it."""

    def put(function):
        setattr(owner, name, functools.wraps(getattr(owner, name))(function))
        return function

    return put


class Finder(importlib.abc.MetaPathFinder):
    """Comes before the others, and asks them."""

    def install(self):
        sys.meta_path.insert(0, self)

    def find_behind(self, name, path, target):
        """By those that come after this one: there may be a second of us, and finders of the user's."""
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                return spec
        return None


class Watcher(Finder):
    """`wanted`: the name of a module to the functions that are called with it, once, in this order. What they raise goes
    to `failed`, with the module's name. `begins` is called with it before its import, if that is given."""

    def __init__(self, wanted, failed, begins=None):
        self.wanted = wanted
        self.failed = failed
        self.begins = begins

    def install(self):
        super().install()
        for name in list(self.wanted):
            if name in sys.modules:
                self.act(name, sys.modules[name])

    def act(self, name, module):
        for action in self.wanted.pop(name, ()):
            try:
                action(module)
            except Exception as error:
                self.failed(name, error)

    def find_spec(self, name, path=None, target=None):
        if name not in self.wanted:
            return None
        spec = self.find_behind(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        original = spec.loader.exec_module

        def exec_module(module):
            if self.begins:
                self.begins(name)
            original(module)
            self.act(name, module)

        spec.loader.exec_module = exec_module
        return spec
