"""xMem in plain Python, as one would write it without a second thought about speed: what `plimsoll estimate --method xmem` is measured
against, and checked with, since both must say the same number of bytes. On doubtful points it does what src/study/estimate does:
docs/internals/study.md ("xMem") has the points that leave a choice.

    python3 xmem.py TRACE       prints the estimate in bytes, seconds of CPU time to load the trace, and of everything
"""
import bisect
import collections
import gzip
import json
import math
import sys
import time

MIB = 1 << 20
NEVER = math.inf
STEPS = 2  # iterations that are looked at

Block = collections.namedtuple("Block", "born dies size")
Span = collections.namedtuple("Span", "start end name event")


def span(event):
    start = round(event["ts"] * 1000)  # nanoseconds
    return Span(start, start + round(event.get("dur", 0) * 1000), event["name"], event)


class Analyzer:
    def __init__(self, document):
        spans = collections.defaultdict(list)
        moments = []
        for event in document["traceEvents"]:
            category = event.get("cat")
            if event["ph"] == "X" and category in ("user_annotation", "python_function", "cpu_op"):
                spans[category].append(span(event))
            elif event["ph"] == "i" and event["name"] == "[memory]":
                arguments = event["args"]
                moments.append((round(event["ts"] * 1000), arguments["Addr"], arguments["Bytes"]))
        notes = spans["user_annotation"]
        self.steps = sorted(s for s in notes if s.name.startswith("ProfilerStep#"))[:STEPS]
        self.optimizer = [s for s in notes if s.name.startswith("Optimizer.step#")]
        self.zero_grad = [s for s in notes if s.name.startswith("Optimizer.zero_grad#")]
        if not self.zero_grad:
            self.zero_grad = [s for s in spans["python_function"] if s.name.endswith("): zero_grad")]
        self.ops = sorted(spans["cpu_op"], key=lambda s: (s.start, -s.end))
        self.op_starts = [op.start for op in self.ops]
        self.modules(spans["python_function"])
        self.pair(sorted(moments, key=lambda m: m[0]))

    def modules(self, functions):
        """Calls of modules, and which of them call another, through whatever functions."""
        by_id = {f.event["args"]["Python id"]: f for f in functions}
        callers, calls = set(), []
        for f in functions:
            if not self.is_call(f):
                continue
            calls.append(f)
            parent = f.event["args"].get("Python parent id")
            while parent in by_id and not self.is_call(by_id[parent]):
                parent = by_id[parent].event["args"].get("Python parent id")
            callers.add(parent)
        self.first_calls = sorted(c.start for c in calls)
        self.leaves = sorted((c for c in calls if c.event["args"]["Python id"] not in callers), key=lambda c: c.start)

    @staticmethod
    def is_call(function):
        """Of a module, or a loss without one."""
        return function.name.startswith("nn.Module: ") or function.name.endswith("): cross_entropy")

    def pair(self, moments):
        """Blocks of all that happens until the last step ends."""
        open_, blocks = {}, []
        for moment, address, size in moments:
            if moment > self.steps[-1].end:
                break
            if size > 0:
                if address in open_:  # its end was lost
                    blocks[open_[address]] = blocks[open_[address]]._replace(dies=moment)
                open_[address] = len(blocks)
                blocks.append(Block(moment, NEVER, size))
            elif address in open_ and blocks[open_[address]].size == -size:
                number = open_.pop(address)
                blocks[number] = blocks[number]._replace(dies=moment)
        self.blocks = blocks
        self.births = [b.born for b in blocks]

    def born_in(self, start, end):
        return range(bisect.bisect_left(self.births, start), bisect.bisect_right(self.births, end))

    def ops_in(self, start, end):
        return self.ops[bisect.bisect_left(self.op_starts, start):bisect.bisect_right(self.op_starts, end)]

    def last(self, spans, step):
        inside = [s for s in spans if step.start <= s.start <= step.end]
        return max(inside, key=lambda s: s.start) if inside else None

    def layers(self, step):
        """(block, is it backward) for what each leaf module of the step holds on to."""
        optimizer = self.last(self.optimizer, step)
        by_sequence = collections.defaultdict(list)
        for op in self.ops_in(step.start, step.end):
            if "Sequence number" in op.event["args"]:
                by_sequence[op.event["args"]["Sequence number"]].append(op)
        held = []
        for call in self.leaves:
            if step.start <= call.start <= step.end and (not optimizer or call.start < optimizer.start):
                held += self.layer(call, by_sequence)
        return held

    def layer(self, call, by_sequence):
        ops = {id(op.event): op for op in self.ops_in(call.start, call.end)}
        for number in {op.event["args"].get("Sequence number") for op in ops.values()} - {None}:
            ops.update((id(op.event), op) for op in by_sequence[number])
        loss = "loss" in call.name.lower() or "cross" in call.name.lower()
        if not ops and not loss:
            return []
        forward = set(self.born_in(call.start, call.end))
        backward = set()
        for op in ops.values():
            backward.update(self.born_in(op.start, op.end))
        backward -= forward
        over = max((op.end for op in ops.values()), default=0)
        return ([(self.blocks[i], False) for i in forward if loss or self.blocks[i].dies > call.end] +
                [(self.blocks[i], True) for i in backward if loss or self.blocks[i].dies > over])


