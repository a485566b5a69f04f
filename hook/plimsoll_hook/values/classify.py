"""What an operator is, decided once for each: whether it can be repeated on the host, what it writes and reads, and what can be assumed of
it."""

from ..device import (BOUNDED, CHECKS, CHOOSES, COLLECTIVE, COPIES, DIRECTED, DRAWS, EACH, FILLS, FOLLOWED, KEEPS, LEAF, LEAST_ONE, PASSES, POSITIVE,
                      PUTS, PUTS_WEIGHTS, ROWS, SQUARES, TURNS, ZEROS)
from . import choices, host, partial

# They allocate, or change what a tensor says of itself; no value is read or written.
_NO_VALUES = frozenset("""empty empty_strided empty_like new_empty new_empty_strided set_ resize_ resize_as_ _resize_output_
    requires_grad_ detach_ squeeze_ unsqueeze_ t_ transpose_ swapaxes_ swapdims_ as_strided_ record_stream rename_
    _local_scalar_dense is_pinned _pin_memory pin_memory""".split())
# What they read from the device before they return: how large their result is, as something is true, different or left over.
_SIZED = {"nonzero": lambda made, args: made[0].shape[0],
          "masked_select": lambda made, args: made[0].numel(),
          "_unique2": lambda made, args: made[0].numel(),
          "unique_consecutive": lambda made, args: made[0].shape[0 if args[3] is None else args[3]],
          "unique_dim": lambda made, args: made[0].shape[args[1]],
          "unique_dim_consecutive": lambda made, args: made[0].shape[args[1]],
          "equal": lambda made, args: int(made[0])}
_FILLS = frozenset(("fill_", "zero_"))
_OVERWRITE = _FILLS | {"copy_"}  # what was in `self` does not matter
# What they leave of numbers that are not known is not 0, and losses are not.
_POSITIVE = frozenset("mean sum nansum norm linalg_vector_norm var std var_mean std_mean logsumexp dist dot vdot".split())
# What they leave is not negative, whatever the values are; or if that is so of what they are given.
_BOUNDED = frozenset("abs relu exp exp2 _softmax sigmoid square sqrt softplus norm linalg_vector_norm var std".split())
_KEEPS = frozenset("""mean sum nansum max min amax amin topk sort cumsum mul div add sqrt clone copy_ _to_copy cat index index_select
    gather masked_fill""".split())
# A direction: that of a product follows from both, `neg` and a difference turn it around. A descent goes against the gradient, and a
# solver asks for the sign of their product.
_DIRECTED = frozenset("neg neg_ sub mul mul_ div div_ dot vdot".split())
_TURNS = frozenset("neg neg_ sub".split())
_SQUARES = frozenset(("aten::mul.Tensor", "aten::pow.Tensor_Scalar"))
# What networks compute with weights: never worth the time.
_LARGE = ("mm", "addmm", "bmm", "baddbmm", "addbmm", "addmv", "convolution", "native_", "cudnn_", "_cudnn", "_conv",
          "conv_", "slow_conv", "_thnn", "thnn_", "_scaled", "_flash", "_efficient", "_fused", "_foreach_mm", "_amp",
          "miopen", "linalg_", "_linalg", "fft_", "_fft", "lstm", "gru", "_ctc", "grid_sampler", "upsample", "_upsample",
          "max_pool", "avg_pool", "_adaptive", "adaptive_", "batch_norm", "_batch_norm", "_grouped", "_int_mm", "_addmm",
          "_cdist", "svd", "lu_", "cholesky", "_nested", "_transformer", "_native")


operators = []  # by number


class Operator:
    """What is decided once for an operator. Threads share it: nothing of a single call is kept here."""

    def __init__(self, overload, name):
        schema = overload._schema
        self.call = overload
        self.size = _SIZED.get(name)
        self.known = None  # (tensors, their masks, its result, its arguments) → which elements of the result are known
        self.chooses = None  # what is assumed of it where its inputs are not known, of choices.py
        self.certain = None  # (its arguments) → what the result is whatever the values are; None: that depends
        self.names = [argument.name if argument.kwarg_only else None for argument in schema.arguments]
        self.outs = [argument.is_out for argument in schema.arguments]
        # Where it puts its results. That may be what it reads (`x.mvlgamma_()` is such a call), and operators within it write before it is
        # repeated.
        self.places = [number for number, out in enumerate(self.outs) if out]
        # Batch normalisation updates its statistics, and its schemas do not say so.
        # A scaler's `found_inf` stays: numbers are taken to be finite.
        self.written = [bool(argument.alias_info and argument.alias_info.is_write and argument.name != "found_inf")
                        or argument.name.startswith("running_") or argument.name == "noise" for argument in schema.arguments]
        self.devices = [str(argument.type).startswith(("Device", "Optional[Device]", "Device?")) or argument.name == "device"
                        for argument in schema.arguments]


