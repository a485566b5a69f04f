"""Values that follow from the host's data: an operator whose inputs are small and known is repeated on the CPU, and what
comes out is put into the memory of its result. src/device/values.c sees the operators and knows which memory is known;
here is what an operator is, decided once for each, and the computing.

Tensors come as what they are in memory, (memory, type, sizes, strides). No tensor of the program's is touched or kept."""

import atexit
import math
import operator as python_operator
import sys
import threading

from . import choosing, device, reading, sizes

(LEAF, FOLLOWED, COPIES, FILLS, COLLECTIVE, ZEROS, PARTS, EITHER, CERTAIN, CHECKS, CHOOSES, DRAWS, LEAST_ONE, POSITIVE,
 PASSES, PUTS) = (1 << bit for bit in range(16))  # enum plm_operator_is

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
_POSITIVE = frozenset("mean sum nansum norm linalg_vector_norm var std var_mean std_mean logsumexp dist".split())
# What networks compute with weights: never worth the time.
_LARGE = ("mm", "addmm", "bmm", "baddbmm", "addbmm", "addmv", "convolution", "native_", "cudnn_", "_cudnn", "_conv",
          "conv_", "slow_conv", "_thnn", "thnn_", "_scaled", "_flash", "_efficient", "_fused", "_foreach", "_amp",
          "miopen", "linalg_", "_linalg", "fft_", "_fft", "lstm", "gru", "_ctc", "grid_sampler", "upsample", "_upsample",
          "max_pool", "avg_pool", "_adaptive", "adaptive_", "batch_norm", "_batch_norm", "_grouped", "_int_mm", "_addmm",
          "_cdist", "svd", "lu_", "cholesky", "_nested", "_transformer", "_native")

_torch = None
_types = {}  # c10::ScalarType → torch.dtype
_guard = None
_operators = []  # (overload, which arguments are given by name, which are written) by number


class Operator:
    """What is decided once for an operator. Threads share it: nothing of a single call is kept here."""

    def __init__(self, overload, name):
        schema = overload._schema
        self.call = overload
        self.size = _SIZED.get(name)
        self.known = None  # (tensors, their masks, its result, its arguments) → which elements of the result are known
        self.chooses = None  # what is assumed of it where its inputs are not known, of choosing.py
        self.certain = None  # (its arguments) → what the result is whatever the values are; None: that depends
        self.names = [argument.name if argument.kwarg_only else None for argument in schema.arguments]
        self.outs = [argument.is_out for argument in schema.arguments]
        # Batch normalisation updates its statistics, and its schemas do not say so.
        # A scaler's `found_inf` stays: numbers are taken to be finite.
        self.written = [bool(argument.alias_info and argument.alias_info.is_write and argument.name != "found_inf")
                        or argument.name.startswith("running_") or argument.name == "noise" for argument in schema.arguments]
        self.devices = [str(argument.type).startswith(("Device", "Optional[Device]", "Device?")) or argument.name == "device"
                        for argument in schema.arguments]


def _random(overload):
    return _torch.Tag.nondeterministic_seeded in overload.tags or any(
        "Generator" in str(argument.type) for argument in overload._schema.arguments)


def _has(name, key):
    return _torch._C._dispatch_has_kernel_for_dispatch_key(name, key)


def _bits(flags):
    return sum(1 << min(number, 63) for number, flag in enumerate(flags) if flag)


def _views(schema):
    """Whether it returns a view of something that it does not write."""
    return any(result.alias_info is not None and not result.alias_info.is_write for result in schema.returns)


def _follows(namespace, name, full, overload):
    return (namespace in ("aten", "torchvision") and not _random(overload)
            and (not name.startswith(_LARGE) or name == "linalg_vector_norm")
            and (_has(full, "CPU") or _has(full, "CompositeExplicitAutograd"))
            and (name in _SIZED or overload._schema.returns
                 and all("Tensor" in str(result.type) for result in overload._schema.returns)))


_COMPOSED = 0, 0, 0, 0, 0, 0


def classify(qualified, overload_name):
    """(number, what it is, how many arguments, how many results, which arguments it writes, which it reads the values of)"""
    namespace, name = qualified.split("::")
    full = qualified + "." + overload_name if overload_name else qualified
    if namespace in ("c10d", "_c10d_functional"):
        return 0, LEAF | COLLECTIVE, 0, 0, 0, 0
    if name in _NO_VALUES or not (_has(full, "CUDA") or name == "copy_"):
        return _COMPOSED
    overload = getattr(getattr(getattr(_torch.ops, namespace), name), overload_name or "default")
    if _views(overload._schema):
        return _COMPOSED
    operator = Operator(overload, name)
    needs = [not out and not (name in _OVERWRITE and number == 0) for number, out in enumerate(operator.outs)]
    flags = LEAF | (COPIES if name == "copy_" else 0) | (FILLS if name in _FILLS else 0) | (ZEROS if name == "zero_" else 0)
    flags |= (CHECKS if name == "all" else 0) | (DRAWS if _random(overload) else 0) | (LEAST_ONE if "unique" in name else 0)
    flags |= PUTS if name == "_index_put_impl_" else 0
    if name in _POSITIVE or "loss" in name:
        flags |= POSITIVE
    elif name == "copy_" or _torch.Tag.pointwise in overload.tags:
        flags |= PASSES
    if _follows(namespace, name, full, overload):
        flags |= FOLLOWED | _in_parts(operator, name, overload)
    operator.chooses = choosing.KINDS.get(full)
    flags |= CHOOSES if operator.chooses else 0
    _operators.append(operator)
    return len(_operators) - 1, flags, len(needs), len(overload._schema.returns), _bits(operator.written), _bits(needs)


