#!/usr/bin/env python3
"""Measures what a software stack takes on the GPU of this machine, and writes a stack file for plimsoll.

    python plimsoll_calibrate.py [--list ROWS] [-o STACK.ini]

It needs PyTorch and nothing else, so that this one file can be copied to the machine with the GPU. ROWS is what
`plimsoll calibrate --record JOB.plm --list` prints: the convolutions, recurrent networks and transforms of a job. docs/workspaces.md
tells how each figure is measured.
"""
import argparse
import ctypes
import datetime
import os
import re
import sys
import tempfile
import tempfile
import threading

MIB = 1 << 20
PLANS = 16  # of one convolution in a stack file
TYPES = {"fp32": "float32", "fp64": "float64", "fp16": "float16", "bf16": "bfloat16"}


class Broken(Exception):
    """One sentence for the user."""


# ---- the rows ----


def sizes(text):
    return [int(part) for part in text.split("x")]


def after(words, name):
    return words[words.index(name) + 1]


def type_of(words):
    return next(word for word in words if word in TYPES)


def convolution_of(text):
    words = text.split()
    return {"op": words[0], "x": sizes(words[1]), "w": sizes(words[2]), "stride": sizes(after(words, "stride")),
            "pad": sizes(after(words, "pad")), "dilation": sizes(after(words, "dilation")), "groups": int(after(words, "groups")),
            "type": type_of(words), "tf32": "tf32" in words, "last": words[-1] == "nhwc"}


def rnn_of(text):
    words = text.split()
    row = {name: int(after(words, name)) for name in ("layers", "directions", "input", "hidden", "output", "steps", "batch")}
    return {**row, "cell": words[0], "type": type_of(words), "training": "training" in words, "dropout": "dropout" in words,
            "bias": "no-bias" not in words}


def fft_of(text):
    words = text.split()
    return {"kind": words[0], "n": sizes(words[1]), "batch": int(after(words, "batch")), "type": type_of(words)}


def read_rows(path):
    """Lines `section<tab>row`; empty ones and those with # are passed over."""
    rows = {"convolution": [], "rnn": [], "fft": []}
    parsers = {"convolution": convolution_of, "rnn": rnn_of, "fft": fft_of}
    try:
        lines = (sys.stdin if path == "-" else open(path, encoding="utf-8")).read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Broken(f"{path}: {error}") from error
    for number, line in enumerate(lines, 1):
        section, _, text = line.strip().partition("\t")
        if not section or section.startswith("#"):
            continue
        try:
            parsers[section](text)
            rows[section].append(text)
        except (KeyError, ValueError, IndexError, StopIteration) as error:
            raise Broken(f"{path}:{number}: this is not a line of `plimsoll calibrate --list`") from error
    return rows, parsers


# ---- memory of the card ----


class Nvml:
    """What the driver says is in use on each card, before and after a context exists. The library comes with the driver."""

    class Memory(ctypes.Structure):
        _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]

    def __init__(self):
        self.library = None
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
            if library.nvmlInit_v2() == 0:
                self.library = library
        except (OSError, AttributeError):
            pass

    def used(self):
        """One figure for each card, [] if they are not known."""
        count, result = ctypes.c_uint(), []
        if not self.library or self.library.nvmlDeviceGetCount_v2(ctypes.byref(count)):
            return []
        for index in range(count.value):
            handle, memory = ctypes.c_void_p(), self.Memory()
            if self.library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)) or \
                    self.library.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)):
                return []
            result.append(memory.used)
        return result

    def driver(self):
        text = ctypes.create_string_buffer(80)
        if not self.library or self.library.nvmlSystemGetDriverVersion(text, 80):
            return ""
        return text.value.decode("ascii", "replace")


def outside():
    """Bytes of the card in use that PyTorch's allocator did not take."""
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    return total - free - torch.cuda.memory_reserved()


def context(nvml):
    """What the first use of CUDA takes on the card that this process got; None if it cannot be told."""
    before = nvml.used()
    torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    grown = [now - then for now, then in zip(nvml.used(), before)]
    taken = max(grown, default=0) - torch.cuda.memory_reserved()
    return taken if taken > 0 else None


