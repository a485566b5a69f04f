"""Lets a program that names "cuda" run on the CPU, unedited.

Everything that takes a device gets "cpu" in place of "cuda"; torch.cuda's housekeeping does nothing. It is done by replacing a few
functions of torch, and not by a torch function mode, which would put itself into every operator of the trace.
What has no counterpart on a CPU raises Unavailable, which ends the program with one sentence.
"""

import functools
import sys

from . import status


moved = None  # is called with every tensor that the program, and not PyTorch itself, puts on a device


class Unavailable(RuntimeError):
    pass


def _refuse(what):
    raise Unavailable(f"{what} needs a GPU, and a capture runs on the CPU; `plimsoll run` runs it on a virtual GPU")


class Devices:
    """Turns what names a GPU into the CPU."""

    def __init__(self, torch):
        self.cpu = torch.device("cpu")
        self.type = torch.device

    def is_gpu(self, value):
        if isinstance(value, str):
            return value == "cuda" or value.startswith("cuda:")
        return isinstance(value, self.type) and value.type == "cuda"

    def turned(self, value):
        return self.cpu if self.is_gpu(value) else value

    def keyword(self, kwargs):
        device = kwargs.get("device")
        if device is None:
            return
        if self.is_gpu(device) or (isinstance(device, int) and not isinstance(device, bool)):
            kwargs["device"] = self.cpu

    def wrap(self, original):
        """A function with a keyword `device`, and perhaps `pin_memory`."""

        @functools.wraps(original)
        def on_cpu(*args, **kwargs):
            if kwargs:
                self.keyword(kwargs)
                kwargs.pop("pin_memory", None)
            return original(*args, **kwargs)

        return on_cpu

    def wrap_place(self, original, place):
        """The same where the device may also stand at a place among the arguments."""

        @functools.wraps(original)
        def on_cpu(*args, **kwargs):
            self.keyword(kwargs)
            if len(args) > place and self.is_gpu(args[place]):
                args = (*args[:place], self.cpu, *args[place + 1:])
            return original(*args, **kwargs)

        return on_cpu


_LIKE = ("empty_like", "full_like", "ones_like", "rand_like", "randint_like", "randn_like", "zeros_like")
_NEW = ("new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros")


def _factories(torch, devices):
    from torch.utils import _device

    for function in list(_device._device_constructors()):
        for home in (torch, torch.fft, torch.nested):
            if getattr(home, function.__name__, None) is function:
                setattr(home, function.__name__, devices.wrap(function))
    for name in _LIKE:
        setattr(torch, name, devices.wrap(getattr(torch, name)))
    for name in _NEW:
        setattr(torch.Tensor, name, devices.wrap(getattr(torch.Tensor, name)))
    # What `with torch.device("cuda"):` and torch.set_default_device() put into the calls of factories.
    _device.DeviceContext.__init__ = devices.wrap_place(_device.DeviceContext.__init__, 1)
    torch.load = _loaded_on(torch.load, devices)


def _loaded_on(load, devices):
    @functools.wraps(load)
    def on_cpu(*args, **kwargs):
        if len(args) > 1:
            kwargs["map_location"], args = args[1], (args[0], *args[2:])
        kwargs["map_location"] = devices.turned(kwargs.get("map_location")) or devices.cpu
        return load(*args, **kwargs)

    return on_cpu


def _moves(torch, devices):
    to = torch.Tensor.to
    module_to = torch.nn.Module.to

    no_device = (type(None), torch.dtype, torch.Tensor)

    def turned(args, kwargs):
        devices.keyword(kwargs)
        if args and (devices.is_gpu(args[0]) or type(args[0]) is int):
            args = (devices.cpu, *args[1:])
        kwargs.pop("non_blocking", None)
        return args, kwargs

    @functools.wraps(to)
    def tensor_to(self, *args, **kwargs):
        args, kwargs = turned(args, kwargs)
        result = to(self, *args, **kwargs)
        if moved is not None and not isinstance(args[0] if args else kwargs.get("device"), no_device):
            if "/torch/" not in sys._getframe(1).f_code.co_filename:
                moved(result)
        return result

    @functools.wraps(torch.Tensor.cuda)
    def tensor_cuda(self, device=None, non_blocking=False, memory_format=torch.preserve_format):
        result = to(self, devices.cpu, memory_format=memory_format)
        if moved is not None:
            moved(result)
        return result

    @functools.wraps(module_to)
    def to_cpu(self, *args, **kwargs):
        args, kwargs = turned(args, kwargs)
        return module_to(self, *args, **kwargs)

    @functools.wraps(torch.nn.Module.cuda)
    def module_cuda(self, device=None):
        return module_to(self, devices.cpu)

    torch.Tensor.to, torch.Tensor.cuda = tensor_to, tensor_cuda
    torch.nn.Module.to, torch.nn.Module.cuda = to_cpu, module_cuda
    torch.Tensor.pin_memory = lambda self, device=None: self
    torch.Tensor.is_pinned = lambda self, device=None: False
    torch.Tensor.record_stream = lambda self, stream: None


