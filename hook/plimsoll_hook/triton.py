"""Triton's kernels, those of torch.compile among them: what they are given, and how they are tuned.

Autotuners compile dozens of candidates and time them on the device. This one has no clock: the times would mean nothing
and the compiling takes minutes. So the first candidate that works is taken, which is the one that the heuristics put there
(and, of inductor's choices for a matrix product, the library's kernel, as torch does itself when it must be deterministic).
The note `autotune-first` says that it was so. PLIMSOLL_AUTOTUNE=all leaves the autotuners alone.

What a trial takes of the device beside its kernel is taken all the same: the buffer that clears the cache, copies of what the
kernel writes. Inductor's inputs for its trials are not made, since a single choice is not tried."""

import functools
import inspect
import os
import shutil
import sys
import sysconfig

from . import device
from .imports.after_import import replace

_INFINITE = float("inf")


def _note(which):
    device.note("autotune-first", which)


# ---- Triton's own ----


def hook_timing(module):
    """Called when triton.testing has been imported: for tuners that a program has of its own, too. A call is repeated until a
    tenth of a second has passed on the device, whose launches take 5 us each: twenty thousand times. Once will do."""

    def shortened(function):
        signature = inspect.signature(function)

        @functools.wraps(function)
        def once(*args, **kwargs):
            given = signature.bind(*args, **kwargs)
            given.arguments.update({name: 0 for name in ("warmup", "rep") if name in signature.parameters})
            return function(*given.args, **given.kwargs)

        return once

    module.do_bench, module.do_bench_cudagraph = shortened(module.do_bench), shortened(module.do_bench_cudagraph)


def hook_triton(module):
    """Called when triton.runtime.autotuner has been imported. All configurations of one tuning go through _bench, after
    prune_configs; one that the card has not the resources for is infinitely slow there."""
    prune, bench = module.Autotuner.prune_configs, module.Autotuner._bench

    @replace(module.Autotuner, "prune_configs")
    def begin(self, *args, **kwargs):
        self._plimsoll_found = False
        return prune(self, *args, **kwargs)

    @replace(module.Autotuner, "_bench")
    def tried(self, *args, **kwargs):
        if getattr(self, "_plimsoll_found", False):
            return [_INFINITE] * 3
        _note("triton")
        result = bench(self, *args, **kwargs)
        self._plimsoll_found = result[0] != _INFINITE
        return result


def hook_build(module):
    """Called when triton.runtime.build has been imported. It compiles a C file for each launcher; where that fails for want of a compiler or
    of Python's headers, the compiler's message is all that the user sees, and `run` says what to install."""
    build = module._build

    @replace(module, "_build")
    def told(*args, **kwargs):
        try:
            return build(*args, **kwargs)
        except Exception:
            if lack := _lack():
                device.note("failed-for-want", lack)
            raise


def _lack():
    if not any(shutil.which(name) for name in (os.environ.get("CC"), "clang", "gcc", "cc") if name):
        return "Triton needs a C compiler: install gcc"
    if not os.path.exists(os.path.join(sysconfig.get_path("include", "posix_prefix"), "Python.h")):
        return f"Triton needs Python's headers: install python{sys.version_info.major}-dev (Debian's name)"
    return None


# ---- inductor's ----


def hook_choices(module):
    """Called when torch._inductor.select_algorithm has been imported: kernels for one matrix product, attention, convolution."""
    choose, library = module.AlgorithmSelectorCache.__call__, module.ExternKernelCaller

    @replace(module.AlgorithmSelectorCache, "__call__")
    def first(self, name, choices, *args, **kwargs):
        if len(choices) > 1:
            _note("inductor")
            choices = ([choice for choice in choices if isinstance(choice, library)] or choices)[:1]
        return choose(self, name, choices, *args, **kwargs)


def hook_configurations(module):
    """Called when torch._inductor.runtime.triton_heuristics has been imported: of one kernel. The compiler's worker processes
    call it too, which is where the time is saved. A kernel is made from its configurations until one could be compiled."""
    compile_one = module.CachingAutotuner._precompile_config

    @replace(module.CachingAutotuner, "_precompile_config")
    def until_one_works(self, config, *args, **kwargs):
        several = len(self.configs or ()) > 1 and any(config is one for one in self.configs)  # not one that it derives itself
        if several and getattr(self, "_plimsoll_compiled", False):
            raise module.OutOfResources(0, 0, "candidates")  # which is passed over
        result = compile_one(self, config, *args, **kwargs)
        if several:
            self._plimsoll_compiled = True
            _note("inductor")
        return result

    if hasattr(module.CachingAutotuner, "coordinate_descent_tuning"):
        module.CachingAutotuner.coordinate_descent_tuning = lambda self, launcher, *args, **kwargs: launcher


# ---- arguments of kernels: they have no operator, so these are told before the launch ----


def _tensors(values, tensor):
    for value in values:
        if isinstance(value, tensor):
            yield value._cdata
        elif isinstance(getattr(value, "base", None), tensor):  # a TensorDescriptor
            yield value.base._cdata


def _tell(run):
    """Around a function that launches a kernel with its arguments."""
    tensor = sys.modules["torch"].Tensor

    @functools.wraps(run)
    def launch(self, *args, **kwargs):
        device.operands(*_tensors(args, tensor), *_tensors(kwargs.values(), tensor))
        try:
            return run(self, *args, **kwargs)
        finally:
            device.operands()

    return launch


def tell_arguments(module):
    """Called when triton.runtime.jit has been imported: kernels of the program's own."""
    module.JITFunction.run = _tell(module.JITFunction.run)


def tell_inductor_arguments(module):
    """Called when torch._inductor.runtime.triton_heuristics has been imported: kernels that torch.compile made."""
    module.CachingAutotuner.run = _tell(module.CachingAutotuner.run)