def use_cublas():
    torch.mm(torch.zeros(64, 64, device="cuda"), torch.zeros(64, 64, device="cuda"))


def use_cudnn():
    torch.nn.functional.conv2d(torch.zeros(2, 8, 16, 16, device="cuda"), torch.zeros(8, 8, 3, 3, device="cuda"))


def use_cufft():
    torch.fft.fft(torch.zeros(2, 64, device="cuda"))


def use_cusolver():
    torch.linalg.qr(torch.eye(64, device="cuda"))


def use_nccl():
    import torch.distributed as dist

    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("nccl", init_method=f"file://{folder}/store", rank=0, world_size=1)
        dist.all_reduce(torch.zeros(1024, device="cuda"))
        torch.cuda.synchronize()
        grown = outside()
        dist.destroy_process_group()
    return grown


def growth():
    """What the first use of each library adds, in the order of a stack file. One that does not work is left out."""
    result = {}
    for name, use in (("cublas", use_cublas), ("cudnn", use_cudnn), ("cufft", use_cufft), ("cusolver", use_cusolver),
                      ("nccl", use_nccl)):
        before = outside()
        try:
            now = use()
            result["after_" + name] = max(0, (outside() if now is None else now) - before)
        except (RuntimeError, ImportError, AttributeError, ValueError) as error:
            say(f"{name}: {str(error).splitlines()[0][:120]}; left out")
    return result


def usable():
    """What is in use when the last small allocation fails; None if the card has no end (plimsoll's, without --bounded)."""
    total, held = torch.cuda.mem_get_info()[1], []
    torch.cuda.empty_cache()
    for size in (1024 * MIB, 128 * MIB, 16 * MIB, 2 * MIB):
        while sum(t.numel() for t in held) <= total:
            try:
                held.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
            except torch.cuda.OutOfMemoryError:
                break
    free, taken = torch.cuda.mem_get_info()[0], sum(t.numel() for t in held)
    held.clear()
    torch.cuda.empty_cache()
    return None if taken > total else total - free


# ---- rows ----


def workspace(run):
    """Bytes that one call asked for and gave back: its peak without what is left. In requested bytes, so nothing is rounded."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    kept = run()
    torch.cuda.synchronize()
    stats = torch.cuda.memory_stats()
    del kept
    return stats["requested_bytes.all.peak"] - stats["requested_bytes.all.current"]


def make(shape, row):
    made = torch.empty(shape, dtype=getattr(torch, TYPES[row["type"]]), device="cuda")
    if not row["last"]:
        return made
    return made.to(memory_format=torch.channels_last if len(shape) == 4 else torch.channels_last_3d)


def convolution_call(row):
    """A function of `benchmark` that does the operation, and its operands live as long as it does."""
    axes = range(len(row["stride"]))
    stride, pad, dilation, groups = row["stride"], row["pad"], row["dilation"], row["groups"]
    out = [(row["x"][i + 2] + 2 * pad[i] - dilation[i] * (row["w"][i + 2] - 1) - 1) // stride[i] + 1 for i in axes]
    w, y_shape = make(row["w"], row), [row["x"][0], row["w"][0], *out]
    aten = torch.ops.aten
    if row["op"] == "forward":
        x = make(row["x"], row)
        return lambda benchmark: aten.cudnn_convolution(x, w, pad, stride, dilation, groups, benchmark, False, row["tf32"])
    y = make(y_shape, row)
    if row["op"] == "backward-data":
        rest = [row["x"][i + 2] - ((out[i] - 1) * stride[i] - 2 * pad[i] + dilation[i] * (row["w"][i + 2] - 1) + 1) for i in axes]
        return lambda benchmark: aten.cudnn_convolution_transpose(y, w, pad, rest, stride, dilation, groups, benchmark, False,
                                                                  row["tf32"])
    x = make(row["x"], row)

    def gradient(benchmark):
        torch.backends.cudnn.benchmark, torch.backends.cudnn.allow_tf32 = benchmark, row["tf32"]
        return aten.convolution_backward(y, x, w, None, stride, pad, dilation, False, [0 for _ in axes], groups,
                                         [False, True, False])

    return gradient


def in_thread(function):
    """PyTorch remembers plans per thread: a new one chooses anew."""
    box = []

    def body():
        try:
            box.append((function(), None))
        except Exception as error:  # noqa: BLE001: it is raised again by the caller
            box.append((None, error))

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    value, error = box[0]
    if error:
        raise error
    return value


def allow(total, bytes_reserved=None):
    """How much PyTorch's allocator may take from the card; without a figure, all."""
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(1.0 if bytes_reserved is None else bytes_reserved / total)


