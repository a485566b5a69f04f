"""Runs work.py under plimsoll and checks the calls that its record holds. Environment as tests/run says."""
import os
import struct
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ["PLM_SOURCE"])
HEADER, CHUNK = 32768, 262144
TEXT, TAG, LAUNCH, GEMM, CONVOLUTION, RNN, ATTENTION, COLLECTIVE, COPY, SYNC = 2, *range(20, 29)
NONE, ELEMENTS, TENSORS, REDUCTION, GRAPH = range(5)
ALL = 10 + 70000 + 3000000 + 1 + 40000000


class Event:
    def __init__(self, kind, thread, words):
        self.kind, self.thread, self.words = kind, thread, words
        self.context, self.cpu = self.halves(0)
        self.stream, self.graph = self.halves(1)

    def halves(self, i):
        return self.words[i] & 0xFFFFFFFF, self.words[i] >> 32

    def quarters(self, i):
        return tuple(self.words[i] >> shift & 0xFFFF for shift in (0, 16, 32, 48))

    def bytes(self, i):
        return tuple(self.words[i].to_bytes(8, "little"))


def read(path):
    """(time, event) of all calls in order of time, the names of launches, and bytes of the calls."""
    data, found, texts = Path(path).read_bytes(), [], {}
    for at in range(HEADER, len(data) - CHUNK + 1, CHUNK):
        magic, _, thread, process, base, used = struct.unpack_from("<IIIIQI", data, at)
        if magic != 0x434D4C50:
            continue
        at += 32
        end = at + used
        while at < end:
            kind, words, _, dt = struct.unpack_from("<BBHI", data, at)
            payload = struct.unpack_from(f"<{words - 1}Q", data, at + 8)
            if kind == 4:
                base, = payload
            elif kind == TEXT:
                number, length = struct.unpack_from("<II", data, at + 8)
                texts[process, number] = data[at + 16:at + 16 + length].decode()
            elif kind >= LAUNCH:
                found.append((base + dt, process, Event(kind, thread, payload)))
            at += 8 * words
    found.sort(key=lambda entry: entry[0])
    for _, process, event in found:
        event.name = texts.get((process, event.words[2] & 0xFFFFFFFF), "") if event.kind == LAUNCH else ""
    return [event for _, _, event in found]


def parts(events):
    """The events between the copies that end a part."""
    result = [[]]
    for event in events:
        if event.kind == COPY and event.words[2] == 1000 + len(result) and event.bytes(4)[0] == 2:
            result.append([])
        else:
            result[-1].append(event)
    return result


def launches(part, kind):
    return [e.words[5:7] for e in part if e.kind == LAUNCH and e.quarters(4)[1] & 0xFF == kind]


def of(part, kind):
    return [e for e in part if e.kind == kind]


def gemm(e):
    """m, n, k, batch, types of A, B, C, D, transposed A and B, kind of batch, epilogue."""
    byte = e.bytes(4)
    return (*e.halves(2), *e.halves(3), byte[:4], byte[5] & 3, byte[5] >> 2 & 3, byte[5] >> 4, byte[6] | byte[7] << 8)


def convolution(e):
    return (e.bytes(2)[:4], e.words[2] >> 32, e.halves(3), e.halves(4), e.words[5], e.halves(6), e.quarters(7),
            e.halves(8), e.quarters(9))


def shape(op):
    """The workspace is that of the formula: the gradient of a grouped filter works on copies of all three operands."""
    how = 2 | 1 << 8 | 1 << 16  # by the formula, in TF32, at most 1 MiB
    workspace = 4 * (8 * 6 * 20 * 30 + 8 * 4 * 10 * 30 + 4 * 3 * 3 * 5) if op == 2 else 0
    return ((op, 0, 0, 2), 2, (8, 6), (4, how), workspace, (20, 10), (3, 2, 1, 1), (30, 30), (5, 1, 1, 2))


def same(what, expected):
    if what != expected:
        raise AssertionError(f"{what} instead of {expected}")


def elements(p):
    same(launches(p[1], ELEMENTS), [(1234567, 0)])
    assert launches(p[2], ELEMENTS) == [(3 * 64 * 48, 0)], launches(p[2], ELEMENTS)


