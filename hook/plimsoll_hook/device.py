"""The device library, as the hook calls it: src/device/hook_api.c and src/device/python.c."""

import ctypes
import os

_library = ctypes.CDLL(None)
_python = ctypes.PyDLL(None)  # the same, for what needs Python's lock

DETAIL = os.environ.get("PLIMSOLL_DETAIL", "full")
PROCESS = os.getpid()  # the one that the hook was loaded into; forks have other numbers


def _objects(function):
    """What a function of the library makes that returns an object of Python's."""
    function.restype = ctypes.py_object
    return function()


# What the library and the hook share: src/device/shared.def.
_shared = dict(_objects(_python.plm_hook_constants))
globals().update((name, value) for name, value in _shared.items() if "." not in name)  # device.PARAMETERS, ...


def _under(prefix):
    return {name.removeprefix(prefix): value for name, value in _shared.items() if name.startswith(prefix)}


SCALAR_TYPES = _under("torch.")  # by name, c10::ScalarType
# src/common/policy.def, in order of precedence, each with the kind of note that tells it: what an operator leaves, what the host reads.
LEAVES = _under("leaves.")
READS = _under("reads.")


def encode(value):
    return str(value).encode("utf-8", "replace")


def config(key, value):
    _library.plm_hook_config(encode(key), encode(value))


_noted = set()


def note(kind, value=""):
    """Once for every kind and value."""
    if (kind, value) not in _noted:
        _noted.add((kind, value))
        _library.plm_hook_note(encode(kind), encode(value))


def text(value):
    return _library.plm_hook_text(encode(value))


def record(path):
    """In a fork: what follows goes into another record."""
    _noted.clear()
    _library.plm_hook_record(os.fsencode(path))


def imported(_module):
    """For the progress line: the import of torch comes to its end."""
    _library.plm_hook_imported()


def step(number, optimizers):
    """Tells that a step ended. True: the program has run long enough."""
    return bool(_library.plm_hook_step(ctypes.c_uint32(number), ctypes.c_uint32(optimizers)))


def observe(operators):
    return bool(_library.plm_hook_observe(int(operators)))


def group(name, ranges, ranks, place):
    """Tells a process group that is about to be made; `place` is None where this process is not in it."""
    members = (ctypes.c_uint32 * len(ranks))(*ranks)
    _library.plm_hook_group(encode(name), encode(ranges), members, ctypes.c_uint32(len(ranks)),
                            ctypes.c_uint32(NOT_A_MEMBER if place is None else place))


def group_made(options):
    """It has been made, or could not be."""
    _library.plm_hook_group_made(ctypes.c_uint64(options))


def shard(category, local, whole):
    """Tells how many bytes of a category this rank holds, and how many one would that held all."""
    _library.plm_hook_shard(ctypes.c_uint32(category), ctypes.c_uint64(local), ctypes.c_uint64(whole))


class Sample(ctypes.Structure):
    """struct plm_tensors_sample of src/device/tensors.h"""

    _fields_ = [("object", ctypes.c_uint64), ("type", ctypes.c_uint32), ("dimensions", ctypes.c_uint32),
                ("size", ctypes.c_int64 * SAMPLE_DIMENSIONS)]


def locate_tensors(samples):
    """Tells the sizes of some tensors. True: it is known where tensors have them."""
    return bool(_library.plm_hook_tensors((Sample * len(samples))(*samples), ctypes.c_uint32(len(samples))))


def learn_type(tensor, size):
    return bool(_library.plm_hook_type(ctypes.c_uint64(tensor), ctypes.c_uint32(size)))


def sampled(what, first, second, call):
    """Calls an operator with these two tensors. True: it is known where operators have their inputs."""
    _library.plm_hook_sample(ctypes.c_uint32(what), ctypes.c_uint64(first), ctypes.c_uint64(second))
    try:
        call()
    finally:
        found = _library.plm_hook_sampled()
    return bool(found)


def learn_kind(kind, number, call):
    """Calls an operator whose argument of that number is of that kind."""
    return sampled(KIND, number, kind, call)


class StorageSample(ctypes.Structure):
    """struct plm_storage_sample of src/device/tensors.h"""

    _fields_ = [(name, ctypes.c_uint64) for name in ("object", "storage", "data", "bytes", "offset")]


def locate_storage(*sample):
    return bool(_library.plm_hook_storage(ctypes.byref(StorageSample(*sample))))


def follow(*functions):
    """The functions that compute values. True: they will be called."""
    start = _python.plm_hook_values
    start.argtypes = [ctypes.py_object] * len(functions)
    return bool(start(*functions))


def progress():
    """How far the program is: (its steps, launches of kernels, bytes that are allocated)."""
    numbers = (ctypes.c_uint64 * 3)()
    _library.plm_hook_progress(numbers)
    return tuple(numbers)


start = _library.plm_hook_start
leave = _library.plm_hook_leave
replays = _library.plm_hook_replays  # whether ranks that ran before left messages
replayed = _library.plm_hook_replayed  # how many of them this rank received
replayed.restype = ctypes.c_uint64
barrier = _library.plm_hook_barrier  # the program stands at one: waits for the ranks that have not come there
observe_inputs = _library.plm_hook_inputs
observe_values = _library.plm_hook_observe_values
sizes = _library.plm_hook_sizes  # the end of locating. Not 0: sizes are known from now on
stop_following = _library.plm_hook_values_stop
smaller = _library.plm_hook_smaller  # a loop waits for assumed numbers to become small
evaluated = _library.plm_hook_evaluated  # a backward pass has ended within a step of an optimizer
checking = _library.plm_hook_checking  # 1 and -1 around what checks whether arguments are valid: unknown ones are taken to be
expected = _library.plm_hook_expected  # the size of the running operator's result, if it follows from the host's data; else -1
expected.restype = ctypes.c_int64
enter, phase, leave_frame, depth, tag, life, outermost_pass, operands = _objects(_python.plm_hook_functions)
