"""Times training steps on one of three devices and prints the result as one line of JSON.

    cuda    plimsoll's virtual GPU: the script runs under `plimsoll run`
    cpu     really computed
    fake    PyTorch's own estimate: MemTracker under FakeTensorMode, on fake CUDA tensors
"""
import argparse
import contextlib
import json
import statistics
import time

import torch


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--device", choices=("cuda", "cpu", "fake"), default="cuda")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--steps", type=int, default=10, help="timed steps, after the warm-up")
    parser.add_argument("--warm-up", type=int, default=2, help="steps before the clock counts")
    return parser.parse_args()


@contextlib.contextmanager
def memtracker(parts):
    from torch.distributed._tools.mem_tracker import MemTracker

    tracker = MemTracker()
    tracker.track_external(*parts)
    with tracker:
        yield tracker
    # Without a figure it would have timed nothing.
    peak = max(sum(amounts.values()) for amounts in tracker.get_tracker_snapshot("peak").values())
    if not peak:
        raise SystemExit("MemTracker saw no memory")


def measure(build, args):
    """`build()` gives a model, its optimizer, and a function that computes one step's loss; what it makes is made on
    the device, since a module of fake tensors cannot be moved."""
    fake = args.device == "fake"
    mode = contextlib.nullcontext()
    if fake:
        from torch._subclasses.fake_tensor import FakeTensorMode

        mode = FakeTensorMode()
    with mode:
        with torch.device("cuda" if fake else args.device):
            model, optimizer, loss_of = build()
        model.train()
        seconds, busy = [], []
        with memtracker((model, optimizer)) if fake else contextlib.nullcontext() as tracker:
            for _ in range(args.warm_up + args.steps):
                if tracker:
                    tracker.reset_mod_stats()  # it follows one iteration at a time
                start, used = time.perf_counter(), time.process_time()
                optimizer.zero_grad()
                loss_of().backward()
                optimizer.step()
                seconds.append(time.perf_counter() - start)
                busy.append(time.process_time() - used)
    timed, busy = seconds[args.warm_up:], busy[args.warm_up:]
    result = {"step": statistics.median(timed), "cpu": statistics.median(busy), "steps": len(timed),
              "torch": torch.__version__}
    print("bench " + json.dumps(result), flush=True)
