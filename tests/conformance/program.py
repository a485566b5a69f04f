"""Seeded random programs of allocations, run on real PyTorch: each writes what it asked for and what PyTorch did.

usage: program.py CASES.json, a list of {"seed", "steps", "output", "fraction", "capacity", "settings"}, where 0 is no limit.
Each runs in a process of its own, forked after PyTorch was imported and before it used the device. It reads its settings from
the environment then; only the back end, which is chosen at the import, must be there from the start.

After every step all statistics are noted, and with them the numbers of allocations and frees so far. PyTorch's own
trace has these one by one; what it does not show (record_stream, empty_cache, captures) is noted as a step. So
tests/groups/conformance can put the whole list of operations together, those inside PyTorch included. The cudaMallocAsync
back end has no trace and no such numbers: there the steps themselves have sizes, streams and addresses.
"""
import ctypes
import json
import os
import random
import re
import sys
import traceback

import torch

MIB = 1 << 20
ASYNC = "cudaMallocAsync" in os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "")


class Program:
    def __init__(self, seed, steps, limit, settings):
        self.settings = settings
        self.random = random.Random(seed)
        self.steps = steps
        self.limit = limit        # bytes that can be had; 0: any number
        self.simple = seed % 2 == 1  # other uses are on one stream only
        self.tensors = []
        self.used = set()         # addresses of tensors that other streams used
        self.private = {}         # number of a pool -> tensors in it
        self.streams = [torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
        self.graphs = []          # (graph, number of its pool)
        self.pools = {}           # number of a pool -> its handle
        self.log = []

    def warm(self):
        """The generator keeps a few bytes on the device while there are graphs: one that stays makes that constant."""
        self.first = torch.cuda.CUDAGraph()
        self.pools[1] = torch.cuda.graph_pool_handle()
        self.take(1, self.tensors, self.streams[0])
        self.drop(self.tensors, 0)
        with torch.cuda.stream(self.streams[1]):
            self.first.capture_begin(pool=self.pools[1])
            self.note("begin", 1, self.streams[1].cuda_stream)
            self.first.capture_end()
            self.note("end", 1)

    def note(self, kind, *values):
        """A step has been done: what it was, and all statistics after it."""
        stats = torch.cuda.memory_stats()
        self.log.append([kind, list(values), {k: v for k, v in stats.items() if isinstance(v, int)}])

    def size(self):
        r = self.random
        kind = r.random()
        if kind < 0.35:
            return r.randint(1, 4096)
        if kind < 0.55:
            return r.randint(1, MIB)
        if kind < 0.65:
            return r.choice((512, 513, MIB - 512, MIB, MIB + 1, 10 * MIB - 512, 10 * MIB - 1, 10 * MIB, 20 * MIB, 2 * MIB))
        if kind < 0.85:
            return r.randint(MIB, 12 * MIB)
        if kind < 0.97:
            return r.randint(10 * MIB, 80 * MIB)
        return r.randint(80 * MIB, 700 * MIB)

    def take(self, size, tensors, stream):
        tensors.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
        self.note("alloc", size, stream.cuda_stream, tensors[-1].data_ptr())

    def drop(self, tensors, first, last=None):
        """Frees those of a list, the last one first."""
        freed = []
        for at in reversed(range(len(tensors))[first:last]):
            freed.append(tensors[at].data_ptr())
            self.used.discard(freed[-1])
            del tensors[at]
        self.note("free", *freed)

    def allocate(self):
        size, stream = self.size(), self.random.choice(self.streams if self.random.random() < 0.4 else self.streams[:1])
        with torch.cuda.stream(stream):
            try:
                self.take(size, self.tensors, stream)
            except torch.OutOfMemoryError as error:
                self.note("oom", size, stream.cuda_stream, str(error))
                self.drop(self.tensors, len(self.tensors) // 2)

    def free(self, avoid=()):
        if self.tensors:
            r = self.random
            at = r.randrange(len(self.tensors)) if r.random() < 0.7 else len(self.tensors) - 1
            if self.tensors[at].data_ptr() not in avoid:
                self.drop(self.tensors, at, at + 1)

    def free_many(self):
        self.random.shuffle(self.tensors)
        self.drop(self.tensors, self.random.randrange(1 + len(self.tensors)))

    def record(self, tensors=None):
        tensors = tensors or self.tensors + [t for p in self.private.values() for t in p]
        if tensors:
            tensor, stream = self.random.choice(tensors), self.random.choice(self.streams)
            if self.simple:
                stream = self.streams[1]
            tensor.record_stream(stream)
            self.used.add(tensor.untyped_storage().data_ptr())
            self.note("record", tensor.untyped_storage().data_ptr(), stream.cuda_stream)

    def empty(self):
        torch.cuda.empty_cache()
        self.note("empty")

    def capture(self):
        """Some allocations and frees while a graph is captured, into a new pool or into that of another graph. Only if
        there is room: running out of memory breaks a capture. So does garbage collection, and with cudaMallocAsync the
        free of a captured block that a stream outside of the capture used."""
        if self.limit and "garbage" in self.settings:
            return
        if self.limit and torch.cuda.memory_reserved() + 100 * MIB > self.limit:
            return
        graph, stream = torch.cuda.CUDAGraph(), self.random.choice(self.streams[1:])
        if self.pools and self.random.random() < 0.3:
            number = self.random.choice(list(self.pools))
        else:
            number = len(self.log)
            self.pools[number] = torch.cuda.graph_pool_handle()
        mine = self.private.setdefault(number, [])
        # With this setting no block that other streams used is freed in a capture.
        old, avoid = len(mine) if ASYNC else 0, self.used if "record_stream_reuse:True" in self.settings else ()
        stream.wait_stream(self.streams[0])
        with torch.cuda.stream(stream):
            self.note("idle")
            graph.capture_begin(pool=self.pools[number])
            self.note("begin", number, stream.cuda_stream)
            for _ in range(self.random.randint(1, 12)):
                if self.random.random() < 0.6 or not self.tensors:
                    size = self.size() % (6 * MIB if self.limit else 1 << 40) + 1
                    self.take(size, mine, stream)
                elif self.random.random() < 0.4 and len(mine) > old:
                    at = self.random.randrange(old, len(mine))
                    if mine[at].data_ptr() not in avoid:
                        self.drop(mine, at, at + 1)
                elif self.random.random() < 0.3:
                    self.record(self.tensors if ASYNC else None)
                else:
                    self.free(avoid)
            graph.capture_end()
            self.note("end", number)
        self.graphs.append((graph, number))

    def destroy(self):
        """A graph goes. With the last of a pool its tensors and segments go too: the order in which several pools
        would be released is that of a hash table."""
        if not self.graphs:
            return
        graph, number = self.graphs.pop(self.random.randrange(len(self.graphs)))
        last = number != 1 and all(n != number for _, n in self.graphs)
        if last:
            self.drop(self.private[number], 0)
        graph.reset()
        self.note("release", number)
        if last:
            del self.pools[number]
            self.empty()

    def run(self):
        choices = ((self.allocate, 55), (self.free, 36), (self.free_many, 0.6), (self.record, 5), (self.empty, 0.6),
                   (self.capture, 1), (self.destroy, 0.8))
        functions, weights = zip(*choices)
        for _ in range(self.steps):
            self.random.choices(functions, weights)[0]()
        self.drop(self.tensors, 0)
        self.empty()
        while self.graphs:
            self.destroy()


def leave(capacity):
    """Takes all of the card's memory but that much, past PyTorch."""
    runtime = ctypes.CDLL("libcudart.so." + torch.version.cuda.split(".")[0])
    ballast = ctypes.c_void_p()
    size = (torch.cuda.mem_get_info()[0] - capacity) // (2 * MIB) * 2 * MIB
    assert runtime.cudaMalloc(ctypes.byref(ballast), ctypes.c_size_t(size)) == 0


def run(seed, steps, output, fraction, capacity, settings):
    if capacity:
        leave(capacity)
    free = torch.cuda.mem_get_info()[0]
    if not ASYNC:
        torch.cuda.memory._record_memory_history(enabled="all", context=None, max_entries=1 << 22)
    setting = None if ASYNC else re.search("per_process_memory_fraction:([0-9.]+)", settings)
    limit = (fraction or float(setting[1] if setting else 0)) * torch.cuda.mem_get_info()[1]
    program = Program(seed, steps, min(int(limit) or capacity, capacity or int(limit)), settings)
    if fraction:
        torch.cuda.set_per_process_memory_fraction(fraction)
        program.note("limit", fraction)
    program.warm()
    program.run()
    trace = [] if ASYNC else torch.cuda.memory._snapshot()["device_traces"][0]
    total = torch.cuda.get_device_properties(0).total_memory
    document = {"torch": torch.__version__, "total": total, "free": free, "log": program.log,
                "trace": [[e["action"], e.get("addr", 0), e["size"], e["stream"]] for e in trace]}
    with open(output + ".new", "w", encoding="utf-8") as file:
        json.dump(document, file)
    os.rename(output + ".new", output)


def in_a_child(case):
    """Whether it went well. The child leaves without Python's farewell: what it has on the device goes with it."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    status = 1
    try:
        os.environ["PYTORCH_CUDA_ALLOC_CONF"] = case["settings"]
        run(**case)
        status = 0
    except BaseException:
        print(f"The program of {case['output']} failed:", file=sys.stderr)
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        cases = json.load(file)
    return 0 if all([in_a_child(case) for case in cases]) else 1


sys.exit(main())
