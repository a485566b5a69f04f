"""Collectives of a rank whose peers do not run, as far as the host sees their values.

NCCL's are the shim's. Those of gloo, which would wait for the addresses of all peers, are made by PyTorch's own process group
without communication, and its results are completed here: every peer contributes what this rank does. A value that only an
absent rank knows is left as it is, and noted, unless that rank ran before in the same command and left it.
"""

import inspect
import pickle

from .. import device
from ..imports.after_import import replace
from . import env, stores

_SMALL = 1024  # elements: more than that is data, whose values decide nothing


def stand_in_for_gloo(module):
    """Called when torch.distributed.distributed_c10d has been imported."""
    original = getattr(module, "ProcessGroupGloo", None)
    if original is None:
        return

    module.ProcessGroupGloo = _Gloo(original, lambda store, rank, size, *_, **__: _without_communication(rank, size))


def _without_communication(rank, size):
    from torch._C._distributed_c10d import FakeProcessGroup

    FakeProcessGroup._set_sequence_number_for_group = lambda self: None  # older releases lack it
    create = getattr(FakeProcessGroup, "_create_internal", None)
    return create(rank, size, FakeProcessGroup.Options()) if create else FakeProcessGroup(rank, size)


class _Gloo(stores.Substitute):
    def __instancecheck__(cls, thing):
        return isinstance(thing, cls.original) or type(thing).__name__ == "FakeProcessGroup"


def _on_host(tensors):
    first = tensors[0] if isinstance(tensors, (list, tuple)) and tensors else tensors
    return getattr(getattr(first, "device", None), "type", None) == "cpu"


def _decides(tensor):
    """Whether a value may steer the program: few numbers that are on the host, or are counts."""
    return 0 < tensor.numel() <= _SMALL and (tensor.device.type == "cpu" or not (tensor.is_floating_point() or tensor.is_complex()))


class _Collectives:
    def __init__(self, module):
        self.module = module

    def scale(self, op, group):
        """By which a sum over equal contributions exceeds one of them."""
        return self.module.get_world_size(group) if op is None or op == self.module.ReduceOp.SUM else 1

    def source(self, src, group_src, group):
        if src is not None:
            return src
        return self.module.get_global_rank(group or self.module.group.WORLD, group_src) if group_src is not None else 0

    # Each completes what the group without communication left open; called after it, with its arguments by name.

    def all_reduce(self, a):
        if _on_host(a["tensor"]):
            a["tensor"].mul_(self.scale(a["op"], a["group"]))

    reduce = all_reduce

    def gather(self, a):
        for part in a["gather_list"] or ():
            if _on_host(part):
                part.copy_(a["tensor"])

    def all_to_all(self, a):
        own = a["input_tensor_list"][self.module.get_rank(a["group"])]
        for part in a["output_tensor_list"]:
            if _on_host(part):
                part.copy_(own if own.shape == part.shape else part)

    def all_to_all_single(self, a):
        output, given = a["output"], a["input"]
        if _on_host(output) and output.shape == given.shape and not a.get("input_split_sizes"):
            places = self.module.get_world_size(a["group"])
            own = given.chunk(places)[self.module.get_rank(a["group"])]
            for part in output.chunk(places):
                part.copy_(own)

    def reduce_scatter(self, a):
        if _on_host(a["output"]):
            a["output"].copy_(a["input_list"][self.module.get_rank(a["group"])]).mul_(self.scale(a["op"], a["group"]))

    def reduce_scatter_tensor(self, a):
        if _on_host(a["output"]):
            own = a["input"].flatten().chunk(self.module.get_world_size(a["group"]))[self.module.get_rank(a["group"])]
            a["output"].copy_(own.view_as(a["output"])).mul_(self.scale(a["op"], a["group"]))

    def broadcast(self, a):
        source = self.source(a["src"], a.get("group_src"), a["group"])
        if env.absent(source) and _decides(a["tensor"]):
            env.lacks("broadcast", source)

    def recv(self, a):
        named = a["src"] is not None or a.get("group_src") is not None
        source = self.source(a["src"], a.get("group_src"), a["group"]) if named else "any"
        if env.absent(source) and _decides(a["tensor"]):
            env.lacks("receive", source)

    def scatter(self, a):
        source = self.source(a["src"], a.get("group_src"), a["group"])
        if not env.absent(source) and a["scatter_list"]:
            if _on_host(a["tensor"]):
                a["tensor"].copy_(a["scatter_list"][self.module.get_rank(a["group"])])
        elif env.absent(source) and _decides(a["tensor"]):
            env.lacks("scatter", source)


