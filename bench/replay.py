"""PyTorch's caching allocator in plain Python, as one would write it without a second thought about speed: what
src/allocator is measured against. Default settings, one stream. Reads a file of lines "a ID BYTES" and "f ID"; prints the
bytes reserved at the peak, events and seconds of CPU time.
"""
import bisect
import sys
import time

MIB = 1 << 20


class Block:
    __slots__ = ("address", "size", "small", "free", "before", "after")

    def __init__(self, address, size, small):
        self.address, self.size, self.small, self.free = address, size, small, False
        self.before = self.after = None


class Allocator:
    def __init__(self):
        self.pools = {True: [], False: []}  # small, large: (size, address, block), ascending
        self.live = {}
        self.reserved, self.next = 0, 1 << 40

    def allocate(self, name, asked):
        size = max(512, (asked + 511) // 512 * 512)
        small = size <= MIB
        pool = self.pools[small]
        at = bisect.bisect_left(pool, (size, 0))
        if at < len(pool):
            block = pool.pop(at)[2]
        else:
            block = self.segment(size, small)
        rest = block.size - size
        if rest >= 512 if small else rest > MIB:
            other = Block(block.address + size, rest, small)
            block.size = size
            other.before, other.after = block, block.after
            if block.after:
                block.after.before = other
            block.after = other
            self.put(other)
        block.free = False
        self.live[name] = block

    def segment(self, size, small):
        whole = 2 * MIB if small else 20 * MIB if size < 10 * MIB else -(-size // (2 * MIB)) * 2 * MIB
        block = Block(self.next, whole, small)
        self.next += whole
        self.reserved += whole
        return block

    def put(self, block):
        block.free = True
        bisect.insort(self.pools[block.small], (block.size, block.address, block))

    def take(self, block):
        pool = self.pools[block.small]
        del pool[bisect.bisect_left(pool, (block.size, block.address))]

    def release(self, name):
        block = self.live.pop(name)
        before, after = block.before, block.after
        if before and before.free:
            self.take(before)
            before.size += block.size
            before.after = after
            if after:
                after.before = before
            block = before
        if after and after.free:
            self.take(after)
            block.size += after.size
            block.after = after.after
            if after.after:
                after.after.before = block
        self.put(block)


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        events = [(int(words[1]), int(words[2]) if words[0] == "a" else -1) for words in map(str.split, file)]
    allocator = Allocator()
    begin = time.process_time()
    for name, size in events:
        if size >= 0:
            allocator.allocate(name, size)
        else:
            allocator.release(name)
    print(allocator.reserved, len(events), time.process_time() - begin)


main()