def with_fewer_segments(call, total, found):
    """Goes on to the plan that PyTorch takes if the segments for the last one are not to be had. None: there is none."""
    allow(total)
    limit = None
    while True:
        allow(total, limit)
        size = workspace(lambda: call(False))
        if size != found[-1]:
            return size if size < found[-1] else None
        lower = torch.cuda.memory_stats()["reserved_bytes.all.peak"] - MIB  # segments are multiples of 2 MiB
        if limit is not None and lower >= limit:
            return None
        limit = lower


def fill(held):
    """Takes all that is left in the segments that the allocator has."""
    for size in [1 << power for power in range(36, 8, -1)]:
        while True:
            try:
                held.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
            except torch.cuda.OutOfMemoryError:
                break


def block(size):
    return torch.empty(size, dtype=torch.uint8, device="cuda") if size > 0 else None


def size_of(result):
    parts = [result] if torch.is_tensor(result) else [part for part in result if part is not None]
    return sum(part.numel() * part.element_size() for part in parts)


def with_room(call, total, room_bytes):
    """The workspace if nothing is free but room for the result and for a workspace of so many bytes. None: it does not work."""
    allow(total)
    out_bytes = size_of(call(False))
    torch.cuda.empty_cache()
    # What lies between the two keeps them apart when they are free.
    out, between, room = block(out_bytes), block(512), block(room_bytes)
    held = [between, block(512)]
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + MIB) / total)
    fill(held)
    del out, room
    try:
        return workspace(lambda: call(False))
    except RuntimeError:
        return None


def with_less_room(call, total, found):
    """The same for plans that find room in segments that are there. The allocator counts in 512 bytes."""
    less = -(-found[-1] // 512) * 512 - 512
    for room_bytes in sorted({less, min(less, MIB), 0}, reverse=True):
        size = with_room(call, total, room_bytes)
        if size is not None and size < found[-1]:
            return size
    return None


def plans_in_turn(call):
    """The workspace of the first plan; then, with less and less memory, of those that PyTorch goes on with."""
    total = torch.cuda.get_device_properties(0).total_memory
    found = [workspace(lambda: call(False))]
    for less in (with_fewer_segments, with_less_room):
        try:
            while found[-1] and len(found) < PLANS - 2:
                size = less(call, total, found)
                if size is None:
                    break
                found.append(size)
        except RuntimeError:  # nothing fits any more; some versions say so in words of their own
            pass
        finally:
            allow(total)
    return found


def benchmarked(call):
    """The most that benchmark mode tries, and the workspace of the plan that it keeps."""
    return workspace(lambda: call(True)), workspace(lambda: call(True))


def convolution(row):
    call = convolution_call(row)
    found = in_thread(lambda: plans_in_turn(call))
    most, kept = in_thread(lambda: benchmarked(call))
    for size in (most, kept):
        if size not in found:
            found.append(size)
    return ", ".join(f"{size}*" if index and size == kept else str(size) for index, size in enumerate(found))


def rnn(row):
    kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}.get(row["cell"], torch.nn.RNN)
    more = {"nonlinearity": row["cell"]} if kind is torch.nn.RNN else {}
    if row["output"] != row["hidden"]:
        more["proj_size"] = row["output"]
    kind_of_number = getattr(torch, TYPES[row["type"]])
    # On the card at once: nothing here depends on the values.
    net = kind(row["input"], row["hidden"], row["layers"], bias=row["bias"], dropout=0.5 if row["dropout"] else 0.0,
               bidirectional=row["directions"] == 2, device="cuda", dtype=kind_of_number, **more)
    net.train(row["training"])
    x = torch.empty(row["steps"], row["batch"], row["input"], device="cuda", dtype=kind_of_number)
    states = [torch.empty(row["layers"] * row["directions"], row["batch"], size, device="cuda", dtype=kind_of_number)
              for size in (row["output"], row["hidden"])]
    state = tuple(states) if row["cell"] == "lstm" else states[0]
    with torch.set_grad_enabled(row["training"]):
        out = net(x, state)[0]  # the first call makes what is kept for all
        reserve = out.grad_fn._saved_result3 if row["training"] else None
        bytes_reserved = reserve.numel() * reserve.element_size() if reserve is not None else 0
        del out, reserve
        return f"{workspace(lambda: net(x, state))}, {bytes_reserved}"


