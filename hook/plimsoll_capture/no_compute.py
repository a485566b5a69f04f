"""Runs a program without its arithmetic: the results of operators have their memory and not their values.

A dispatch mode below autograd gets every ATen operator. Views are made as always. An operator in place gives back its argument. The
results of all others are shaped by the operator on meta tensors, once for each combination of arguments, and allocated on the CPU without being
filled, so that their pages stay untouched. Small tensors are computed: counters, masks and positions steer programs.
What a program reads of tensors that nobody computed is zero, as on plimsoll's virtual device.
"""

import contextlib
import ctypes
import sys

from .shared import selections
from .storages import observer

SMALL = 16 << 10         # bytes of a tensor up to which operators compute
FILLED = 1 << 20         # the same for tensors that are made from nothing
_ZEROED = 64 << 10       # results up to this are zeros; others are whatever the memory holds

# Operators in place that change what a tensor is, and not only its values.
_CHANGING = {"set_", "resize_", "resize_as_", "_resize_output_", "resize_as_sparse_", "detach_", "t_", "transpose_", "squeeze_", "unsqueeze_",
             "swapdims_", "swapaxes_", "as_strided_", "rename_", "requires_grad_", "copy_sparse_to_sparse_"}

_VIEW, _IN_PLACE, _OUT, _FRESH, _SCALAR, _FACTORY = range(6)


def _sort(torch, func):
    """What kind of operator it is, and for those in place which arguments come back."""
    schema = func._schema
    name = schema.name.split("::")[1]
    tensors = [a for a in schema.arguments if "Tensor" in str(a.type)]
    if name in _CHANGING or torch.Tag.inplace_view in func.tags:
        return _VIEW, None
    if any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns):
        return _VIEW, None
    if schema.returns and not any("Tensor" in str(r.type) for r in schema.returns):
        return _SCALAR, None
    written = [(i, a) for i, a in enumerate(schema.arguments) if a.alias_info is not None and a.alias_info.is_write]
    if written and any(a.kwarg_only and a.is_out for _, a in written):
        return _OUT, [a.name for _, a in written]
    if written and all(r.alias_info is not None for r in schema.returns):
        return _IN_PLACE, _returned(schema, written)
    if not tensors:
        return _FACTORY, None
    return _FRESH, None


def _returned(schema, written):
    """The written arguments that are returned, in order."""
    found = []
    for result in schema.returns:
        names = result.alias_info.before_set
        found.append(next((i, a.name) for i, a in written if a.alias_info.before_set & names))
    return found


class Shapes:
    """Finds out what the results of an operator look like."""

    def __init__(self, torch):
        self.torch = torch
        self.known = {}
        self.meta = torch.device("meta")
        self.index = torch.ops.aten.index.Tensor
        self.tensor = torch.Tensor

    def positions(self, indices):
        """A mask stands for the positions where it is true; it is read as true nowhere."""
        found = []
        for index in indices:
            mask = isinstance(index, self.tensor) and index.dtype in (self.torch.bool, self.torch.uint8)
            found += [self.torch.empty(0, dtype=self.torch.int64)] * index.dim() if mask else [index]
        return found

    def key(self, values):
        found = []
        for value in values:
            kind = type(value)
            if kind is self.tensor or isinstance(value, self.tensor):
                found += (value.shape, value.stride(), value.dtype)
            elif kind is list or kind is tuple:
                found.append(self.key(value))
            else:
                found += (kind, value)
        return tuple(found)

    def on_meta(self, value, scalars):
        if isinstance(value, self.tensor):
            if scalars and value.dim() == 0:
                return value  # whether it was a Python number decides about types, and only this tensor knows
            return self.torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=self.meta)
        if isinstance(value, (list, tuple)):
            return type(value)(self.on_meta(v, scalars) for v in value) if type(value) in (list, tuple) else value
        if isinstance(value, self.torch.device):
            return self.meta
        return value

    def infer(self, func, args, kwargs):
        """The operator's results on meta tensors; None: it has no such kernel. And the tensors that it was given."""
        kwargs = {k: v for k, v in kwargs.items() if k not in ("pin_memory", "generator")}
        if func is self.index:
            args = (args[0], self.positions(args[1]))
        for scalars in (True, False):
            converted = self.on_meta(list(args), scalars)
            named = {k: self.on_meta(v, scalars) for k, v in kwargs.items()}
            if "device" in kwargs or _makes(func):
                named["device"] = self.meta
            try:
                return func(*converted, **named), [converted, list(named.values())]
            except Exception:
                continue
        return None, None

    def results(self, func, args, kwargs):
        """Specifications of the results; None if only computing tells."""
        try:
            key = (func, self.key(args), *kwargs, self.key(kwargs.values())) if kwargs else (func, self.key(args))
            hash(key)
        except TypeError:
            key = None
        if key in self.known:
            return self.known[key]
        found, given = self.infer(func, args, kwargs)
        result = None if given is None else self.specify(found, self.storages(given))
        if key is not None:
            self.known[key] = result
        return result

    def storages(self, value):
        if isinstance(value, self.tensor):
            return {value.untyped_storage()._cdata}
        if isinstance(value, (list, tuple)):
            return set().union(*map(self.storages, value))
        return set()

    def specify(self, value, given):
        """(shape, stride, dtype, elements of the storage); a list of them; None where there is no tensor. False: it shares the
        memory of an argument."""
        if value is None:
            return ()
        if isinstance(value, self.tensor):
            if value.layout is not self.torch.strided or value.untyped_storage()._cdata in given:
                return False
            return (value.shape, value.stride(), value.dtype)
        if isinstance(value, (list, tuple)):
            parts = [self.specify(v, given) for v in value]
            return False if any(p is False or p is None for p in parts) else parts
        return None


