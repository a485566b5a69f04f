"""What plimsoll adds to the user's interpreter: it counts optimizer steps, ends the program after enough of them, says
which module, phase and tensor memory belongs to, and what values read as that no kernel computed.

Loaded by libplimsoll-device.so while `import torch` is under way, so torch may be half imported here:
everything is hung on the import of the module that it concerns. Nothing here may raise into the
user's program, except the SystemExit that ends it.
"""

import importlib
import os
import sys

from . import device, fills, layout
from .imports import after_import, defer_dynamo, releases
from .job import ending, steps, tracebacks
from .memory import attribution, shards
from .values import checks, compute, keep

_ATTRIBUTION = device.DETAIL != "off"
_FULL = device.DETAIL == "full"
_VALUES = os.environ.get("PLIMSOLL_VALUES", "host") != "off"
_TUNING = os.environ.get("PLIMSOLL_AUTOTUNE", "first") != "all"
_ALONE = "PLIMSOLL_JOB" in os.environ  # this may be one rank of a job whose others do not run


def _later(file, name):
    """A function of a file that most programs do not need: read when what it concerns has been imported."""

    def call(module):
        function = getattr(importlib.import_module(f"{__name__}.{file}"), name)
        tracebacks.hide()
        function(module)

    return call


# What is done after the import of a module, in this order.
_WANTED = {
    "torch._compile": [defer_dynamo.defer],
    "torch.autograd.graph": ([attribution.hook_backward] if _ATTRIBUTION else []) + [steps.hook_backward],
    "torch.compiler": [attribution.hook_compiler] if _ATTRIBUTION else [],
    "torch.nn.modules.module": [attribution.hook_modules] if _ATTRIBUTION else [],
    "torch.optim.optimizer": ([attribution.hook_optimizer, shards.hook_optimizer] if _ATTRIBUTION else []) + [steps.hook_optimizer],
    "torch.nn.init": [fills.skip_large_fills],
    "torch.cuda": [keep.assume_selections],
    "torch.distributions.distribution": [checks.hook_distributions] if _VALUES else [],
    "torchvision.ops.boxes": [keep.assume_boxes],
    "torch._meta_registrations": [device.imported] + ([layout.locate] if _FULL else [])
                                 + ([compute.follow] if _VALUES else []),
    "torch._inductor.runtime.triton_heuristics": ([_later("triton", "tell_inductor_arguments")] if _FULL or _VALUES else [])
                                                 + ([_later("triton", "hook_configurations")] if _TUNING else []),
    "torch._inductor.select_algorithm": [_later("triton", "hook_choices")] if _TUNING else [],
    "triton.runtime.build": [_later("triton", "hook_build")],
    "triton.testing": [_later("triton", "hook_timing")] if _TUNING else [],
    "triton.runtime.autotuner": [_later("triton", "hook_triton")] if _TUNING else [],
    "triton.runtime.jit": [_later("triton", "tell_arguments")] if _FULL or _VALUES else [],
    "torch.distributed.distributed_c10d": [_later("ranks.groups", "leave_out_watchdog"), _later("ranks.groups", "name_groups"),
                                           _later("ranks.objects", "tell_large")],
    "torch.distributed.fsdp._fully_shard._fsdp_param_group": [_later("memory.fsdp", "hook_groups")] if _ATTRIBUTION else [],
}

# The same where ranks may be simulated whose peers do not run.
_WANTED_ALONE = {
    "torch.distributed": [_later("ranks.stores", "redirect_stores")],
    "torch.distributed.distributed_c10d": [_later("ranks.peers", "stand_in_for_gloo"), _later("ranks.peers", "complete_collectives"),
                                           _later("ranks.launchers", "check_rank")],
    "torch.multiprocessing.spawn": [_later("ranks.launchers", "call_in_place")],
    "torch.distributed.launcher.api": [_later("ranks.launchers", "become_rank")],
    "deepspeed.launcher.runner": [_later("ranks.launchers", "become_rank_of_deepspeed")],
    "ray": [_later("ranks.launchers", "start_no_cluster")],
    "ray.train.torch.torch_trainer": [_later("ranks.launchers", "become_rank_of_ray")],
    "ray.train.v2.torch.torch_trainer": [_later("ranks.launchers", "become_rank_of_ray")],
}


def _wanted():
    more = _WANTED_ALONE if _ALONE else {}
    return {name: [*_WANTED.get(name, ()), *more.get(name, ()), releases.check] for name in {**_WANTED, **more}}


def _failed(name, error):
    device.note("hook-failed", f"{name}: {error}")


_record = os.environ.get("PLIMSOLL_RECORD")


def announce():
    """Which rank of its job this process is, as far as its environment tells. A fork may be of another job, with another record."""
    global _record
    now = os.environ.get("PLIMSOLL_RECORD")
    if now and now != _record:
        _record = now
        device.record(now)
    device.config("python", sys.version.split()[0])
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        if name in os.environ:
            device.config(name.lower(), os.environ[name])


def _install():
    device.start()
    announce()
    ending.install()
    tracebacks.install()
    after_import.Watcher(_wanted(), _failed).install()


_install()
