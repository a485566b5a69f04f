"""Tensors on the host as the device describes them, (memory, type, sizes, strides), and calls of operators with such. No tensor of
the program's is touched or kept."""

import threading

from .. import device

torch = None  # until the import of it comes to its end
_types = {}  # c10::ScalarType → torch.dtype


def start(module):
    global torch
    torch = module
    _types.update({number: getattr(torch, name) for name, number in device.SCALAR_TYPES.items()})
    Guard.one = Guard()


def is_floating(described):
    return _types[described[1]].is_floating_point


def tensor_of(described):
    memory, kind, shape, strides = described[:4]
    if memory is None:
        return torch.empty(shape, dtype=_types[kind], device="cpu")
    return torch.frombuffer(memory, dtype=_types[kind]).as_strided(shape, strides)


def mask_of(described):
    """Which of its elements are known. One on the host has no mask."""
    if not described[4]:
        return torch.ones(described[2], dtype=torch.bool)
    return torch.frombuffer(bytearray(described[4]), dtype=torch.bool).reshape(described[2])


def value_of(value):
    if type(value) is tuple:
        return tensor_of(value)
    if type(value) is list:
        return [value_of(item) for item in value]
    return value


def _copied(value):
    if type(value) is list:
        return [_copied(item) for item in value]
    return value.clone() if isinstance(value, torch.Tensor) else value


def _span(described):
    """The addresses that it lies between; None: it has no memory."""
    memory = described[0]
    if memory is None:
        return None
    first = torch.frombuffer(memory, dtype=torch.uint8).data_ptr()
    return first, first + len(memory)


def _overlaps(value, spans):
    found = (_span(tensor) for tensor in described_in((value,)))
    return any(span and span[0] < other[1] and other[0] < span[1] for span in found for other in spans)


def arguments_of(operator, values):
    args, kwargs = [], {}
    spans = [span for out in operator.places for span in map(_span, described_in((values[out],))) if span]
    for number, value in enumerate(values):
        if operator.outs[number]:
            value = torch.empty(0, dtype=_types[value[1]], device="cpu")
        elif operator.devices[number]:
            value = "cpu"
        else:
            copied = operator.written[number] or spans and _overlaps(value, spans)
            value = value_of(value)
            if copied:
                value = _copied(value)
        if operator.names[number] is None:
            args.append(value)
        else:
            kwargs[operator.names[number]] = value
    return args, kwargs


def flat(results):
    if isinstance(results, (torch.Tensor, bool)):
        return [results]
    return [tensor for result in results for tensor in flat(result)]


def _number(value):
    """A single number of the program's reaches an operator as a tensor, which does not say that it is one."""
    plain = isinstance(value, torch.Tensor) and not value.dim() and value.dtype == torch.float64
    return value.item() if plain else value


def results_of(operator, args, kwargs, types):
    """Its results, or the tensors of the list that it changed in place. Where they are of other types, a number among the arguments was one of Python's: `whole * 0.5` is no float64."""
    made = operator.call(*args, **kwargs)
    if made is None:
        return args[0]
    made = flat(made)
    if any(result.dtype != dtype for result, dtype in zip(made, types)):
        made = flat(operator.call(*map(_number, args), **kwargs))
    return made


def described_in(values):
    """The tensors among the arguments, in their order."""
    for value in values:
        if type(value) is tuple:
            yield value
        elif type(value) is list:
            yield from described_in(value)


class Guard:
    """Nothing of what is computed goes through modes, autograd or transforms of the program's. Threads may be within it at the
    same time, as operators let others run: each leaves what it entered itself."""

    def __init__(self):
        self.entered = threading.local()
        names = [name for name in ("Python", "PythonTLSSnapshot", "PythonDispatcher", "FuncTorchDynamicLayerFrontMode",
                                   "FuncTorchDynamicLayerBackMode", "FuncTorchBatched", "AutocastCPU", "AutogradCPU",
                                   "AutogradOther", "ADInplaceOrView", "Functionalize")
                 if hasattr(torch._C.DispatchKey, name)]
        self.exclude = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, names[0]))
        for name in names[1:]:
            self.exclude = self.exclude | torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, name))
        self.include = torch._C.DispatchKeySet(torch._C.DispatchKey.BackendSelect)

    def __enter__(self):
        held = self.entered.__dict__.setdefault("held", [])
        for guard in (torch._C._ForceDispatchKeyGuard(self.include, self.exclude), torch._C.DisableTorchFunction()):
            guard.__enter__()
            held.append(guard)

    def __exit__(self, *_):
        for _ in range(2):
            self.entered.held.pop().__exit__(None, None, None)