def _makes(func):
    """Whether it takes a device of its own."""
    return any(a.name == "device" for a in func._schema.arguments)


def make(torch):
    from torch.utils._python_dispatch import TorchDispatchMode

    tensor_type = torch.Tensor
    empty_strided = torch._C._VariableFunctions.empty_strided
    shapes = Shapes(torch)
    memset = ctypes.CDLL(None).memset
    memset.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t)
    memset.restype = ctypes.c_void_p
    kinds = {}

    def small(values):
        """Whether every tensor is small, and not a part of a large one, whose values nobody computed."""
        for value in values:
            if isinstance(value, tensor_type):
                if value.numel() > SMALL or (value.device.type == "cpu" and value.untyped_storage().nbytes() > SMALL):
                    return False
            elif isinstance(value, (list, tuple)) and not small(value):
                return False
        return True

    def elsewhere(args, kwargs):
        """Whether it is about tensors without memory, of which the program makes use itself."""
        device = kwargs.get("device")
        if device is not None and device.type != "cpu":
            return True
        first = args[0] if args else None
        if type(first) in (list, tuple) and first:
            first = first[0]
        return isinstance(first, tensor_type) and first.device.type != "cpu"

    def allocate(spec):
        if type(spec) is list:
            return [allocate(s) for s in spec]
        if not spec:
            return None
        shape, stride, dtype = spec
        made = empty_strided(shape, stride, dtype=dtype)
        size = made.untyped_storage().nbytes()
        if 0 < size <= _ZEROED:
            memset(made.data_ptr(), 0, size)
        return made

    def assumed(func, args):
        """A number that the program wants to know."""
        name = func._schema.name
        if name == "aten::_local_scalar_dense":
            dtype = args[0].dtype
            return False if dtype is torch.bool else 0.0 if dtype.is_floating_point else 0j if dtype.is_complex else 0
        if name in ("aten::equal", "aten::allclose"):
            return True
        return None

    stand_ins = selections.operators(torch, lambda count: 0)
    for name in ("sum", "sum.dim_IntList"):  # selects nothing: its result has the size that it has
        del stand_ins["aten"][name]

    thread, suspend, resume = _quiet()
    add = torch.ops.aten.add.Tensor
    alone = _uses_of_a_sum(torch, TorchDispatchMode)

    class NoCompute(TorchDispatchMode):
        watch = None  # is called with the results of operators
        kept = False  # somebody has every gradient: none is changed by a sum

        @contextlib.contextmanager
        def keeping(self):
            self.kept = True
            try:
                yield
            finally:
                self.kept = False

        @classmethod
        def _should_skip_dynamo(cls):
            return False  # or newer versions of PyTorch put three more functions around the next one

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            suspend(thread())
            try:
                if types:  # a subclass of Tensor that does something of its own
                    return func(*args, **(kwargs or {}))
                result = self.dispatch(func, args, kwargs or {})
                if self.watch is not None:
                    self.watch(result)
                return result
            finally:
                resume(thread())

        def dispatch(self, func, args, kwargs):
            kind = kinds.get(func)
            if kind is None:
                kind = kinds[func] = _sort(torch, func)
            sort, extra = kind
            if sort == _VIEW or elsewhere(args, kwargs):
                return func(*args, **kwargs)
            if func is add and not self.kept and _by_engine(torch) and _uses(torch, args[0]) == alone:
                return args[0].add_(args[1]) if small(args) else args[0]
            if sort != _FACTORY and small(args) and (not kwargs or small(kwargs.values())):
                try:
                    return self.compute(func, sort, args, kwargs)
                except (RuntimeError, IndexError, ValueError):
                    pass  # values that nobody computed can be none that the operator takes
            return self.pretend(func, sort, extra, args, kwargs)

        def compute(self, func, sort, args, kwargs):
            """Small arguments. Their results may still be large: an embedding's gradient, an expansion."""
            if sort == _FRESH:
                specs = shapes.results(func, args, kwargs)
                if specs and not _fits(specs, FILLED):
                    return allocate(specs)
            return func(*args, **kwargs)

        def pretend(self, func, sort, extra, args, kwargs):
            if sort == _IN_PLACE:
                found = [args[i] if i < len(args) else kwargs[name] for i, name in extra]
                return found[0] if len(found) == 1 else tuple(found) if found else None
            if sort == _SCALAR:
                value = assumed(func, args)
                return func(*args, **kwargs) if value is None else value
            namespace, name = func._schema.name.split("::")
            select = stand_ins.get(namespace, {}).get(name)
            if select is not None:
                return select(*args, **kwargs)
            if sort == _OUT:
                return self.out(func, extra, args, kwargs)
            specs = shapes.results(func, args, kwargs)
            if specs is None or specs is False or (sort == _FACTORY and _fits(specs, FILLED)):
                return func(*args, **kwargs)
            found = allocate(specs)
            return tuple(found) if type(found) is list and len(func._schema.returns) > 1 else found

        def out(self, func, names, args, kwargs):
            found, given = shapes.infer(func, args, kwargs)
            if given is None:
                return func(*args, **kwargs)
            shaped = found if isinstance(found, (list, tuple)) else [found]
            given = [kwargs[name] for name in names if isinstance(kwargs.get(name), tensor_type)]
            for target, shape in zip(given, shaped):
                if target.shape != shape.shape:
                    target.resize_(shape.shape)
            return given[0] if len(given) == 1 else tuple(given)

    return NoCompute()


