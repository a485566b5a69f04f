#!/usr/bin/env python3
"""Measures how fast the GPU of this machine is at a short list of things, for the time model of plimsoll. About a minute.

    python plimsoll_calibrate_time.py >FIGURES.jsonl

It needs PyTorch and nothing else, so that this one file can be copied to the machine with the GPU. `plimsoll calibrate --time` starts it by
itself; `plimsoll calibrate --time --figures FIGURES.jsonl` takes what it printed elsewhere. It prints one JSON object in a line: first what was
measured on, then a line for each figure with its microseconds and its work in the terms of plimsoll's model (src/time/works.h), then their
number, so that half of a list is not taken for the whole. docs/measure.md tells how each figure is measured.
"""
import argparse
import ctypes
import json
import os
import statistics
import sys
import tempfile
import time
import warnings

MIB = 1 << 20
ROUNDS = 9  # of which the median counts
QUEUED = 100  # calls in a round at most: what the driver's queue holds
ROUND = 0.01  # seconds of the card in a round, about
SLOW = 0.06  # a call that takes longer is not tried in a larger size
CLOCK = 2e9  # cycles a second, to sleep for long enough


class Broken(Exception):
    """One sentence for the user."""


# ---- how times are taken ----


def on_card(call):
    """Microseconds of the card for each call, one after the other. While they are queued the card sleeps, so that the host's pace does not count."""
    for _ in range(2):
        call()
    torch.cuda.synchronize()
    began = time.perf_counter()
    call()
    queueing = time.perf_counter() - began
    torch.cuda.synchronize()
    count = max(1, min(QUEUED, int(ROUND / (time.perf_counter() - began))))
    return statistics.median(one_round(call, count, queueing) for _ in range(ROUNDS))


def one_round(call, count, queueing):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(int(CLOCK * min(1.5 * count * queueing, 0.1)))
    begin.record()
    for _ in range(count):
        call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3 / count


def on_host(call, count=300):
    """Microseconds of the host for each call; nothing is waited for in between."""
    times = []
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(count):
            call()
        times.append((time.perf_counter() - began) * 1e6 / count)
    torch.cuda.synchronize()
    return statistics.median(times)


def with_wait(call):
    """Microseconds from the call until the host knows that the card has done it."""

    def both():
        call()
        torch.cuda.synchronize()

    return on_host(both, 30)


# ---- the figures ----


class Figures:
    def __init__(self, out):
        self.out = out
        self.count = 0

    def line(self, **what):
        print(json.dumps(what), file=self.out, flush=True)

    def add(self, figure, us, **work):
        self.count += 1
        self.line(figure=figure, us=us, **work)

    def attempt(self, name, measure):
        """One that does not work here is left out, and the constants that need it stay as they were."""
        progress(f"measuring {name}")
        try:
            measure(self)
        except (RuntimeError, AttributeError, OSError, ValueError, TypeError, KeyError) as error:
            self.line(skipped=name, why=(str(error).splitlines() or [""])[0][:150])
        torch.cuda.empty_cache()


def tensor(*shape, dtype="float32", last=False):
    made = torch.rand(shape, device="cuda", dtype=getattr(torch, dtype))
    return made.to(memory_format=torch.channels_last) if last else made


