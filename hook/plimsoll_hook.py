"""What plimsoll adds to the user's interpreter: it counts optimizer steps and ends the program after
the wanted number of them.

Loaded by libplimsoll-device.so while `import torch` is under way, so torch may be half imported here:
everything is hung on the import of the module that it concerns. Nothing here may raise into the
user's program, except the SystemExit that ends it.
"""

import atexit
import ctypes
import importlib.abc
import importlib.machinery
import os
import sys
import threading

_device = ctypes.CDLL(None)
_stop_after = int(os.environ.get("PLIMSOLL_STOP_AFTER", "0") or 0)


class _Stop(SystemExit):
    """Ends the program as sys.exit(0) would."""


def _text(value):
    return str(value).encode("utf-8", "replace")


def _config(key, value):
    _device.plm_hook_config(_text(key), _text(value))


_noted = set()


def _note_once(kind):
    if kind not in _noted:
        _noted.add(kind)
        _device.plm_hook_note(_text(kind), b"")


class _Steps:
    """Counts the steps of each optimizer. A step of the job is over when every optimizer that takes
    part has made it; one that steps rarely is not waited for."""

    def __init__(self):
        self.counts = {}
        self.done = 0
        self.stopping = False

    def after(self, optimizer, *_):
        if self.stopping:  # the SystemExit was swallowed by a bare `except:`
            self.leave()
        key = id(optimizer)
        number = self.counts.get(key, 0) + 1
        self.counts[key] = number
        behind = min(self.counts.values())
        done = max(behind, max(self.counts.values()) - 1)
        if done > self.done:
            self.done = done
            _device.plm_hook_step(ctypes.c_uint32(done), ctypes.c_uint32(len(self.counts)))
        if _stop_after and self.done >= _stop_after:
            self.stopping = True
            if threading.current_thread() is not threading.main_thread():
                self.leave()  # a SystemExit would end this thread alone
            self.leave_after_exit_functions()
            raise _Stop(0)

    def leave_after_exit_functions(self):
        """The interpreter shuts down by calling threading._shutdown, then the exit functions, and then ends every
        thread that still wants to run Python. PyTorch's autograd threads, stopped in the middle of a step, abort the
        process at that point. So it leaves just before."""
        shutdown = threading._shutdown

        def last():
            try:
                shutdown()
                atexit._run_exitfuncs()
            finally:
                self.leave()

        threading._shutdown = last

    @staticmethod
    def leave():
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                pass  # closed or replaced by the program
        _device.plm_hook_leave()


_steps = _Steps()


def _hook_optimizer(module):
    module.register_optimizer_step_post_hook(_steps.after)


# Filling a large tensor on the host costs time and memory that nothing here needs: what is copied to
# the virtual device is never read from it. Fresh memory reads as zeros and stays unbacked.
_LARGE = 1 << 20


def _skip_large_fills(torch):
    def wrap(name):
        original = getattr(torch.Tensor, name)

        def fill(self, *args, **kwargs):
            if self.device.type == "cpu" and type(self).__name__ in ("Tensor", "Parameter") and self.numel() >= _LARGE:
                _note_once("fills-skipped")
                return self
            return original(self, *args, **kwargs)

        fill.__name__ = name
        fill.__doc__ = original.__doc__
        setattr(torch.Tensor, name, fill)

    for name in ("normal_", "uniform_", "trunc_normal_", "exponential_", "log_normal_"):
        if hasattr(torch.Tensor, name):
            wrap(name)


def _name_groups(module):
    """The NCCL shim has no peers to ask who is in a new group, and some versions of PyTorch do not tell
    it: the ranks are left in the environment while a group is made."""
    original = getattr(module, "_new_process_group_helper", None)
    if original is None:
        return

    def make_group(size, rank, ranks, *args, **kwargs):
        try:
            os.environ["PLIMSOLL_GROUP"] = ",".join(str(int(member)) for member in ranks or ())
        except (TypeError, ValueError):
            pass
        try:
            return original(size, rank, ranks, *args, **kwargs)
        finally:
            os.environ.pop("PLIMSOLL_GROUP", None)

    module._new_process_group_helper = make_group


def _describe():
    _device.plm_hook_start()
    _config("python", sys.version.split()[0])
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        if name in os.environ:
            _config(name.lower(), os.environ[name])


_WANTED = {
    "torch.optim.optimizer": _hook_optimizer,
    "torch.nn.init": lambda module: _skip_large_fills(sys.modules["torch"]),
    "torch.distributed.distributed_c10d": _name_groups,
}


class _Watcher(importlib.abc.MetaPathFinder):
    """Calls a function of ours right after a module of interest was imported."""

    def find_spec(self, name, path=None, target=None):
        action = _WANTED.pop(name, None)
        if action is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        original = spec.loader.exec_module

        def exec_module(module):
            original(module)
            try:
                action(module)
            except Exception as error:
                _device.plm_hook_note(b"hook-failed", _text(f"{name}: {error}"))

        spec.loader.exec_module = exec_module
        return spec


def _install():
    _describe()
    for name in list(_WANTED):
        if name in sys.modules:
            _WANTED.pop(name)(sys.modules[name])
    sys.meta_path.insert(0, _Watcher())


_install()