def fft(row):
    real = {"fp16": "float16", "fp32": "float32", "fp64": "float64"}[row["type"]]
    whole = {"fp16": "complex32", "fp32": "complex64", "fp64": "complex128"}[row["type"]]
    dims, shape = list(range(-len(row["n"]), 0)), [row["batch"], *row["n"]]
    if row["kind"] == "c2r":
        shape[-1] = shape[-1] // 2 + 1
    x = torch.empty(shape, dtype=getattr(torch, real if row["kind"] == "r2c" else whole), device="cuda")
    calls = {"c2c": lambda: torch.fft.fftn(x, dim=dims), "r2c": lambda: torch.fft.rfftn(x, dim=dims),
             "c2r": lambda: torch.fft.irfftn(x, s=row["n"], dim=dims)}
    calls[row["kind"]]()  # makes the plan
    # cuFFT may overwrite what it transforms to real numbers: PyTorch gives it a copy.
    copy = x.numel() * x.element_size() if row["kind"] == "c2r" else 0
    return str(workspace(calls[row["kind"]]) - copy)


def measure_rows(rows, parsers):
    result = {}
    functions = {"convolution": convolution, "rnn": rnn, "fft": fft}
    for section, texts in rows.items():
        result[section] = []
        for number, text in enumerate(texts, 1):
            progress(f"{section} {number} of {len(texts)}")
            try:
                result[section].append((text, functions[section](parsers[section](text))))
            except RuntimeError as error:  # an OutOfMemoryError too
                say(f"{text}: {str(error).splitlines()[0][:120]}; left out")
            torch.cuda.empty_cache()
    progress("")
    return result


# ---- the file ----


def say(sentence):
    progress("")
    print(f"plimsoll: {sentence}", file=sys.stderr)


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def dotted(version):
    if isinstance(version, int):
        return f"{version // 10000}.{version // 100 % 100}.{version % 100}"
    return ".".join(map(str, version))


def identity(driver):
    device = torch.cuda.get_device_properties(0)
    virtual = bool(os.environ.get("PLIMSOLL_SHIMS"))
    torch_version = torch.__version__.split("+")[0]
    lines = [("name", f"{device.name}, PyTorch {torch_version}, CUDA {torch.version.cuda}"),
             ("made", "written" if virtual else "measured"),
             ("source", "plimsoll's virtual device, not a GPU" if virtual else "plimsoll calibrate"),
             ("date", datetime.date.today().isoformat()), ("torch", torch_version), ("cuda", torch.version.cuda), ("driver", driver),
             ("cudnn", dotted(torch.backends.cudnn.version() or 0)), ("nccl", nccl_version()), ("gpu", device.name),
             ("compute_capability", f"{device.major}.{device.minor}"), ("sms", str(device.multi_processor_count))]
    return [(key, value) for key, value in lines if value], torch_version


def nccl_version():
    try:
        return dotted(torch.cuda.nccl.version())
    except (RuntimeError, AttributeError):
        return ""