class Orchestrator:
    """Blocks of the CPU with the lifetimes that they would have on a GPU."""

    def __init__(self, analyzer):
        self.a, self.lifetimes = analyzer, []
        held = [sorted(analyzer.layers(step)) for step in analyzer.steps]
        sizes = self.parameters(held[-1])
        for number, step in enumerate(analyzer.steps):
            following = analyzer.steps[number + 1] if number + 1 < len(analyzer.steps) else None
            self.batch(step, following)
            self.tensors(step, following, held[number])
            self.state(step, number == 0, sizes)
        self.lifetimes.sort(key=lambda b: b.born)

    def drops_after(self, step):
        """zero_grad comes after the optimizer's step: that one, or None."""
        zero_grad, optimizer = self.a.last(self.a.zero_grad, step), self.a.last(self.a.optimizer, step)
        return zero_grad if zero_grad and optimizer and zero_grad.start > optimizer.end else None

    def parameters(self, held):
        """As large as the gradients that the last step leaves behind, or drops at its end; the last one first."""
        dropped = self.drops_after(self.a.steps[-1])
        left = [b for b, backward in held if backward and
                (b.dies == NEVER or (dropped and dropped.start <= b.dies <= dropped.end))]
        for number, block in enumerate(reversed(left)):
            self.lifetimes.append(Block(number - len(left) - 1, NEVER, block.size))
        return {b.size for b in left}

    def batch(self, step, following):
        moved = [op for op in self.a.ops_in(step.start, step.end) if op.name == "aten::to" and self.to_device(op)]
        calls = [start for start in self.a.first_calls if start >= step.start]
        before = [op for op in moved if not calls or op.start < calls[0]]
        convolves = any(op.name.startswith("aten::conv") for op in self.a.ops_in(step.start, step.end))
        for op in (before if convolves else moved) or moved:
            size = 4 * math.prod(op.event["args"]["Input Dims"][0])
            if size:
                self.lifetimes.append(Block(op.start, step.end if following else NEVER, size))

    @staticmethod
    def to_device(op):
        inputs = op.event["args"].get("Concrete Inputs", [])
        return len(inputs) == 8 and inputs[1] in ("6", "4") and inputs[2:] == ["0", "", "", "False", "False", ""]

    def tensors(self, step, following, held):
        zero_grad = following and not self.drops_after(step) and self.a.last(self.a.zero_grad, following)
        for block, backward in held:
            if zero_grad and backward and block.dies == NEVER:
                block = block._replace(dies=zero_grad.start)
            self.lifetimes.append(block)

    def state(self, step, permanent, sizes):
        optimizer = self.a.last(self.a.optimizer, step)
        for i in self.a.born_in(optimizer.start, optimizer.end) if optimizer else ():
            block = self.a.blocks[i]
            if block.size in sizes:
                self.lifetimes.append(block._replace(dies=NEVER) if permanent else block)


class Piece:
    __slots__ = ("address", "size", "small", "free", "before", "after")

    def __init__(self, address, size, small):
        self.address, self.size, self.small, self.free = address, size, small, False
        self.before = self.after = None


class Simulator:
    """The caching allocator on a card that has room for everything, so that segments follow each other and none is given back."""

    def __init__(self):
        self.pools = {True: [], False: []}  # small, large: (size, address, piece), ascending
        self.reserved = 0

    def replay(self, lifetimes):
        events = [(b.born, 0, i) for i, b in enumerate(lifetimes)]
        events += [(b.dies, 1, i) for i, b in enumerate(lifetimes) if b.dies != NEVER]
        live = {}
        for _, ends, number in sorted(events):
            if ends:
                self.release(live.pop(number))
            else:
                live[number] = self.allocate(lifetimes[number].size)
        return self.reserved

    def allocate(self, asked):
        size = max(512, -(-asked // 512) * 512)
        small = size <= MIB
        pool = self.pools[small]
        at = bisect.bisect_left(pool, (size, -1))
        piece = pool.pop(at)[2] if at < len(pool) else self.segment(size, small)
        rest = piece.size - size
        if rest >= 512 if small else rest > MIB:
            other = Piece(piece.address + size, rest, small)
            piece.size = size
            other.before, other.after = piece, piece.after
            if piece.after:
                piece.after.before = other
            piece.after = other
            self.put(other)
        piece.free = False
        return piece

    def segment(self, size, small):
        whole = 2 * MIB if small else 20 * MIB if size <= 10 * MIB else -(-size // (2 * MIB)) * 2 * MIB
        piece = Piece(self.reserved, whole, small)
        self.reserved += whole
        return piece

    def put(self, piece):
        piece.free = True
        bisect.insort(self.pools[piece.small], (piece.size, piece.address, piece))

    def take(self, piece):
        pool = self.pools[piece.small]
        del pool[bisect.bisect_left(pool, (piece.size, piece.address))]

    def release(self, piece):
        before, after = piece.before, piece.after
        if before and before.free:
            self.take(before)
            before.size += piece.size
            before.after = after
            if after:
                after.before = before
            piece = before
        if after and after.free:
            self.take(after)
            piece.size += after.size
            piece.after = after.after
            if after.after:
                after.after.before = piece
        self.put(piece)


def main():
    begin = time.process_time()
    path = sys.argv[1]
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        document = json.load(file)
    loaded = time.process_time()
    estimate = Simulator().replay(Orchestrator(Analyzer(document)).lifetimes)
    print(estimate, loaded - begin, time.process_time() - begin)


main()
