"""Stores of a simulated rank lead to the one that plimsoll serves, whatever host, port or file the program names."""

import functools
import os
import sys

from . import env


class Substitute(type):
    """The class of a stand-in for a class of torch's: what is made of it is what `make` returns, and it passes for the original."""

    def __new__(cls, original, make):
        return super().__new__(cls, original.__name__, (), {"__module__": original.__module__, "__doc__": original.__doc__})

    def __init__(cls, original, make):
        super().__init__(original.__name__, (), {})
        cls.original, cls.make = original, staticmethod(make)

    def __call__(cls, *args, **kwargs):
        return cls.make(*args, **kwargs) if env.lonely() else cls.original(*args, **kwargs)

    def __instancecheck__(cls, thing):
        return isinstance(thing, cls.original)

    def __subclasscheck__(cls, other):
        return issubclass(getattr(other, "original", other), cls.original)

    def __getattr__(cls, name):
        return getattr(cls.original, name)


def replace(original, substitute):
    """In all modules that have imported it by now."""
    for name, module in list(sys.modules.items()):
        if name.startswith("torch") and getattr(module, original.__name__, None) is original:
            setattr(module, original.__name__, substitute)


_TCP = ("host_name", "port", "world_size", "is_master", "timeout", "wait_for_workers", "multi_tenant", "master_listen_fd", "use_libuv")


def _client_of(original):
    """TCPStore, which is a client of ours wherever the program looks for it."""

    @functools.wraps(original, updated=())
    class TCPStore(original):
        def __init__(self, *args, **kwargs):
            if env.here():
                asked = {**dict(zip(_TCP, args)), **kwargs}
                args = ("127.0.0.1", int(os.environ["PLIMSOLL_STORE"]))
                kwargs = {name: asked[name] for name in ("timeout", "use_libuv") if name in asked}
                kwargs.update(is_master=False, wait_for_workers=False)
            super().__init__(*args, **kwargs)

    return TCPStore


def redirect_stores(module):
    """Called when torch.distributed has been imported."""
    if not hasattr(module, "TCPStore"):
        return  # this torch is built without it
    client = _client_of(module.TCPStore)

    def prefixed(name):
        return module.PrefixStore(name, client("127.0.0.1", 0))

    replace(module.TCPStore, client)
    replace(module.FileStore, Substitute(module.FileStore, lambda name, *_, **__: prefixed(f"file:{name}")))
    replace(module.HashStore, Substitute(module.HashStore, lambda: prefixed("hash")))
