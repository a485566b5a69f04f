"""The card's memory: samples of the driver, and PyTorch's own peaks.

The sampler is a thread in C (src/study/measure/sampler.c). The first sample is taken before PyTorch makes CUDA's context: PyTorch does that for the first time
in torch._C._cuda_init, whatever it is asked for, so that is where this waits until the memory of the card stands still, lets PyTorch go on, has
the context made, and waits again. What PyTorch allocates comes after that.
"""

import ctypes
import os

SETTLE = int(os.environ.get("PLIMSOLL_MEASURE_SETTLE", "50"))  # equal samples in a row
PATIENCE = 3000  # milliseconds for that

_PEAKS = ("allocated_bytes.all.peak", "reserved_bytes.all.peak")
# Functions that begin PyTorch's peaks anew; a job may do so, and the largest of all is wanted.
_RESETS = ("_cuda_resetPeakMemoryStats", "_accelerator_resetPeakStats")


class _Samples(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("now", "most", "count", "failed")]


class _Card:
    def __init__(self):
        self.sampler = None  # set once the card is watched
        self.why = ""  # or why it is not
        self.first = self.context = 0
        self.settled = False
        self.held = []  # peaks before they were begun anew


_card = _Card()


def _settle():
    used = ctypes.c_uint64()
    settled = _card.sampler.plm_sampler_settle(SETTLE, PATIENCE, ctypes.byref(used))
    return bool(settled), used.value


def _start():
    library = ctypes.CDLL(os.environ["PLIMSOLL_SAMPLER"])  # calls through it leave Python's lock
    why = ctypes.create_string_buffer(300)
    interval = ctypes.c_uint(int(os.environ["PLIMSOLL_MEASURE_INTERVAL"]))
    if library.plm_sampler_start(os.environ["PLIMSOLL_MEASURE_CARD"].encode(), interval, why, ctypes.c_size_t(len(why))):
        raise OSError(why.value.decode("utf-8", "replace"))
    _card.sampler = library


def _before():
    """False: the card cannot be watched, and the program goes on without."""
    try:
        _start()
        _card.settled, _card.first = _settle()
    except Exception as error:
        _card.why = f"{type(error).__name__}: {error}"
        return False
    return True


def _after(torch):
    try:
        torch._C._cuda_synchronize()  # a context is made by the first call that needs one
        settled, used = _settle()
        _card.settled = _card.settled and settled
        _card.context = max(used - _card.first, 0)
    except Exception as error:
        _card.why = f"{type(error).__name__}: {error}"


def _watched(torch, init):
    """Around the first use of CUDA, which may fail as it would without."""

    def first_use():
        watched = _card.sampler is None and not _card.why and _before()
        init()
        if watched:
            _after(torch)

    return first_use


def _peaks(torch):
    """Those of the device that is in use: one is visible."""
    stats = torch.cuda.memory_stats()
    return [stats.get(name, 0) for name in _PEAKS], stats.get("num_ooms", 0)


def _hold(torch, reset):
    def hold(*arguments):
        try:
            _card.held.append(_peaks(torch)[0])
        except Exception:
            pass  # the program gets PyTorch's own answer
        return reset(*arguments)

    return hold


def watch(torch):
    """Called when torch.cuda has been imported, which is before anything can use the card."""
    if torch.version.cuda is None:
        _card.why = "cpu-only"
        return
    torch._C._cuda_init = _watched(torch, torch._C._cuda_init)
    for name in _RESETS:
        if hasattr(torch._C, name):
            setattr(torch._C, name, _hold(torch, getattr(torch._C, name)))


def _uuid(properties):
    return str(getattr(properties, "uuid", ""))


def facts(torch):
    yield "trouble", _card.why
    if _card.sampler is None:
        return
    last = _Samples()
    _card.sampler.plm_sampler_read(ctypes.byref(last))
    (allocated, reserved), ooms = _peaks(torch)
    properties = torch.cuda.get_device_properties(0)
    yield "gpu", properties.name
    yield "total", properties.total_memory
    yield "uuid", _uuid(properties)
    yield "allocated", max([allocated] + [peaks[0] for peaks in _card.held])
    yield "reserved", max([reserved] + [peaks[1] for peaks in _card.held])
    yield "ooms", ooms
    yield "first", _card.first
    yield "context", _card.context
    yield "most", last.most
    yield "samples", last.count
    yield "failed_samples", last.failed
    yield "settle", SETTLE
    yield "settled", int(_card.settled)
