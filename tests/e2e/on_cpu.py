"""Runs a workload on the CPU and tells what PyTorch itself has there: on_cpu.py SCRIPT ARGUMENTS --device cpu, in tests/e2e/workloads
and, for a CUDA build, after `plimsoll run --until-exit --`: it wants the libraries even on the CPU.

The last line is JSON: bytes of all parameters, of buffers and of what optimizers keep, each tensor once and rounded up to the 512
bytes that the caching allocator would take for it. Sizes depend on shapes alone, so one step with a small batch is enough. What
optimizers count (`step`, a scalar) stays on the host in a CUDA job too and is left out.
"""
import gc
import json
import runpy
import sys

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

optimizers = {}


def total(tensors):
    storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in tensors}
    return sum((size + 511) // 512 * 512 for size in storages.values())


def count():
    modules = [thing for thing in gc.get_objects() if issubclass(type(thing), torch.nn.Module)]
    return {"parameters": total(p for module in modules for p in module.parameters(recurse=False)),
            "buffers": total(b for module in modules for b in module.buffers(recurse=False)),
            "optimizer": total(value for optimizer in optimizers.values() for state in optimizer.state.values()
                               for value in state.values() if isinstance(value, torch.Tensor) and value.dim())}


class Counted(SystemExit):
    pass


def after(optimizer, *_):
    """Every optimizer has made its first step when one makes the second."""
    known = id(optimizer) in optimizers
    optimizers[id(optimizer)] = optimizer
    if known:
        print(json.dumps(count()), flush=True)
        raise Counted(0)


register_optimizer_step_post_hook(after)
sys.argv = sys.argv[1:]
sys.path.insert(0, ".")
runpy.run_path(sys.argv[0], run_name="__main__")
