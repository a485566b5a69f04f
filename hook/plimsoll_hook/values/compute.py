"""Values that follow from the host's data: an operator whose inputs are small and known is repeated on the CPU, and what
comes out is put into the memory of its result. src/device/values.c sees the operators and knows which memory is known."""

import atexit
import sys

from .. import device, layout
from . import choices, host, partial, readbacks
from .classify import classify, operators


def prepare(number, values):
    operator = operators[number]
    with host.Guard.one:
        if any(len(tensor) == 5 for tensor in host.described_in(values)):
            certain = operator.certain(values) if operator.certain else None
            if certain is None and partial.wide(values):
                return ()
            return partial.Parts(operator, values, certain), -1
        args, kwargs = host.arguments_of(operator, values)
        if operator.size is None:
            return (operator, args, kwargs, None), -1
        made = host.flat(operator.call(*args, **kwargs))
        return (operator, args, kwargs, made), operator.size(made, args)


def choose(number, values, bounded):
    """What an operator chooses by values of which not all are known, to be put into the last of its results; None: nothing is assumed.
    `bounded`: those that are not known are not negative."""
    tensors = [value for value in values if type(value) is tuple]
    arguments = [value for value in values if type(value) is not tuple]
    with host.Guard.one:
        choice = operators[number].chooses(choices.Scores(tensors[0], bounded, tensors[1:]), arguments) if tensors else None
    if choice and device.LEAVES[choice.row]:
        device.note(device.LEAVES[choice.row], choice.rule)
    return choice


def finish(pending, outputs):
    if isinstance(pending, choices.ASSUMED):
        with host.Guard.one:
            return pending.put(host.torch, host.tensor_of(outputs[0])) if outputs else False
    if isinstance(pending, partial.Parts):
        with host.Guard.one:
            return pending.compute(host.tensor_of(outputs[0]))
    operator, args, kwargs, made = pending
    with host.Guard.one:
        places = host.flat([host.value_of(output) for output in outputs])
        if made is None:
            made = host.results_of(operator, args, kwargs, [place.dtype for place in places])
        if len(made) != len(places):
            return False
        for result, place in zip(made, places):
            if place.numel() and (result.shape != place.shape or result.dtype != place.dtype):
                return False
        for result, place in zip(made, places):
            if place.numel():  # what was not asked for is left empty there, and here perhaps not
                place.copy_(result)
    return True


# ---- start ----


def _locate(torch):
    """Where PyTorch's objects have what is needed, beside what layout.py located."""
    whole = torch.empty(6, 5, dtype=torch.float64)
    part, other = whole[2:], torch.empty(4, 5, dtype=torch.float64)
    storage, aten, kind = whole.untyped_storage(), torch.ops.aten, device.learn_kind
    return (device.observe_values() and layout.located(torch)
            and device.locate_storage(part._cdata, storage._cdata, storage.data_ptr(), storage.nbytes(), part.storage_offset())
            and device.sampled(device.OUTPUT, whole._cdata, 0, lambda: aten.zero_.default(whole))
            and kind(device.INT, 2, lambda: aten.add.Tensor(part, other, alpha=3))
            and kind(device.DOUBLE, 2, lambda: aten.add.Tensor(part, other, alpha=2.5))
            and kind(device.BOOL, 2, lambda: aten.sum.dim_IntList(part, [0], True))
            and kind(device.NONE, 3, lambda: aten.sum.dim_IntList(part, [0], True))
            and kind(device.TEXT, 2, lambda: aten.div.Tensor_mode(part, other, rounding_mode="floor"))
            and kind(device.DEVICE, 5, lambda: aten.tril_indices.default(2, 2, device="cpu")))


def follow(_module):
    """Called when the import of torch comes to its end."""
    torch = sys.modules["torch"]
    found = False
    try:
        host.start(torch)
        found = (hasattr(torch._C, "_ForceDispatchKeyGuard") and _locate(torch)
                 and device.follow(classify, prepare, choose, finish, readbacks.unknown, readbacks.shown))
    finally:
        if not found:
            device.note("values-unknown")
    readbacks.install()
    atexit.register(device.stop_following)