# ---- computing ----


def _tensor(described):
    memory, kind, shape, strides = described[:4]
    if memory is None:
        return _torch.empty(shape, dtype=_types[kind], device="cpu")
    return _torch.frombuffer(memory, dtype=_types[kind]).as_strided(shape, strides)


def _value(value):
    if type(value) is tuple:
        return _tensor(value)
    if type(value) is list:
        return [_value(item) for item in value]
    return value


def _arguments(operator, values):
    args, kwargs = [], {}
    for number, value in enumerate(values):
        if operator.outs[number]:
            value = _torch.empty(0, dtype=_types[value[1]], device="cpu")
        elif operator.devices[number]:
            value = "cpu"
        else:
            value = _value(value)
            if operator.written[number]:
                value = value.clone()
        if operator.names[number] is None:
            args.append(value)
        else:
            kwargs[operator.names[number]] = value
    return args, kwargs


def _flat(results):
    if isinstance(results, (_torch.Tensor, bool)):
        return [results]
    return [tensor for result in results for tensor in _flat(result)]


def _number(value):
    """A single number of the program's reaches an operator as a tensor, which does not say that it is one."""
    plain = isinstance(value, _torch.Tensor) and not value.dim() and value.dtype == _torch.float64
    return value.item() if plain else value


def _made(operator, args, kwargs, types):
    """Its results. Where they are of other types, a number among the arguments was one of Python's: `whole * 0.5` is no float64."""
    made = _flat(operator.call(*args, **kwargs))
    if any(result.dtype != dtype for result, dtype in zip(made, types)):
        made = _flat(operator.call(*map(_number, args), **kwargs))
    return made


# ---- where only a part of the inputs is known ----


def _mask(described):
    return _torch.frombuffer(bytearray(described[4]), dtype=_torch.bool).reshape(described[2]) if described[4] \
        else _torch.ones(described[2], dtype=_torch.bool)


def _all_of(tensors, masks, made, args):
    known = masks[0]
    for mask in masks[1:]:
        known = known & mask
    return known.expand(made.shape)


def _absorbing(value):
    """`a op value` is the same whatever a is: x & 0, x | True, x * 0 of whole numbers."""

    def known(tensors, masks, made, args):
        if len(masks) < 2 or made.dtype.is_floating_point or (value and made.dtype != _torch.bool):
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
    return memory and _torch.frombuffer(memory, dtype=_torch.uint8).data_ptr(), kind, shape, strides


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
    return masks[0] & _torch.where(condition, masks[1], masks[2])


def _in_parts(operator, name, overload):
    """Sets how the parts that are known of its inputs tell which of its result are; says for which inputs that can be."""
    plain = name[:-1] if name.endswith("_") and operator.written[:1] == [True] else name
    if overload._overloadname.endswith("out") or len(overload._schema.returns) != 1:
        return 0
    if plain in _EITHER:
        operator.known = _EITHER[plain]
        return EITHER
    if name == "copy_":
        operator.known = lambda tensors, masks, made, args: masks[1].expand(made.shape)
    elif name == "where" and overload._overloadname == "self":
        operator.known = _where
    elif name == "cat":
        operator.known = lambda tensors, masks, made, args: _torch.cat(masks, args[-1])
    elif _torch.Tag.pointwise in overload.tags:
        operator.known = _all_of
        operator.certain = _CERTAIN.get(name)
    else:
        return 0
    return EITHER if name in ("cat", "where") else PARTS | CERTAIN if operator.certain else PARTS


def _described(values):
    """The tensors among the arguments, in their order."""
    for value in values:
        if type(value) is tuple:
            yield value
        elif type(value) is list:
            yield from _described(value)


class Parts:
    """An operator of which a part of the result will be known."""

    def __init__(self, operator, values):
        self.operator = operator
        self.certain = operator.certain(values) if operator.certain else None
        self.args, self.kwargs = _arguments(operator, values)
        described = list(_described(values))
        self.masks = [_mask(tensor) for tensor in described]
        self.tensors = [_tensor(tensor).clone() for tensor in described]

    def compute(self, place):
        if self.certain is not None:
            place.fill_(self.certain)
            return True
        made, = _made(self.operator, self.args, self.kwargs, [place.dtype])
        known = self.operator.known(self.tensors, self.masks, made, self.args)
        if made.shape != place.shape or made.dtype != place.dtype or known.shape != made.shape:
            return False
        if not any(self.operator.written):
            made = made.masked_fill(~known, 0)  # what is not known reads as zero
        place.copy_(_torch.where(known, made, place))
        return known.contiguous().numpy().tobytes() if known.any() else False