def _fits(spec, limit):
    if type(spec) is list:
        return all(_fits(s, limit) for s in spec)
    return not spec or spec[0].numel() * spec[2].itemsize <= limit


def _by_engine(torch):
    """Autograd sums gradients that meet. It does so in place if nobody else has the first one, but never under a dispatch
    mode; so that is made up for here."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_name == "_engine_run_backward" and torch._C._current_graph_task_id() != -1


def _uses(torch, tensor):
    return tensor._use_count(), torch._C._storage_Use_Count(tensor.untyped_storage()._cdata)


def _uses_of_a_sum(torch, base):
    """How often a gradient is referred to that only autograd's buffer has, seen from a dispatch mode."""
    found = []

    class Look(base):
        @classmethod
        def _should_skip_dynamo(cls):
            return False

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is torch.ops.aten.add.Tensor:
                found.append(_uses(torch, args[0]))
            return func(*args, **(kwargs or {}))

    with torch.enable_grad():
        x = torch.zeros(2, requires_grad=True)
        y = x.exp()
        z = (y.exp() + y.sin()).sum()
        with Look():
            z.backward()
    return found[-1] if found else None


def _quiet():
    """Functions that hide what happens between them from profilers of Python, PyTorch's among them: a trace is of the program.
    They take the thread's state, and are none of Python, so that they are not seen either."""
    api = ctypes.pythonapi
    thread = api.PyThreadState_Get
    thread.restype = ctypes.c_void_p
    if not hasattr(api, "PyThreadState_EnterTracing"):  # before Python 3.11
        return int, bool, bool
    for function in (api.PyThreadState_EnterTracing, api.PyThreadState_LeaveTracing):
        function.argtypes = (ctypes.c_void_p,)
        function.restype = None
    return thread, api.PyThreadState_EnterTracing, api.PyThreadState_LeaveTracing


def _keep_pages_untouched():
    """Large blocks come from the kernel and go back to it, whatever was freed before; and one byte of a block is one page."""
    c = ctypes.CDLL(None)
    c.mallopt(-3, 256 << 10)          # M_MMAP_THRESHOLD; a fixed one does not grow
    c.prctl(41, 1, 0, 0, 0)           # PR_SET_THP_DISABLE


active = None  # the mode that is on for the whole program


def install(torch):
    global active
    _keep_pages_untouched()
    active = make(torch)
    active.__enter__()


@contextlib.contextmanager
def watched(torch, storages):
    """Notes the results of operators, whether they are computed or not."""
    if active is None:
        with observer(torch, storages):
            yield
        return
    active.watch = storages.see
    try:
        yield
    finally:
        active.watch = None
