"""Where a tensor has its sizes, for launches that show none. PyTorch hands an operator's inputs to observers (src/device/observe.c), but where
its objects have them is nowhere said: it is located once, with tensors that are known."""

import sys

from . import device

_SHAPES = ((3, 5, 7, 11), (13, 17), (), (19,), (2, 3, 5, 7, 11, 13))  # more than five dimensions come last
_TYPES = "float32", "int16", "float16", "bool", "float64"

_LEARNED = ("float", "bfloat", "int", "uint", "bool", "complex64", "complex128")  # to make one of the others warns


def _locate_tensors(torch):
    made = [torch.empty(shape, dtype=getattr(torch, name)) for shape, name in zip(_SHAPES, _TYPES)]
    if not device.locate_tensors([device.Sample(tensor._cdata, device.SCALAR_TYPES[name], tensor.dim(), tuple(tensor.shape))
                                  for tensor, name in zip(made, _TYPES)]):
        return False
    for name, kind in list(vars(torch).items()):
        if not isinstance(kind, torch.dtype) or not name.startswith(_LEARNED):
            continue
        try:
            device.learn_type(torch.empty(0, dtype=kind)._cdata, kind.itemsize)
        except (RuntimeError, NotImplementedError):
            pass  # a type that no tensor can be made of
    return True


def located(torch):
    """Where tensors have their sizes and operators their inputs; some observer must get these."""
    first, second = torch.empty(3, 5), torch.empty(3, 5)
    return (_locate_tensors(torch)
            and device.sampled(device.TENSORS, first._cdata, second._cdata, lambda: torch.is_same_size(first, second))
            and device.sampled(device.LIST, first._cdata, second._cdata,
                               lambda: torch._C._VariableFunctions.broadcast_tensors([first, second])))


def locate(_module):
    """Called when the import of torch comes to its end."""
    found = False
    try:
        found = device.observe_inputs() and located(sys.modules["torch"])
    finally:
        if not device.sizes() or not found:
            device.note("sizes-unknown")