def reductions(p):
    same(sorted(launches(p[3], REDUCTION)), sorted([(1200000, 300), (1200000, 4000), (1234567, 1)]))


def tensor_lists(p):
    for number, lists in ((5, 1), (6, 3), (8, 4)):
        counted = launches(p[number], TENSORS)
        assert counted, f"no counts in part {number}"
        same(len(counted), len([e for e in of(p[number], LAUNCH) if "multi_tensor_apply" in e.name]))
        same(sum(c[0] for c in counted), ALL)
        same({c[1] >> 32 for c in counted}, {lists})


def products(p):
    found = [gemm(e) for e in of(p[9], GEMM)]
    # PyTorch's matrices lie by rows, cuBLAS's by columns: B comes first.
    same(found[0], (32, 64, 48, 1, (0, 0, 0, 0), 0, 0, 0, 1))
    same(found[1], (32, 16, 48, 4, (0, 0, 0, 0), 0, 0, 1, 1))
    same(found[2][:8], (32, 64, 48, 1, (2, 2, 2, 2), 1, 0, 0))
    assert found[2][8] in (1, 4), found[2]  # the bias is added by the product or by itself
    same(len(found), 3)


def convolutions(p):
    same([convolution(e) for e in of(p[10], CONVOLUTION)], [shape(0)])
    same(sorted(convolution(e) for e in of(p[11], CONVOLUTION)), [shape(1), shape(2)])


def recurrent(p):
    found = of(p[12], RNN)
    same([e.bytes(2)[0] for e in found], [1, 2, 3])
    for e in found:
        same((e.bytes(2)[1:3], e.quarters(2)[2:], e.halves(3), e.halves(4), e.halves(5)),
             ((2, 0), (2, 2), (11, 13), (13, 7), (3, 21)))


def copies(p):
    found = [(e.words[2], e.bytes(4)[:3]) for e in of(p[13], COPY) if e.words[2] == 4096]
    same(found, [(4096, (1, 2, 1)), (4096, (1, 1, 1))])
    waits = [(e.words[2] & 0xFFFFFFFF, e.stream) for e in of(p[13], SYNC)]
    assert (0, 0) in waits, waits
    side = [stream for what, stream in waits if what == 3]
    assert len(side) == 1 and side[0] >= 2, waits
    assert (1, side[0]) in waits, waits
    same([e.stream for e in of(p[14], GEMM)], side)
    same([e.stream for e in of(p[9], GEMM)], [0, 0, 0])


def graphs(p):
    captured = [e for e in p[15] if e.graph]
    replayed = launches(p[15], GRAPH)
    same(len({e.graph for e in captured}), 1)
    same([e.kind for e in captured if e.kind in (GEMM, LAUNCH)][:2], [GEMM, LAUNCH])
    kernels = len([e for e in captured if e.kind in (GEMM, LAUNCH)])
    same(replayed, [(kernels, captured[0].graph)] * 2)


def times(p):
    events = [e for part in p for e in part]
    assert sum(e.cpu for e in events) > 10 ** 6
    assert sum(e.cpu > 0 for e in events) < len(events) / 2


def main():
    record = Path(os.environ["PLM_TMP"]) / "calls.plm"
    done = subprocess.run([Path(os.environ["PLM_BUILD"]) / "plimsoll", "run", "--gpu", "rtx3060", "-f", "-o", record, "--",
                           os.environ["PLM_TEST_PYTHON"], SOURCE / "tests" / "calls" / "work.py"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        print(f"not ok calls-run - exit status {done.returncode}\n{done.stdout}")
        return 1
    p = parts(read(record))
    print("ok calls-run" if len(p) == 17 else f"not ok calls-run - {len(p)} parts")
    for test in (elements, reductions, tensor_lists, products, convolutions, recurrent, copies, graphs, times):
        name = "calls-" + test.__name__.replace("_", "-")
        if os.environ.get("PLM_PATTERN", "") not in name:
            continue
        try:
            test(p)
            print(f"ok {name}")
        except (AssertionError, IndexError) as error:
            print(f"not ok {name} - {error or type(error).__name__}")
    return 0


sys.exit(main())
