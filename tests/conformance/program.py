"""A seeded random program of allocations, run on real PyTorch: writes what it asked for and what PyTorch did.

usage: program.py SEED STEPS OUTPUT.json [FRACTION]

After every step all statistics are noted, and with them the numbers of allocations and frees so far. PyTorch's own
trace has these one by one; what it does not show (record_stream, empty_cache, captures) is noted as a step. So
tests/groups/conformance can put the whole list of operations together, those inside PyTorch included.
"""
import json
import random
import sys

import torch

MIB = 1 << 20


class Program:
    def __init__(self, seed, steps):
        self.random = random.Random(seed)
        self.steps = steps
        self.tensors = []
        self.streams = [torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
        self.graphs = []          # (graph, number of its pool)
        self.pools = {}           # number of a pool -> its handle
        self.log = []

    def warm(self):
        """The generator keeps a few bytes on the device while there are graphs: one that stays makes that constant."""
        self.first = torch.cuda.CUDAGraph()
        self.pools[1] = torch.cuda.graph_pool_handle()
        torch.zeros(1, device="cuda")
        self.note("idle")
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

    def allocate(self):
        size, stream = self.size(), self.random.choice(self.streams if self.random.random() < 0.4 else self.streams[:1])
        with torch.cuda.stream(stream):
            try:
                self.tensors.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
                self.note("alloc", size)
            except torch.OutOfMemoryError:
                self.note("oom", size, stream.cuda_stream)
                del self.tensors[len(self.tensors) // 2:]
                self.note("free")

    def free(self):
        if self.tensors:
            r = self.random
            del self.tensors[r.randrange(len(self.tensors)) if r.random() < 0.7 else -1]
            self.note("free")

    def free_many(self):
        self.random.shuffle(self.tensors)
        del self.tensors[self.random.randrange(1 + len(self.tensors)):]
        self.note("free")

    def record(self):
        if self.tensors:
            tensor, stream = self.random.choice(self.tensors), self.random.choice(self.streams)
            tensor.record_stream(stream)
            self.note("record", tensor.untyped_storage().data_ptr(), stream.cuda_stream)

    def empty(self):
        torch.cuda.empty_cache()
        self.note("empty")

    def capture(self):
        """Some allocations and frees while a graph is captured, into a new pool or into that of another graph."""
        graph, stream = torch.cuda.CUDAGraph(), self.random.choice(self.streams[1:])
        if self.pools and self.random.random() < 0.3:
            number = self.random.choice(list(self.pools))
        else:
            number = len(self.log)
            self.pools[number] = torch.cuda.graph_pool_handle()
        stream.wait_stream(self.streams[0])
        with torch.cuda.stream(stream):
            self.note("idle")
            graph.capture_begin(pool=self.pools[number])
            self.note("begin", number, stream.cuda_stream)
            for _ in range(self.random.randint(1, 12)):
                if self.random.random() < 0.6 or not self.tensors:
                    try:
                        size = self.size()
                        self.tensors.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
                        self.note("alloc", size)
                    except torch.OutOfMemoryError:
                        self.note("oom", size, stream.cuda_stream)
                elif self.random.random() < 0.3:
                    self.record()
                else:
                    self.free()
            graph.capture_end()
            self.note("end", number)
        self.graphs.append((graph, number))

    def destroy(self):
        if self.graphs:
            graph, number = self.graphs.pop(self.random.randrange(len(self.graphs)))
            graph.reset()
            self.note("release", number)
            if number != 1 and all(n != number for _, n in self.graphs):
                del self.pools[number]
                self.empty()  # so that no two pools wait to be released: their order is that of a hash table

    def run(self):
        choices = ((self.allocate, 55), (self.free, 36), (self.free_many, 0.6), (self.record, 5), (self.empty, 0.6),
                   (self.capture, 1), (self.destroy, 0.8))
        functions, weights = zip(*choices)
        for _ in range(self.steps):
            self.random.choices(functions, weights)[0]()
        self.tensors.clear()
        self.note("free")
        self.empty()


def main():
    seed, steps, output = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    torch.cuda.memory._record_memory_history(enabled="all", context=None, max_entries=1 << 22)
    if len(sys.argv) > 4:
        torch.cuda.set_per_process_memory_fraction(float(sys.argv[4]))
    program = Program(seed, steps)
    if len(sys.argv) > 4:
        program.note("limit", float(sys.argv[4]))
    program.warm()
    program.run()
    trace = torch.cuda.memory._snapshot()["device_traces"][0]
    total = torch.cuda.get_device_properties(0).total_memory
    with open(output, "w", encoding="utf-8") as file:
        json.dump({"torch": torch.__version__, "total": total, "log": program.log,
                   "trace": [[e["action"], e.get("addr", 0), e["size"], e["stream"]] for e in trace]}, file)


main()