autocast_to = None  # the type that the program last asked a GPU's autocast for


def _autocast(torch, devices):
    """A GPU's half precision becomes the CPU's: bfloat16, of the same size, for which the CPU has all kernels."""
    autocast = torch.amp.autocast_mode.autocast
    original = autocast.__init__

    @functools.wraps(original)
    def on_cpu(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        global autocast_to
        if devices.is_gpu(device_type):
            if enabled:
                autocast_to = str(dtype or torch.float16).replace("torch.", "")
            device_type = "cpu"
            dtype = torch.bfloat16 if dtype in (None, torch.float16) else dtype
        return original(self, device_type, dtype, enabled, cache_enabled)

    autocast.__init__ = on_cpu


def _generator(original, devices):
    """torch.Generator, which is also asked whether something is one."""

    class Kind(type):
        def __instancecheck__(cls, value):
            return isinstance(value, original)

        def __call__(cls, device="cpu"):
            return original(device=devices.turned(device))

    return Kind("Generator", (), {"__doc__": original.__doc__})


class _Event:
    """torch.cuda.Event, as programs use it to take the time."""

    def __init__(self, *_args, **_kwargs):
        pass

    def record(self, stream=None):
        pass

    wait = record

    def synchronize(self):
        pass

    def query(self):
        return True

    def elapsed_time(self, other):
        return 0.0


_NOTHING = ("empty_cache", "init", "ipc_collect", "manual_seed", "manual_seed_all", "reset_accumulated_memory_stats", "reset_max_memory_allocated",
            "reset_max_memory_cached", "reset_peak_memory_stats", "seed", "seed_all", "set_device", "set_per_process_memory_fraction",
            "synchronize", "set_rng_state", "set_rng_state_all")
_ZERO = ("current_device", "max_memory_allocated", "max_memory_cached", "max_memory_reserved", "memory_allocated", "memory_cached",
         "memory_reserved", "utilization")
_REFUSED = ("CUDAGraph", "ExternalStream", "Stream", "current_stream", "default_stream", "get_device_properties", "graph", "make_graphed_callables",
            "mem_get_info", "set_stream", "stream")


def _housekeeping(torch):
    cuda = torch.cuda

    def put(name, function, home=cuda):
        if hasattr(home, name):
            function.__name__ = name
            setattr(home, name, function)

    for name in _NOTHING:
        put(name, lambda *args, **kwargs: None)
    for name in _ZERO:
        put(name, lambda *args, **kwargs: 0)
    for name in _REFUSED:
        put(name, _refusing(f"torch.cuda.{name}"))
    for name in ("mark", "range_pop", "range_push"):
        put(name, lambda *args, **kwargs: 0, cuda.nvtx)
    put("memory_stats", lambda *args, **kwargs: {})
    put("memory_summary", lambda *args, **kwargs: "")
    put("memory_snapshot", lambda *args, **kwargs: [])
    put("get_device_name", lambda *args, **kwargs: "CPU")
    put("get_device_capability", lambda *args, **kwargs: (8, 0))
    put("is_bf16_supported", lambda *args, **kwargs: True)
    put("get_rng_state", lambda *args, **kwargs: torch.get_rng_state())
    put("get_rng_state_all", lambda *args, **kwargs: [])
    put("_exchange_device", lambda *args, **kwargs: -1)
    put("_maybe_exchange_device", lambda *args, **kwargs: -1)
    put("_lazy_init", _uninitialized)
    cuda.Event = _Event


def _refusing(what):
    def refused(*_args, **_kwargs):
        _refuse(what)

    return refused


def _uninitialized():
    """Whatever else wants a GPU comes here."""
    frame = sys._getframe(1)
    while frame is not None and "/torch/" in frame.f_code.co_filename:
        frame = frame.f_back
    where = f"line {frame.f_lineno} of {frame.f_code.co_filename}" if frame is not None else "the program"
    _refuse(where)


def _hook_end():
    """One sentence in place of a traceback that would show functions of plimsoll."""
    original = sys.excepthook

    def report(kind, value, trace):
        if issubclass(kind, Unavailable):
            status.problem(str(value))
        else:
            original(kind, value, trace)

    sys.excepthook = report


def install(torch):
    devices = Devices(torch)
    _factories(torch, devices)
    _moves(torch, devices)
    _autocast(torch, devices)
    _housekeeping(torch)
    _hook_end()
    torch.cuda.is_available = lambda: False
    torch.cuda.device_count = lambda: 0
    torch.Generator = _generator(torch.Generator, devices)
