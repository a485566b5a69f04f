"""What plimsoll adds to the user's interpreter: it counts optimizer steps, ends the program after enough of them, and
says which module, phase and tensor memory belongs to.

Loaded by libplimsoll-device.so while `import torch` is under way, so torch may be half imported here:
everything is hung on the import of the module that it concerns. Nothing here may raise into the
user's program, except the SystemExit that ends it.
"""

import os
import sys

from . import attribution, checking, deferring, device, following, fsdp, groups, leaving, objects, peers, releases, shards, sizes, steps, tracebacks, tuning, values, watching, world

_ATTRIBUTION = device.DETAIL != "off"
_FULL = device.DETAIL == "full"
_VALUES = os.environ.get("PLIMSOLL_VALUES", "host") != "off"

# What is done after the import of a module, in this order.
_WANTED = {
    "torch._compile": [deferring.defer],
    "torch.autograd.graph": ([attribution.hook_backward] if _ATTRIBUTION else []) + [steps.hook_backward],
    "torch.compiler": [attribution.hook_compiler] if _ATTRIBUTION else [],
    "torch.nn.modules.module": [attribution.hook_modules] if _ATTRIBUTION else [],
    "torch.optim.optimizer": ([attribution.hook_optimizer, shards.hook_optimizer] if _ATTRIBUTION else []) + [steps.hook_optimizer],
    "torch.nn.init": [values.skip_large_fills],
    "torch.cuda": [values.assume_selections],
    "torch.distributions.distribution": [checking.hook_distributions] if _VALUES else [],
    "torchvision.ops.boxes": [values.assume_boxes],
    "torch._meta_registrations": [device.imported] + ([sizes.locate] if _FULL else [])
                                 + ([following.follow] if _VALUES else []),
    "torch._inductor.runtime.triton_heuristics": ([sizes.hook_inductor] if _FULL or _VALUES else [])
                                                 + ([tuning.hook_configurations] if tuning.WANTED else []),
    "torch._inductor.select_algorithm": [tuning.hook_choices] if tuning.WANTED else [],
    "triton.runtime.build": [tuning.hook_build],
    "triton.testing": [tuning.hook_timing] if tuning.WANTED else [],
    "triton.runtime.autotuner": [tuning.hook_triton] if tuning.WANTED else [],
    "triton.runtime.jit": [sizes.hook_triton] if _FULL or _VALUES else [],
    "torch.distributed.distributed_c10d": [groups.leave_out_watchdog, groups.name_groups, objects.tell_large],
    "torch.distributed.fsdp._fully_shard._fsdp_param_group": [fsdp.hook_groups] if _ATTRIBUTION else [],
}

# The same for a process that may be one rank of a world whose others do not run.
_WANTED_ALONE = {
    "torch.distributed": [world.redirect_stores],
    "torch.distributed.distributed_c10d": [peers.stand_in_for_gloo, peers.complete_collectives, world.check_rank],
    "torch.multiprocessing.spawn": [world.call_in_place],
    "torch.distributed.launcher.api": [world.become_rank],
    "deepspeed.launcher.runner": [world.become_rank_of_deepspeed],
    "ray": [world.start_no_cluster],
    "ray.train.torch.torch_trainer": [world.become_rank_of_ray],
    "ray.train.v2.torch.torch_trainer": [world.become_rank_of_ray],
}


def _wanted():
    more = _WANTED_ALONE if world.POSSIBLE else {}
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
    leaving.install()
    tracebacks.install()
    watching.Watcher(_wanted(), _failed).install()


_install()