class Guard:
    """Nothing of what is computed goes through modes, autograd or transforms of the program's. Threads may be within it at the
    same time, as operators let others run: each leaves what it entered itself."""

    def __init__(self):
        self.entered = threading.local()
        names = [name for name in ("Python", "PythonTLSSnapshot", "PythonDispatcher", "FuncTorchDynamicLayerFrontMode",
                                   "FuncTorchDynamicLayerBackMode", "FuncTorchBatched", "AutocastCPU", "AutogradCPU",
                                   "AutogradOther", "ADInplaceOrView", "Functionalize")
                 if hasattr(_torch._C.DispatchKey, name)]
        self.exclude = _torch._C.DispatchKeySet(getattr(_torch._C.DispatchKey, names[0]))
        for name in names[1:]:
            self.exclude = self.exclude | _torch._C.DispatchKeySet(getattr(_torch._C.DispatchKey, name))
        self.include = _torch._C.DispatchKeySet(_torch._C.DispatchKey.BackendSelect)

    def __enter__(self):
        held = self.entered.__dict__.setdefault("held", [])
        for guard in (_torch._C._ForceDispatchKeyGuard(self.include, self.exclude), _torch._C.DisableTorchFunction()):
            guard.__enter__()
            held.append(guard)

    def __exit__(self, *_):
        for _ in range(2):
            self.entered.held.pop().__exit__(None, None, None)


def prepare(number, values):
    operator = _operators[number]
    with Guard.one:
        if any(len(tensor) == 5 for tensor in _described(values)):
            return Parts(operator, values), -1
        args, kwargs = _arguments(operator, values)
        if operator.size is None:
            return (operator, args, kwargs, None), -1
        made = _flat(operator.call(*args, **kwargs))
        return (operator, args, kwargs, made), operator.size(made, args)


def choose(number, values):
    """What an operator chooses by values that are not known, to be put into the last of its results; None: nothing is assumed."""
    tensors = [value for value in values if type(value) is tuple]
    arguments = [value for value in values if type(value) is not tuple]
    choice = _operators[number].chooses(tensors[0][2], arguments) if tensors else None
    if choice:
        device.note(choice.note, choice.rule)
    return choice


def finish(pending, outputs):
    if isinstance(pending, choosing.ASSUMED):
        with Guard.one:
            return pending.put(_torch, _tensor(outputs[0])) if outputs else False
    if isinstance(pending, Parts):
        with Guard.one:
            return pending.compute(_tensor(outputs[0]))
    operator, args, kwargs, made = pending
    with Guard.one:
        places = _flat([_value(output) for output in outputs])
        if made is None:
            made = _made(operator, args, kwargs, [place.dtype for place in places])
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
    """Where PyTorch's objects have what is needed, beside what sizes.py located."""
    whole = torch.empty(6, 5, dtype=torch.float64)
    part, other = whole[2:], torch.empty(4, 5, dtype=torch.float64)
    storage, aten, kind = whole.untyped_storage(), torch.ops.aten, device.learn_kind
    return (device.observe_values() and sizes.located(torch)
            and device.locate_storage(part._cdata, storage._cdata, storage.data_ptr(), storage.nbytes(), part.storage_offset())
            and device.sampled(device.OUTPUT, whole._cdata, 0, lambda: aten.zero_.default(whole))
            and kind(device.INT, 2, lambda: aten.add.Tensor(part, other, alpha=3))
            and kind(device.DOUBLE, 2, lambda: aten.add.Tensor(part, other, alpha=2.5))
            and kind(device.BOOL, 2, lambda: aten.sum.dim_IntList(part, [0], True))
            and kind(device.NONE, 3, lambda: aten.sum.dim_IntList(part, [0], True))
            and kind(device.TEXT, 2, lambda: aten.div.Tensor_mode(part, other, rounding_mode="floor"))
            and kind(device.DEVICE, 5, lambda: aten.tril_indices.default(2, 2, device="cpu")))


_TYPES = {"uint8": 0, "int8": 1, "int16": 2, "int32": 3, "int64": 4, "float16": 5, "float32": 6, "float64": 7, "bool": 11,
          "bfloat16": 15}  # c10::ScalarType


def follow(_module):
    """Called when the import of torch comes to its end."""
    global _torch
    _torch = sys.modules["torch"]
    found = False
    try:
        _types.update({number: getattr(_torch, name) for name, number in _TYPES.items()})
        Guard.one = Guard()
        found = (hasattr(_torch._C, "_ForceDispatchKeyGuard") and _locate(_torch)
                 and device.follow(classify, prepare, choose, finish, reading.unknown))
    finally:
        if not found:
            device.note("values-unknown")
    reading.install()
    atexit.register(device.stop_following)