def _random(overload):
    return host.torch.Tag.nondeterministic_seeded in overload.tags or any(
        "Generator" in str(argument.type) for argument in overload._schema.arguments)


def _has(name, key):
    return host.torch._C._dispatch_has_kernel_for_dispatch_key(name, key)


def _bits(flags):
    return sum(1 << min(number, 63) for number, flag in enumerate(flags) if flag)


def _views(schema):
    """Whether it returns a view of something that it does not write."""
    return any(result.alias_info is not None and not result.alias_info.is_write for result in schema.returns)


def _each(name, overload):
    """Whether it changes the tensors of the list that it begins with, and returns nothing."""
    return name.startswith("_foreach_") and name.endswith("_") and not overload._schema.returns


def _follows(namespace, name, full, overload):
    return (namespace in ("aten", "torchvision") and not _random(overload)
            and (not name.startswith(_LARGE) or name == "linalg_vector_norm")
            and (_has(full, "CPU") or _has(full, "CompositeExplicitAutograd"))
            and (name in _SIZED or _each(name, overload) or overload._schema.returns
                 and all("Tensor" in str(result.type) for result in overload._schema.returns)))


_COMPOSED = 0, 0, 0, 0, 0, 0, 0


def classify(qualified, overload_name):
    """(number, what it is, how many arguments, how many results, which arguments it writes, which it reads the values of, of which of these
    something must be known)"""
    namespace, name = qualified.split("::")
    full = qualified + "." + overload_name if overload_name else qualified
    if namespace in ("c10d", "_c10d_functional"):
        return 0, LEAF | COLLECTIVE, 0, 0, 0, 0, 0
    if name in _NO_VALUES or not (_has(full, "CUDA") or name == "copy_"):
        return _COMPOSED
    overload = getattr(getattr(getattr(host.torch.ops, namespace), name), overload_name or "default")
    if _views(overload._schema):
        return _COMPOSED
    operator = Operator(overload, name)
    needs = [not out and not (name in _OVERWRITE and number == 0) for number, out in enumerate(operator.outs)]
    flags = LEAF | (COPIES if name == "copy_" else 0) | (FILLS if name in _FILLS else 0) | (ZEROS if name == "zero_" else 0)
    flags |= (CHECKS if name == "all" else 0) | (DRAWS if _random(overload) else 0) | (LEAST_ONE if "unique" in name else 0)
    flags |= (PUTS if name == "_index_put_impl_" else 0) | (ROWS if name == "index_select" else 0)
    plain = name[:-1] if name != "copy_" and name.endswith("_") else name
    flags |= (BOUNDED if plain in _BOUNDED else 0) | (KEEPS if plain in _KEEPS else 0) | (SQUARES if full in _SQUARES else 0)
    flags |= (DIRECTED if name in _DIRECTED else 0) | (TURNS if name in _TURNS else 0)
    if name in _POSITIVE or "loss" in name:
        flags |= POSITIVE
    elif name == "copy_" or (host.torch.Tag.pointwise in overload.tags and not name.startswith("_foreach")):
        flags |= PASSES
    if _follows(namespace, name, full, overload):
        flags |= FOLLOWED | partial.in_parts(operator, name, overload)
        flags |= EACH if _each(name, overload) else 0
    operator.chooses = choices.KINDS.get(full)
    flags |= (CHOOSES if operator.chooses else 0) | (PUTS_WEIGHTS if operator.chooses and plain == "scatter" else 0)
    operators.append(operator)
    return (len(operators) - 1, flags, len(needs), len(overload._schema.returns), _bits(operator.written), _bits(needs),
            partial.decides(plain))
