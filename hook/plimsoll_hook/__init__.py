"""What plimsoll adds to the user's interpreter: it counts optimizer steps, ends the program after enough of them, and
says which module, phase and tensor memory belongs to.

Loaded by libplimsoll-device.so while `import torch` is under way, so torch may be half imported here:
everything is hung on the import of the module that it concerns. Nothing here may raise into the
user's program, except the SystemExit that ends it.
"""

import os
import sys

from . import attribution, device, fsdp, groups, leaving, releases, sizes, steps, tracebacks, values, watching

_ATTRIBUTION = device.DETAIL != "off"
_FULL = device.DETAIL == "full"

# What is done after the import of a module, in this order.
_WANTED = {
    "torch.autograd.graph": [attribution.hook_backward] if _ATTRIBUTION else [],
    "torch.compiler": [attribution.hook_compiler] if _ATTRIBUTION else [],
    "torch.nn.modules.module": [attribution.hook_modules] if _ATTRIBUTION else [],
    "torch.optim.optimizer": ([attribution.hook_optimizer] if _ATTRIBUTION else []) + [steps.hook_optimizer],
    "torch.nn.init": [values.skip_large_fills],
    "torch.cuda": [values.assume_selections],
    "torchvision.ops.boxes": [values.assume_boxes],
    "torch._meta_registrations": [device.imported] + ([sizes.locate] if _FULL else []),
    "torch._inductor.runtime.triton_heuristics": [sizes.hook_inductor] if _FULL else [],
    "triton.runtime.jit": [sizes.hook_triton] if _FULL else [],
    "torch.distributed.distributed_c10d": [groups.name_groups],
    "torch.distributed.fsdp._fully_shard._fsdp_param_group": [fsdp.hook_groups] if _ATTRIBUTION else [],
}


def _failed(name, error):
    device.note("hook-failed", f"{name}: {error}")


def _install():
    device.start()
    device.config("python", sys.version.split()[0])
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        if name in os.environ:
            device.config(name.lower(), os.environ[name])
    leaving.install()
    tracebacks.install()
    watching.Watcher({name: [*actions, releases.check] for name, actions in _WANTED.items()}, _failed).install()


_install()
