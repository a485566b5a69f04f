"""Operators of whose inputs only a part is known: which elements of the result are known then."""

import math
import operator as python_operator

from .. import device
from ..device import CERTAIN, EITHER, PARTS, WHOLE
from . import host


def _all_of(tensors, masks, made, args):
    known = masks[0]
    for mask in masks[1:]:
        known = known & mask
    return known.expand(made.shape)


def _absorbing(value):
    """`a op value` is the same whatever a is: x & 0, x | True, x * 0 of whole numbers."""

    def known(tensors, masks, made, args):
        if len(masks) < 2 or made.dtype.is_floating_point or (value and made.dtype != host.torch.bool):
            return _all_of(tensors, masks, made, args)
        (a, b), (of_a, of_b) = tensors, masks
        return ((of_a & of_b) | (of_a & (a.bool() == value)) | (of_b & (b.bool() == value))).expand(made.shape)

    return known


_EITHER = {"bitwise_and": _absorbing(False), "logical_and": _absorbing(False), "mul": _absorbing(False),
           "bitwise_or": _absorbing(True), "logical_or": _absorbing(True)}


# Comparisons of a number with itself. NaN is the exception that programs look for: numbers are taken to be finite.
_WITH_ITSELF = {"eq": True, "le": True, "ge": True, "ne": False, "lt": False, "gt": False}


def _place(described):
    memory, kind, shape, strides = described[:4]
    return memory and host.torch.frombuffer(memory, dtype=host.torch.uint8).data_ptr(), kind, shape, strides


def _compared(name):
    def certain(values):
        one, other = values[:2]
        if type(other) is tuple:
            return _WITH_ITSELF[name] if _place(one) == _place(other) else None
        return getattr(python_operator, name)(0.0, other) if type(other) is float and math.isinf(other) else None

    return certain


_CERTAIN = {"isnan": lambda values: False, **{name: _compared(name) for name in _WITH_ITSELF}}


def _where(tensors, masks, made, args):
    condition, *_ = tensors
    return masks[0] & host.torch.where(condition, masks[1], masks[2])


def _masked_fill(tensors, masks, made, args):
    return masks[1] & host.torch.where(tensors[1], masks[2] if len(masks) > 2 else True, masks[0])


def _scatter(tensors, masks, made, args):
    if not masks[1].all():
        return host.torch.zeros(made.shape, dtype=host.torch.bool)
    return masks[0].scatter(args[1], tensors[1], masks[2] if len(masks) > 2 else True)


def _ruled_out(result):
    """What is ruled out stays that, if the row has anything else; which may read as anything."""

    def known(tensors, masks, made, args):
        out = masks[0] & (tensors[0] == -math.inf)
        out = out & ~out.all(args[1], keepdim=True)
        made.masked_fill_(out, result)
        return out

    return known


_SOFT = {"_softmax": _ruled_out(0.0), "_log_softmax": _ruled_out(-math.inf)}


# Which argument must have something that is known: a mask, or what is put into.
_CHOSEN = {"where": (0, _where), "masked_fill": (1, _masked_fill), "scatter": (0, _scatter)}
_FORMS = {"where": ("self",), "scatter": ("src", "value")}  # in which overloads; others are of composed operators, or reduce


def decides(plain):
    """The arguments of which something must be known, a bit each."""
    return 1 << _CHOSEN[plain][0] if plain in _CHOSEN else 0


def in_parts(operator, name, overload):
    """Sets how the parts that are known of its inputs tell which of its result are; says for which inputs that can be."""
    plain = name[:-1] if name.endswith("_") and operator.written[:1] == [True] else name
    if overload._overloadname.endswith("out") or len(overload._schema.returns) != 1:
        return 0
    if plain in _EITHER:
        operator.known = _EITHER[plain]
        return EITHER | WHOLE if plain == "mul" else EITHER
    if name == "copy_":
        operator.known = lambda tensors, masks, made, args: masks[1].expand(made.shape)
    elif plain in _CHOSEN and overload._overloadname in _FORMS.get(plain, (overload._overloadname,)):
        operator.known = _CHOSEN[plain][1]
    elif name in _SOFT:
        operator.known = _SOFT[name]
    elif name == "cat":
        operator.known = lambda tensors, masks, made, args: host.torch.cat(masks, args[-1])
    elif host.torch.Tag.pointwise in overload.tags:
        operator.known = _all_of
        operator.certain = _CERTAIN.get(name)
    else:
        return 0
    return EITHER if plain in ("cat", *_SOFT, *_CHOSEN) else PARTS | CERTAIN if operator.certain else PARTS


def wide(values):
    """Whether it is too much to compute, where only a certain result would have been worth a look: scores of a vocabulary, of attention."""
    return any(host.is_floating(tensor) and (math.prod(tensor[2]) > device.PARTS_MOST or len(tensor[2]) > device.PARTS_DIMENSIONS)
               for tensor in host.described_in(values))


class Parts:
    """An operator of which a part of the result will be known."""

    def __init__(self, operator, values, certain):
        self.operator, self.certain = operator, certain
        self.args, self.kwargs = host.arguments_of(operator, values)
        described = list(host.described_in(values))
        self.masks = [host.mask_of(tensor) for tensor in described]
        tensors = map(host.tensor_of, described)
        self.tensors = [tensor.clone() for tensor in tensors] if any(operator.written) else list(tensors)

    def compute(self, place):
        """What the first row of the policy that applies leaves: FINISH_CERTAIN, or which elements are known, a byte for each; False:
        nothing."""
        return next(left for left in (leave(self, place) for leave in _leaves) if left is not None)

    def leave_certain(self, place):
        if self.certain is None:
            return None
        place.fill_(self.certain)
        return device.FINISH_CERTAIN

    def leave_partial(self, place):
        made, = host.results_of(self.operator, self.args, self.kwargs, [place.dtype])
        known = self.operator.known(self.tensors, self.masks, made, self.args)
        if made.shape != place.shape or made.dtype != place.dtype or known.shape != made.shape:
            return False
        if not known.any():
            return False
        # What is not known reads as what was there, or as zeros: an operator may begin with a copy of something else.
        place.copy_(host.torch.where(known, made, place if any(self.operator.written) else host.torch.zeros_like(made)))
        return known.contiguous().numpy().tobytes()


# The rows of LEAVES that are answered here. None: the row does not apply.
_ROWS = {"CERTAIN": Parts.leave_certain, "PARTIAL": Parts.leave_partial}
_leaves = [_ROWS[name] for name in device.LEAVES if name in _ROWS]
