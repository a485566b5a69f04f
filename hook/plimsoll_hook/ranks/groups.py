"""Process groups: the NCCL shim has no peers to ask who is in a new group, and most versions of PyTorch do not tell it.
So each group is told to the device before it is made, with its ranks in their order."""

import ctypes
import os
import sys

from .. import device
from ..imports import releases
from ..imports.after_import import replace


def ranges(ranks):
    """The ranks as text: ranges with a stride, `0-7`, `1-57/8`, `0,3,5`. src/base/ranges.c reads it."""
    parts, at = [], 0
    while at < len(ranks):
        end = at + 1
        step = ranks[end] - ranks[at] if end < len(ranks) else 0
        while step > 0 and end < len(ranks) and ranks[end] - ranks[end - 1] == step:
            end += 1
        if end - at < 2 or (end - at == 2 and step > 1):
            end = at + 1
        stride = f"/{step}" if step > 1 else ""
        parts.append(str(ranks[at]) if end == at + 1 else f"{ranks[at]}-{ranks[end - 1]}{stride}")
        at = end
    return ",".join(parts)


def _options(group):
    """The address of what a group's communicators are made with, which NCCL is given; 0 if it has none."""
    import torch

    try:
        backend = group._get_backend(torch.device("cuda"))
        config = getattr(backend, "wrapped_pg", backend).options.config
        if hasattr(config, "unsafe_get_ptr"):
            return config.unsafe_get_ptr()
        # pybind11 keeps the address of an object behind the head that all of Python's have
        return ctypes.c_uint64.from_address(id(config) + object.__basicsize__).value
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return 0


def _tell(name, ranks, own):
    """Before a group is made; `own`: the rank of this process."""
    device.group(name, ranges(ranks), ranks, ranks.index(own) if own in ranks else None)


def _tell_world(size, rank):
    """A process that was forked after the import became a rank later than the hook looked at the environment."""
    if os.getpid() != device.PROCESS or "RANK" not in os.environ:
        device.config("rank", rank)
        device.config("world_size", size)


def _told(tell, make, result):
    """What `make` returns, told about before and after. Nothing that goes wrong here keeps the group from being made."""
    try:
        tell()
    except Exception as error:
        device.note("hook-failed", f"groups: {error}")
    group = None
    try:
        group = make()
        return group
    finally:
        device.group_made(_options(result(group)))


def _name_new(module):
    original = getattr(module, "_new_process_group_helper", None)
    if original is None:
        return

    @replace(module, "_new_process_group_helper")
    def new(size, place, ranks, backend, store, group_name, *args, **kwargs):
        def tell():
            members = [int(member) for member in ranks or range(size)]
            if not ranks:
                _tell_world(size, place)
            _tell(kwargs.get("group_desc") or group_name, members, members[place] if place is not None else None)

        return _told(tell, lambda: original(size, place, ranks, backend, store, group_name, *args, **kwargs),
                     lambda made: made[0] if made else None)


def _members(module, parent):
    """The ranks of the job in a group, by place."""
    if parent is None:
        return list(range(module.get_world_size()))
    return list(module.get_process_group_ranks(parent))


def _name_split(module):
    original = getattr(module, "split_group", None)
    if original is None:
        return
    ordered = sorted if "sorted" in original.__code__.co_names else list  # older releases sort the members

    @_replace_everywhere(module, "split_group")
    def split_group(parent_pg=None, split_ranks=None, *args, **kwargs):
        def tell():
            parent, own = _members(module, parent_pg), module.get_rank()
            name = kwargs.get("group_desc") or "split"
            splits = [[parent[place] for place in ordered(split)] for split in split_ranks or ()]
            for split in sorted(splits, key=lambda split: own in split):  # the last one is the one that is made
                _tell(name, split, own)

        return _told(tell, lambda: original(parent_pg, split_ranks, *args, **kwargs), lambda made: made)


def _replace_everywhere(module, name):
    """Also where it has been imported from there by its name."""

    def put(function):
        others = [sys.modules.get(other) for other in ("torch.distributed", "torch.distributed.device_mesh")]
        for owner in [module, *(other for other in others if getattr(other, name, None) is getattr(module, name))]:
            replace(owner, name)(function)

    return put


def _wait_at_barriers(module):
    original = getattr(module, "barrier", None)
    if original is None:
        return

    @_replace_everywhere(module, "barrier")
    def barrier(*args, **kwargs):
        work = original(*args, **kwargs)
        if work is None:
            device.barrier()
        return work


def leave_out_watchdog(module):
    """Called when torch.distributed.distributed_c10d has been imported. From 2.7 until another backend took its place, ProcessGroupNCCL holds the
    tensors of a collective that nobody waits for, as those of DDP's, until a thread that looks ten times a second finds it ended and the next one
    starts. A step on cards takes longer than that; here it takes milliseconds, and chance would decide whether old buckets are there beside
    new ones. Waiting by itself, it has no such thread and holds nothing."""
    release = releases.running()
    if release and release >= (2, 7) and not hasattr(module, "ProcessGroupNCCL2") and "NCCL_BLOCKING_WAIT" not in os.environ:
        os.environ.setdefault("TORCH_NCCL_BLOCKING_WAIT", "1")


def name_groups(module):
    """Called when torch.distributed.distributed_c10d has been imported."""
    _wait_at_barriers(module)
    _name_new(module)
    _name_split(module)