def write(path, force, stack, memory, rows):
    text = ["# Made by `plimsoll calibrate`. docs/workspaces.md of plimsoll has the format.", "[stack]"]
    text += [f"{key} = {value}" for key, value in stack]
    text += ["", "[memory]", *(f"{key} = {value}" for key, value in memory.items() if value is not None)]
    for section, measured in rows.items():
        if measured:
            text += ["", f"[{section}]", *(f"{row} = {value}" for row, value in measured)]
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        write_whole(os.path.realpath(path), force, "\n".join(text) + "\n")
    except FileExistsError as error:
        raise Broken(f"{path} exists; use -f to replace it") from error
    except OSError as error:
        raise Broken(f"cannot write {path}: {error.strerror}") from error


def write_whole(path, force, text):
    """As src/base/output.h has it: beside its place first, then over a regular file or nothing."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8") as out:  # a device or a pipe
            out.write(text)
        return
    mask = os.umask(0)
    os.umask(mask)
    fd, made = tempfile.mkstemp(prefix=os.path.basename(path)[:200] + ".", suffix=".tmp", dir=os.path.dirname(path))
    try:
        with open(fd, "w", encoding="utf-8") as out:
            out.write(text)
            os.fchmod(fd, 0o666 & ~mask)
        if force:
            os.replace(made, path)
        else:
            os.link(made, path)
    finally:
        if os.path.exists(made):
            os.unlink(made)


def own_folder():
    config = os.environ.get("XDG_CONFIG_HOME", "")
    return os.path.join(config if os.path.isabs(config) else os.path.expanduser("~/.config"), "plimsoll", "stacks")


def file_name(gpu, torch_version):
    plain = re.sub(r"nvidia|geforce", "", gpu.lower())
    return re.sub(r"[^a-z0-9.]+", "-", f"{plain}-torch{torch_version}").strip("-") + ".ini"


def arguments():
    parser = argparse.ArgumentParser(prog="plimsoll_calibrate.py", description="Measures what a software stack takes on this GPU.")
    parser.add_argument("--list", default=None, help="what to measure: the output of `plimsoll calibrate --record JOB --list`")
    parser.add_argument("-o", "--output", default=None, help="the stack file (default: one in ~/.config/plimsoll/stacks)")
    parser.add_argument("-f", "--force", action="store_true", help="overwrite an existing file")
    parser.add_argument("--rows-only", action="store_true", help="skip context and library memory")
    return parser.parse_args()


def run(options):
    global torch
    rows, parsers = read_rows(options.list) if options.list else ({}, {})
    if options.output and os.path.exists(options.output) and not options.force:
        raise Broken(f"{options.output} exists; use -f to replace it")
    nvml = Nvml()
    try:
        import torch
    except ModuleNotFoundError as error:
        raise Broken(f"this Python ({sys.executable}) has no PyTorch; choose an interpreter with --python") from error
    except (ImportError, OSError, ValueError) as error:  # ValueError: releases that look for NVIDIA's packages and find none
        raise Broken(f"PyTorch cannot be imported here: {str(error).splitlines()[0][:200]}") from error
    if not torch.cuda.is_available():
        raise Broken("there is no GPU here that PyTorch can use; copy this script to a machine that has one")
    if os.environ.get("PLIMSOLL_SHIMS") and not options.output:
        raise Broken("on plimsoll's virtual device a stack file is only written where -o says")
    memory = {}
    if not options.rows_only:
        memory = {"usable": None, "context": context(nvml), **growth()}
    measured = measure_rows(rows, parsers)
    if not options.rows_only:
        memory["usable"] = usable()
    stack, torch_version = identity(nvml.driver())
    path = options.output or os.path.join(own_folder(), file_name(torch.cuda.get_device_properties(0).name, torch_version))
    write(path, options.force, stack, memory, measured)
    print(path)


def main():
    options = arguments()
    try:
        run(options)
    except Broken as error:
        say(str(error))
        return 125
    return 0


if __name__ == "__main__":
    sys.exit(main())