# From an absent rank there is nothing to fill a list of objects with, and the sizes that PyTorch would read first are not
# there either.
_OBJECTS = ("broadcast_object_list", "recv_object_list", "scatter_object_list")


def _completed(module, name, complete):
    original = getattr(module, name)
    signature = inspect.signature(original)

    @replace(module, name)
    def collective(*args, **kwargs):
        lonely = env.lonely()
        replayed = device.replayed() if lonely else 0
        result = original(*args, **kwargs)
        if lonely and device.replayed() == replayed:
            try:
                bound = signature.bind(*args, **kwargs)
                bound.apply_defaults()
                if module.get_rank(bound.arguments.get("group")) >= 0:
                    complete(bound.arguments)
            except Exception as error:
                device.note("hook-failed", f"{name}: {error}")
        return result


def _went_well(call):
    """Whether PyTorch received objects. Of a rank that did not run it takes what is there for their sizes and pickled bytes:
    unpickling those may raise anything, as pickle's documentation says, so nothing narrower than Exception will do."""
    try:
        call()
    except Exception:
        return False
    return True


def _replayed(module, a, call):
    """Whether a rank that ran before left the objects. The call is made in any case: later ones are counted after it."""
    where = a.get("device") or module._get_object_coll_device(a["group"])
    if "cuda" not in str(where):
        return False
    before = device.replayed()
    return _went_well(call) and device.replayed() - before >= 2  # the sizes, and the objects


def _of_objects(module, collectives, name):
    original = getattr(module, name)
    signature = inspect.signature(original)

    @replace(module, name)
    def of_objects(*args, **kwargs):
        if not env.lonely():
            return original(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        a = bound.arguments
        source = collectives.source(a["src"], a.get("group_src"), a["group"])
        if not env.absent(source) or module.get_rank(a["group"]) < 0:
            return original(*args, **kwargs)
        if not (device.replays() and _replayed(module, a, lambda: original(*args, **kwargs))):
            env.lacks(name.replace("_list", "s").replace("_", " "), source)
        return source if name == "recv_object_list" else None


# Every peer contributes this rank's object: where a list is filled with them.
_GATHERED = {"all_gather_object": "object_list", "gather_object": "object_gather_list"}


def _gather_objects(module, name):
    original = getattr(module, name)
    signature = inspect.signature(original)

    @replace(module, name)
    def gather_objects(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        a = bound.arguments
        group = a["group"] or module.group.WORLD
        if not env.lonely() or module.get_rank(group) < 0 or not any(map(env.absent, module.get_process_group_ranks(group))):
            return original(*args, **kwargs)
        pickled = pickle.dumps(a["obj"])
        _went_well(lambda: original(*args, **kwargs))  # for its memory; the sizes that it reads are not known
        if a[_GATHERED[name]] is not None:
            a[_GATHERED[name]][:] = [pickle.loads(pickled) for _ in a[_GATHERED[name]]]


def complete_collectives(module):
    """Called when torch.distributed.distributed_c10d has been imported."""
    collectives = _Collectives(module)
    for name in ("all_reduce", "reduce", "gather", "all_to_all", "all_to_all_single", "reduce_scatter", "reduce_scatter_tensor",
                 "broadcast", "recv", "scatter"):
        if hasattr(module, name):
            _completed(module, name, getattr(collectives, name))
    for name in _OBJECTS:
        if hasattr(module, name):
            _of_objects(module, collectives, name)
    for name in _GATHERED:
        if hasattr(module, name):
            _gather_objects(module, name)
    barrier = module.monitored_barrier

    @replace(module, "monitored_barrier")
    def monitored_barrier(*args, **kwargs):
        return None if env.lonely() else barrier(*args, **kwargs)
