#!/usr/bin/env python3
"""What other programs that need no GPU say about measured runs. Each is asked about the workload of a row (bench/workloads), unchanged.

    plimsoll run --until-exit --detail off -- python bench/peers.py memtracker TRUTH.csv [-o OUT.csv] [--rows N] [--seed N]
    python bench/peers.py fakegpu TRUTH.csv --most-batch N ...

    memtracker  PyTorch's own: torch.distributed._tools.mem_tracker under FakeTensorMode, on fake CUDA tensors. It computes nothing, but
                random numbers for fake tensors want a device, which plimsoll's does for
    fakegpu     `fakegpu preflight`, which computes the job on the CPU; PYTHONPATH names a checkout of FakeGPU

Writes the table with two columns more, NAME_memory and NAME_oom, which `plimsoll evaluate` judges as it does those of the published
tools; and prints the error by its rules: of rows that neither ran out of memory nor were estimated to. A row that fails has no
estimate, and counts as a wrong verdict. The Python is that of `tools/setup torch 2.6.0` for the published comparison.
"""
import argparse
import contextlib
import csv
import json
import os
import pathlib
import random
import runpy
import statistics
import subprocess
import sys
import tempfile
import traceback
import warnings

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker
from torch.optim.optimizer import register_optimizer_step_post_hook

WORKLOADS = pathlib.Path(__file__).resolve().parent / "workloads"
SCRIPTS = {"CNN": "cnn.py", "Transformer": "transformer.py"}


class Tracked:
    """Watches from the moment the optimizer is made, as the documentation of MemTracker has it; a step is an iteration."""

    def __init__(self, stack):
        self.stack, self.model, self.tracker = stack, None, None
        self.train, self.made = torch.nn.Module.train, torch.optim.Optimizer.__init__
        torch.nn.Module.train = lambda model, *args: self.saw(model, *args)
        torch.optim.Optimizer.__init__ = lambda optimizer, *args, **more: self.begin(optimizer, *args, **more)
        register_optimizer_step_post_hook(lambda *_: self.tracker.reset_mod_stats())

    def saw(self, model, *args):
        self.model = self.model or model
        return self.train(model, *args)

    def begin(self, optimizer, *args, **more):
        self.made(optimizer, *args, **more)
        if not self.tracker:
            self.tracker = MemTracker()
            self.tracker.track_external(self.model, optimizer)
            self.stack.enter_context(self.tracker)

    def peak(self):
        return self.tracker.get_tracker_snapshot("peak")[torch.device("cuda", 0)]["Total"]


def words(row):
    """The row's arguments of the workload, as src/study/evaluate gives them."""
    place = row.get("zero_grad_mode")
    return ["--model", row["model"], "--optimizer", row["optimizer"], "--batch", row["batch_size"],
            *(["--zero-grad", place] if place else [])]


def memtracker(row):
    sys.path.insert(0, str(WORKLOADS))
    sys.argv = [SCRIPTS[row["family"]], *words(row), "--iterations", "2"]
    with contextlib.ExitStack() as stack:
        stack.enter_context(FakeTensorMode(allow_non_fake_inputs=True))
        # A module of fake tensors cannot be moved, so that it is made where it goes.
        stack.enter_context(torch.device("cuda", 0))
        tracked = Tracked(stack)
        runpy.run_path(str(WORKLOADS / sys.argv[0]), run_name="__main__")
        return tracked.peak()


def fakegpu(row):
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([sys.executable, "-m", "fakegpu", "preflight", "--runtime", "fakecuda", "--profile", "a100", "--report-dir", place,
                        "--", sys.executable, WORKLOADS / SCRIPTS[row["family"]], *words(row), "--iterations", "2"],
                       stdout=subprocess.DEVNULL, check=True)
        report = json.loads((pathlib.Path(place) / "preflight_report.json").read_text())
    return report["devices"][0]["peak_memory"]


TOOLS = {"memtracker": memtracker, "fakegpu": fakegpu}


def apart(estimate, row):
    """(bytes, CPU seconds) in a process of its own; None for the bytes if it failed."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            sys.stdout = sys.stderr
            os.write(writing, str(estimate(row)).encode())
        except BaseException:
            traceback.print_exc()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    used = os.wait4(child, 0)[2]
    return int(text) if text else None, used.ru_utime + used.ru_stime


def judged(row, name):
    """The signed error in %; None if the row is not compared."""
    if row[f"{name}_oom"] != "false" or row["real_oom"] == "true":
        return None
    return 100 * (row[f"{name}_memory"] / float(row["ground"]) - 1)


def ask(name, row):
    """Fills in the row's two columns; CPU seconds."""
    peak, used = apart(TOOLS[name], row)
    row[f"{name}_memory"] = "" if peak is None else peak
    row[f"{name}_oom"] = "" if peak is None else str(peak > float(row["total_gpu_memory"])).lower()
    error = judged(row, name)
    print(row["run"], "failed" if peak is None else peak, f"{used:.1f} s", "" if error is None else f"{error:+.2f} %", flush=True)
    return used


def sampled(args):
    with open(args.truth, newline="") as file:
        rows = list(csv.DictReader(file))
    if args.rows:
        rows = random.Random(args.seed).sample(rows, min(args.rows, len(rows)))
    return [row for row in rows if not args.most_batch or int(row["batch_size"]) <= args.most_batch]


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", choices=TOOLS)
    parser.add_argument("truth")
    parser.add_argument("-o", "--output")
    parser.add_argument("--rows", type=int, help="only so many, drawn with the seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most-batch", type=int, help="of these, only those with a batch of at most this")
    return parser.parse_args()


def main():
    args = options()
    warnings.simplefilter("ignore")
    import torchvision, transformers  # noqa: E401, F401 - once, for all rows that are forked
    rows = sampled(args)
    seconds = [ask(args.tool, row) for row in rows]
    if args.output:
        with open(args.output, "w", newline="") as file:
            table = csv.DictWriter(file, rows[0].keys())
            table.writeheader()
            table.writerows(rows)
    errors = [abs(error) for row in rows if (error := judged(row, args.tool)) is not None]
    right = sum(row[f"{args.tool}_oom"] == row["real_oom"] for row in rows)
    middle = f"median error {statistics.median(errors):.2f} %, " if errors else ""
    print(f"{len(rows)} rows, {len(errors)} compared: {middle}verdicts right {100 * right / len(rows):.0f} %, "
          f"{statistics.mean(seconds):.1f} s of CPU time each")


main()