def some_bytes(wanted):
    """As many, or what an eighth of the free memory allows."""
    return min(wanted, torch.cuda.mem_get_info()[0] // 8 // MIB * MIB)


def host(figures):
    card, plain = torch.zeros(1, device="cuda"), torch.zeros(1)
    figures.add("host_launch", on_host(lambda: card.add_(1)))
    figures.add("host_plain", on_host(lambda: plain.add_(1)))
    figures.add("roundtrip", with_wait(lambda: card.add_(1)))
    figures.add("period", on_card(lambda: card.add_(1)))


def host_copies(figures):
    card, plain, pinned = torch.zeros(1024, device="cuda"), torch.zeros(1024), torch.zeros(1024).pin_memory()
    figures.add("host_copy", on_host(lambda: card.copy_(pinned, non_blocking=True)))
    figures.add("host_copy_plain", on_host(lambda: plain.copy_(pinned)))


def profiled(figures):
    """How long the shortest kernel takes, and from the end of its launch to its start: only a profiler sees these."""
    from torch.profiler import ProfilerActivity, profile

    card = torch.zeros(1, device="cuda")
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        for _ in range(100):
            card.add_(1)
            torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        profiler.export_chrome_trace(path)
        with open(path, encoding="utf-8", errors="replace") as file:
            events = json.load(file)["traceEvents"]
    kernels, calls = ({event["args"]["correlation"]: event for event in events if event.get("cat") == kind} for kind in ("kernel", "cuda_runtime"))
    waits = [kernel["ts"] - calls[key]["ts"] - calls[key]["dur"] for key, kernel in kernels.items() if key in calls]
    figures.add("kernel", statistics.median(kernel["dur"] for kernel in kernels.values()))
    figures.add("latency", max(statistics.median(waits), 0))


def elementwise(figures, name, count):
    """Reads `count` numbers and writes as many."""
    x, y = tensor(count), tensor(count)
    figures.add(name, on_card(lambda: torch.add(x, 1, out=y)), **{"class": "elementwise"}, type="fp32", bytes_per=4, read=4 * count, written=4 * count)


def stream(figures):
    elementwise(figures, "stream", some_bytes(256 * MIB) // 4)


def cached(figures):
    """A quarter of what the second-level cache holds."""
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    if not cache:
        raise ValueError("the size of the cache is not known")
    elementwise(figures, "cached", cache // 4 // 8)


def strided(figures):
    x, y = tensor(4096, 4096), tensor(4096, 4096)
    size = 4 * x.numel()
    figures.add("strided", on_card(lambda: torch.add(x.t(), 1, out=y)), **{"class": "elementwise"}, type="fp32", bytes_per=4, read=size, written=size,
                strided=True)


def rows(figures, name, kind, call):
    x = tensor(32768, 1024, dtype="float16")
    size = 2 * x.numel()
    figures.add(name, on_card(lambda: call(x)), **{"class": kind}, type="fp32", bytes_per=2, read=size, written=size)


def norm(figures):
    weight, bias = tensor(1024, dtype="float16"), tensor(1024, dtype="float16")
    rows(figures, "norm", "normalization", lambda x: torch.nn.functional.layer_norm(x, (1024,), weight, bias))


def softmax(figures):
    rows(figures, "softmax", "softmax", lambda x: torch.softmax(x, 1))


def pooling(figures):
    x = tensor(64, 64, 112, 112, dtype="float16")
    written = 64 * 64 * 56 * 56 * (2 + 8)  # the places of the largest are kept too
    figures.add("pooling", on_card(lambda: torch.nn.functional.max_pool2d(x, 3, 2, 1)), **{"class": "pooling"}, type="fp32", bytes_per=2,
                read=2 * x.numel(), written=written)


def gather(figures):
    """Rows of 256 bytes in random order."""
    count = some_bytes(256 * MIB) // 256
    table, index = tensor(count, 64), torch.randint(0, count, (count,), device="cuda")
    figures.add("gather", on_card(lambda: torch.nn.functional.embedding(index, table)), **{"class": "gather"}, type="fp32", bytes_per=4,
                read=count * (256 + 8), written=count * 256)


DTYPES = {"fp32": "float32", "tf32": "float32", "fp16": "float16"}


def product(figures, name, kind, m, n, k, batch=1):
    """Microseconds of a product, as cuBLAS counts m and n."""
    torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
    size = 4 if DTYPES[kind] == "float32" else 2
    shape = () if batch == 1 else (batch,)
    a, b = tensor(*shape, n, k, dtype=DTYPES[kind]), tensor(*shape, k, m, dtype=DTYPES[kind])
    us = on_card(lambda: torch.matmul(a, b))
    figures.add(name, us, **{"class": "gemm"}, type=kind, bytes_per=size, m=m, n=n, k=k, batch=batch, flops=2.0 * m * n * k * batch,
                read=size * (m + n) * k * batch, written=size * m * n * batch)
    return us


# m, n, k and how many, from small to large: few tiles and many, short sums and long ones.
SHAPES = ((256, 256, 1024, 1), (1024, 1024, 256, 1), (1024, 64, 4096, 1), (4096, 128, 1024, 1), (2048, 2048, 64, 1), (512, 512, 4096, 1),
          (128, 128, 64, 96), (768, 8192, 768, 1), (3072, 4096, 768, 1))


def products(kind):
    """Of growing size, until one takes long: the largest says what the card reaches, the others what smaller tiles do."""

    def measure(figures):
        last, us = 512, product(figures, "product", kind, 512, 512, 512)
        for size in (1024, 2048, 4096, 8192):
            if us * (size / last) ** 3 > SLOW * 1e6 or 3 * 4 * size * size > torch.cuda.mem_get_info()[0] // 2:
                break
            last, us = size, product(figures, "product", kind, size, size, size)
        product(figures, "product_fp32" if kind == "fp32" else "product_tensor", kind, last, last, last)
        for shape in SHAPES:
            product(figures, "product", kind, *shape)

    return measure


def uneven(figures):
    product(figures, "product_uneven", "fp16", 4095, 4096, 4095)


def short(figures):
    """A tile for every second multiprocessor: nothing shares one, and little is computed."""
    batch = max(2, torch.cuda.get_device_properties(0).multi_processor_count // 2)
    product(figures, "product_short", "fp16", 64, 64, 64, batch)
    product(figures, "product_long", "fp16", 64, 64, 1024, batch)


def convolution_work(x, w, groups, kind, operation):
    """Of 3 x 3 filters with stride 1 and padding 1, as the product that it is."""
    batch, inside, high, wide = x.shape
    outside, taps, size, positions = w.shape[0], 9, x.element_size(), batch * high * wide
    a, b = inside // groups, outside // groups
    m, n, k = {"forward": (positions, b, a * taps), "backward_data": (positions, a, b * taps), "backward_filter": (b, a * taps, positions)}[operation]
    depthwise = groups > 1 and a == 1
    return {"class": "depthwise" if depthwise else "convolution", "type": kind, "bytes_per": size, "operation": operation, "m": m, "n": n, "k": k,
            "batch": groups, "filter": taps, "stride": 1, "flops": 2.0 * positions * b * a * taps * groups, "input": size * x.numel(),
            "output": size * positions * outside, "read": size * (x.numel() + w.numel()), "written": size * positions * outside,
            "channels_last": x.is_contiguous(memory_format=torch.channels_last)}


def convolution(figures, name, kind, channels, groups=1, last=True):
    torch.backends.cudnn.allow_tf32 = kind == "tf32"
    x = tensor(32, channels, 56, 56, dtype=DTYPES[kind], last=last)
    w = tensor(channels, channels // groups, 3, 3, dtype=DTYPES[kind], last=last)
    with torch.no_grad():
        us = on_card(lambda: torch.nn.functional.conv2d(x, w, padding=1, groups=groups))
    figures.add(name, us, **convolution_work(x, w, groups, kind, "forward"))


def convolutions(figures):
    convolution(figures, "convolution", "fp16", 128)
    convolution(figures, "convolution_turned", "fp16", 128, last=False)


def gradients(figures, name, channels, groups=1, last=True):
    x, y = (tensor(32, channels, 56, 56, dtype="float16", last=last) for _ in range(2))
    w = tensor(channels, channels // groups, 3, 3, dtype="float16", last=last)
    for operation, mask in (("backward_data", [True, False, False]), ("backward_filter", [False, True, False])):
        us = on_card(lambda: torch.ops.aten.convolution_backward(y, x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], groups, mask))
        figures.add(name, us, **convolution_work(x, w, groups, "fp16", operation))


def convolution_gradients(figures):
    gradients(figures, "convolution_gradient", 128)


def winograd(figures):
    convolution(figures, "convolution_fp32", "fp32", 128, last=False)


def depthwise(figures):
    convolution(figures, "depthwise", "fp16", 256, 256, last=False)
    gradients(figures, "depthwise_gradient", 256, 256, last=False)


def groups(figures):
    convolution(figures, "convolution_groups", "fp16", 128, 32)


def attention(figures):
    batch, heads, length, head = 8, 16, 1024, 64
    q, k, v = (tensor(batch, heads, length, head, dtype="float16").requires_grad_() for _ in range(3))
    size = 2 * q.numel()
    work = {"class": "attention", "type": "fp16", "bytes_per": 2, "m": length, "n": length, "k": head, "batch": batch * heads}
    flops = 4.0 * batch * heads * length * length * head
    forward = torch.nn.functional.scaled_dot_product_attention
    with torch.no_grad():
        us = on_card(lambda: forward(q, k, v))
    figures.add("attention", us, **work, operation="forward", flops=flops, read=3 * size, written=size)
    out = forward(q, k, v)
    gradient = torch.ones_like(out)
    us = on_card(lambda: torch.autograd.grad(out, (q, k, v), gradient, retain_graph=True))
    figures.add("attention_gradient", us, **work, operation="backward", flops=2.5 * flops, read=5 * size, written=3 * size)


def copies(figures):
    count = some_bytes(256 * MIB)
    card, pinned = torch.empty(count, dtype=torch.uint8, device="cuda"), torch.empty(count, dtype=torch.uint8).pin_memory()
    plain = torch.ones(count, dtype=torch.uint8)
    work = {"class": "copy", "read": count, "written": count}
    for operation, to, start in (("host_to_device", card, pinned), ("device_to_host", pinned, card)):
        us = on_card(lambda: to.copy_(start, non_blocking=True))
        figures.add("pinned", us, **work, operation=operation, pinned=True)
    for operation, to, start in (("host_to_device", card, plain), ("device_to_host", plain, card)):
        figures.add("pageable", on_host(lambda: to.copy_(start), 2), **work, operation=operation, pinned=False)


LIST = {
    "launches": host, "copies of the host": host_copies, "the shortest kernel": profiled, "memory": stream, "the cache": cached, "strides": strided,
    "normalization": norm, "softmax": softmax, "pooling": pooling, "gathering": gather, "products in fp32": products("fp32"),
    "products in tf32": products("tf32"), "products in fp16": products("fp16"), "uneven products": uneven, "short products": short,
    "convolutions": convolutions, "gradients of convolutions": convolution_gradients, "convolutions in fp32": winograd, "depthwise convolutions": depthwise,
    "convolutions in groups": groups, "attention": attention, "copies": copies,
}


# ---- the list ----


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def driver():
    """The library comes with the driver."""
    text = ctypes.create_string_buffer(96)
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
        if library.nvmlInit_v2() or library.nvmlSystemGetDriverVersion(text, 96):
            return ""
    except (OSError, AttributeError):
        return ""
    return text.value.decode("ascii", "replace")


def run():
    global torch
    try:
        import torch
    except ModuleNotFoundError as error:
        raise Broken(f"this Python ({sys.executable}) has no PyTorch; --python names another") from error
    except (ImportError, OSError, ValueError) as error:  # ValueError: releases that look for NVIDIA's packages and find none
        raise Broken(f"PyTorch cannot be imported here: {(str(error).splitlines() or [''])[0][:200]}") from error
    if os.environ.get("PLIMSOLL_SHIMS"):
        raise Broken("--time needs a real GPU: times on the virtual one mean nothing")
    if not torch.cuda.is_available():
        raise Broken("there is no GPU here that PyTorch can use; copy this script to a machine that has one")
    warnings.simplefilter("ignore")  # releases say at times what is of no concern here
    device = torch.cuda.get_device_properties(0)
    figures = Figures(sys.stdout)
    figures.line(plimsoll="times/1", gpu=device.name, sms=device.multi_processor_count, memory=device.total_memory,
                 torch=torch.__version__.split("+")[0], cuda=torch.version.cuda or "", driver=driver())
    for name, measure in LIST.items():
        figures.attempt(name, measure)
    figures.line(end=figures.count)
    progress("")


def main():
    argparse.ArgumentParser(prog="plimsoll_calibrate_time.py", description="Measures how fast this GPU is, for plimsoll's time model.").parse_args()
    try:
        run()
    except Broken as error:
        progress("")
        print(f"plimsoll: {error}", file=sys.stderr)
        return 125
    return 0


if __name__ == "__main__":
    sys.exit(main())
