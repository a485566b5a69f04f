"""The hook: what a program reads of values that no kernel computed."""
import importlib
import io
import sys
import threading
from unittest import mock

from hook_common import environment, equal, load, raised, test, thing


# ---- truth values that a program tests ----


class Value:
    """Asks what its caller needs in the place of a truth value, as a tensor does."""

    def __init__(self, answer):
        self.answer, self.given = answer, []

    def __bool__(self):
        self.given.append(self.answer(sys._getframe(1)))
        return bool(self.given[-1])


@test
def answers_let_a_program_go_on():
    branches, _ = load("values.branches")
    value = Value(branches.answer)

    def makes_sure():
        assert value, "a message"
        if not value:
            raise ValueError(f"{value.given} is wrong")

    def refuses():
        if value:
            raise ValueError("wrong")
        if not not value:
            raise ValueError("wrong")

    def either():
        return 1 if value else 2

    def returns_first():
        if not value:
            return 3
        raise ValueError("the other way goes on")

    makes_sure()
    equal(value.given, [True, True])
    value.given.clear()
    refuses()
    equal(value.given, [False, False])
    value.given.clear()
    either()
    equal(value.given, [None])
    equal(returns_first(), 3)


class Progress:
    """Of a program that launches kernels each time it is asked how far it is."""

    def __init__(self, device, launches=1, grows=0):
        self.step, self.launches, self.allocated, self.each, self.grows = 0, 0, 0, launches, grows
        device.answers["progress"] = self

    def __call__(self):
        self.launches += self.each
        self.allocated += self.grows
        return self.step, self.launches, self.allocated


def turns(waiting, *, truth=True, zero=True, most=30000):
    """How often a `while` reads before it gets something else, and what that is."""
    count, found = 0, None
    while found is None and count < most:
        found = waiting.other(sys._getframe(), truth, zero, False)
        count += 1
    return count, found


@test
def a_loop_that_waits_gets_the_other_answer():
    """By launches, by time, or by how often it reads; the other truth value; the same place again is not waited for as long."""
    for launches, grows, expected in ((100, 0, 500), (20, 0, 1000), (100, 1, 20000), (0, 0, 20000)):
        waiting, device = load("values.waiting")
        Progress(device, launches, grows)
        with mock.patch.object(waiting.time, "monotonic", lambda: 0.0):
            count, found = turns(waiting)
        assert found == 1 and abs(count - expected) <= 1, (launches, count)
    waiting, device = load("values.waiting")
    Progress(device, 0)
    clock = iter(range(10000))
    with mock.patch.object(waiting.time, "monotonic", lambda: next(clock) / 100):
        found = [turns(waiting, zero=False) for _ in range(12)]
    equal({answer for _, answer in found}, {0})
    assert abs(found[0][0] - 700) <= 2 and abs(found[1][0] - 350) <= 2 and found[-1][0] == waiting._LEAST, found


@test
def a_loop_that_goes_on_is_left_alone():
    """Steps of an optimizer, memory that grows, `for` loops."""
    waiting, device = load("values.waiting")
    progress = Progress(device, 100)
    for _ in range(3000):
        equal(waiting.other(sys._getframe(), True, True, False), None)

    def trains():
        for _ in range(3000):
            progress.step += 1
            step = 0
            while step < 20:
                equal(waiting.other(sys._getframe(), True, True, False), None)
                step += 1

    trains()

    def writes():
        tokens = 0
        while tokens < 4000:
            progress.allocated += tokens % 64 == 0
            equal(waiting.other(sys._getframe(), True, True, False), None)
            tokens += 1

    writes()


@test
def a_loop_that_reads_the_same_gets_smaller_numbers():
    waiting, device = load("values.waiting")
    Progress(device)

    def reads(assumed, changes, times=40, truth=True):
        device.calls.clear()
        count = 0
        while count < times:
            waiting.other(sys._getframe(), truth, bool(changes and count % 10 == 0), assumed)
            count += 1
        waiting._places.clear()
        return device.told("smaller")

    equal(reads(True, False), [(1,), (2,)])
    equal((reads(True, True), reads(False, False), reads(True, False, truth=False)), ([], [], []))


class Number:
    def __init__(self, answer):
        self.answer, self.given = answer, []

    def item(self):
        self.given.append(self.answer(sys._getframe(1)))
        return 1


@test
def numbers_that_a_loop_waits_for():
    """One that is compared at once becomes zero, large and negative, in turns; another only zero."""
    waiting, device = load("values.waiting")
    Progress(device, 1000)
    for zero, expected in ((False, [0, 0x4b, 0xcb, 0]), (True, [0x4b, 0xcb, 0, 0x4b])):
        waiting._places.clear()
        number = Number(lambda frame: waiting.other(frame, False, zero, False))
        while number.item() > 0 and len([byte for byte in number.given if byte is not None]) < 4:
            pass
        equal([byte for byte in number.given if byte is not None][:4], expected)
        waiting._places.clear()
        number, kept = Number(lambda frame: waiting.other(frame, False, zero, False)), []
        while len(kept) < 3000:
            kept += [number.item()]
        equal({byte for byte in number.given if byte is not None}, set() if zero else {0})


@test
def what_decides_how_often_a_loop_runs():
    readbacks, waiting, device = load("values.readbacks", "values.waiting")
    progress = Progress(device)
    value = Value(lambda frame: readbacks.answer(frame, readbacks.Read(True, False, True)))

    def told(function):
        del value.given[:], device.calls[:]
        function()
        return list(dict.fromkeys(place.split(" ")[0] for kind, place in device.told("note") if kind == "loop-assumed"))

    def line(function, number):
        return [f"hook_values.py:{function.__code__.co_firstlineno + number}"]

    def condition():
        while value:
            if len(value.given) > 1:
                return

    def leaves():
        while True:
            if value:
                break
            value.given.clear()

    def branch():
        if value:
            return 1
        return 2

    def retries():
        tries = 0
        while tries < 2:
            branch()
            tries += 1

    def trains():
        tries = 0
        while tries < 3:
            branch()
            progress.step += 1
            tries += 1

    def iterates():
        for _ in range(3):
            if value:
                break

    def logs():
        for _ in range(3):
            branch()

    with mock.patch.object(readbacks, "_OURS", "/nowhere"):
        equal(told(condition), line(condition, 1))
        equal(told(leaves), line(leaves, 2))
        equal(told(trains), [])
        equal(told(retries), line(branch, 1))
        equal(told(iterates), line(iterates, 2))
        equal(set(value.given), {None, 1})  # the first time it is only a value that was read
        equal(told(logs), [])


@test
def the_policy_is_one_table():
    """The hook's rows of src/common/policy.def: in that order, whatever it is, and without a row of the device between them."""
    readbacks, partial, device = load("values.readbacks", "values.partial")
    for module, table in ((readbacks, device.READS), (partial, device.LEAVES)):
        places = [list(table).index(name) for name in module._ROWS]
        equal(sorted(places), [*range(min(places), max(places) + 1)])
    equal([row.__name__ for row in readbacks._rows], ["_shown", "_ensured", "_awaited", "_looped"])
    equal([row.__name__ for row in partial._leaves], ["leave_certain", "leave_partial"])
    Progress(device)
    truth, number = readbacks.Read(True, True, False), readbacks.Read(False, False, False)
    with mock.patch.object(readbacks.branches, "answer", lambda frame: False), \
            mock.patch.object(readbacks.waiting, "other", lambda frame, truth, zero, assumed: int(zero)):
        equal((readbacks.answer(sys._getframe(), truth), readbacks.answer(sys._getframe(), number)), (0, 0))
        device.READS = dict(reversed(device.READS.items()))
        other = importlib.reload(readbacks)
        equal((other.answer(sys._getframe(), truth), other.answer(sys._getframe(), number)), (1, 0))


@test
def answers_are_forgotten_in_time():
    branches, _ = load("values.branches")
    value = Value(branches.answer)
    for number in range(branches._KEPT + 10):
        exec(compile("bool(value) or 1\nassert True", f"code {number}", "exec"), {"value": value})
        assert len(branches._answers) <= branches._KEPT


# ---- places where something unknown was read ----


@test
def the_last_place_that_failed_is_named():
    readbacks, _ = load("values.readbacks")
    with mock.patch.object(readbacks, "_OURS", "/nowhere"):

        def reads(count=1):
            for _ in range(count):
                readbacks._remember(sys._getframe())

        def fails():
            readbacks._remember(sys._getframe())
            readbacks._remember(sys._getframe())
            raise ValueError("x")

        def is_told(function, kind=ValueError):
            try:
                function()
            except kind as error:
                return readbacks.sentence(error, error.__traceback__)

        reads()
        assert is_told(fails).startswith(f"hook_values.py:{fails.__code__.co_firstlineno + 2} (`readbacks._remember")

        def logs_then_fails():
            loss = readbacks._remember(sys._getframe())
            print("step", 3, file=io.StringIO())
            print("data", file=io.StringIO())
            name = "data.bin"
            raise ValueError(f"no {name}")

        assert is_told(logs_then_fails) is None  # another value, of a log, a few lines before

        def takes_what_it_read():
            best = readbacks._remember(sys._getframe())
            print("step", 3, file=io.StringIO())
            print("data", file=io.StringIO())
            name = "data.bin"
            raise ValueError(f"no {best} in {name}")

        assert is_told(takes_what_it_read).startswith(f"hook_values.py:{takes_what_it_read.__code__.co_firstlineno + 1} (`best = ")

        def failed_before_it_read():
            for number in range(2):
                if number:
                    raise ValueError("x")
                readbacks._remember(sys._getframe())

        assert is_told(failed_before_it_read) is None

        def is_interrupted():
            readbacks._remember(sys._getframe())
            raise KeyboardInterrupt

        assert is_told(is_interrupted, KeyboardInterrupt) is None
        assert is_told(lambda: int("x")) is None  # nothing was read there
        for number in range(readbacks._MOST + 5):
            exec(compile("\n" * number + "remember(frame())", f"file {number}", "exec"),
                 {"remember": readbacks._remember, "frame": lambda: sys._getframe(1)})
            assert len(readbacks._places) <= readbacks._MOST
        equal(next(reversed(readbacks._places))[0], f"file {readbacks._MOST + 4}")
        equal(next(iter(readbacks._places))[0], "file 5")
        exec(compile("\n" * 5 + "remember(frame())", "file 5", "exec"), {"remember": readbacks._remember, "frame": lambda: sys._getframe(1)})
        equal(next(reversed(readbacks._places))[0], "file 5")  # the one that was read last


# ---- choices ----


@test
def which_choices_are_assumed():
    choices, _ = load("values.choices")
    scores = lambda shape: choices.Scores((None, 6, shape, ()))
    with environment(PLIMSOLL_ASSUME_ROUTE=""):
        of = choices.Choice.of
        for shape, arguments, assumed in (((4, 8), (2, -1), True), ((4, 8), (2,), True), ((4, 8), (2, None), True), ((4, 512), (2, -1), True),
                                          ((4, 513), (2, -1), False), ((4, 8), (8, -1), False), ((4, 8), (7, -1), True), ((4, 8), (0, -1), False),
                                          ((), (1, -1), False), ((8, 600), (2, 0), True), ((2, 8), (2, 0), False)):
            equal(of(scores(shape), arguments) is not None, assumed)
        choice = of(scores((4, 8)), (2, 0 - 1))
        equal((choice.rule, choice.among, choice.dimension, choice.count), ("balanced", 8, -1, 2))
        equal(choices.Order.of(scores((4, 8)), (None, 0, True)).dimension, 0)  # sort(shape, stable, dim, descending)
        equal(choices.Order.of(scores((4, 8)), (1, False)).dimension, 1)
        equal(choices.Order.of(scores((8,)), (5, True)).dimension, 0)  # randperm(count)
        drawn = choices.Order.drawn(scores((4, 8)), ())
        equal((drawn.row, drawn.dimension, drawn.first, drawn.among), ("DRAW", -1, 4, 8))
    for rule, assumed in (("one", "one"), ("none", None), ("balanced", "balanced"), ("other", None)):
        with environment(PLIMSOLL_ASSUME_ROUTE=rule):
            equal(getattr(choices.Choice.of(scores((4, 8)), (2, -1)), "rule", None), assumed)
            equal(choices.Order.of(scores((4, 8)), (1, False)) is None, assumed is None)
            equal(choices.Order.drawn(scores((4, 8)), ()) is None, assumed is None)


class Row(list):
    """As much of a tensor of whole numbers as an assumption is put into."""

    shape = property(lambda self: (len(self),))
    numel = list.__len__
    movedim = lambda self, source, to: self
    expand = lambda self, shape: self
    __radd__ = lambda self, number: Row(number + value for value in self)
    __mod__ = lambda self, number: Row(value % number for value in self)

    def copy_(self, values):
        self[:] = values


@test
def what_is_drawn_and_in_which_order():
    choices, _ = load("values.choices")
    scores = lambda shape: choices.Scores((None, 6, shape, ()))
    torch = thing(arange=lambda count: Row(range(count)))
    place = Row([-1] * 4)
    assert choices.Order.drawn(scores((3, 10)), ()).put(torch, place)
    equal(place, [5, 6, 7, 8])  # none that ends a text
    assert choices.Order.drawn(scores((5,)), ()).put(torch, place)
    equal(place, [2, 3, 4, 0])
    assert choices.Order("ORDER", 0).put(torch, place)
    equal(place, [0, 1, 2, 3])
    assert not choices.Order("ORDER", 0).put(torch, Row()) and not choices.Order.drawn(scores((5,)), ()).put(torch, Row())


# ---- checks of arguments ----


@test
def checks_are_nested():
    checks, device = load("values.checks")

    class Distribution:
        def __init__(self, inner=None, fails=False):
            self._validate_sample(1)
            if fails:
                raise ValueError("invalid")

        def _validate_sample(self, value):
            pass

    compiling = []
    torch = thing(compiler=thing(is_compiling=lambda: bool(compiling)))
    with mock.patch.dict(sys.modules, {"torch": torch}):
        checks.hook_distributions(thing(Distribution=Distribution))
        Distribution()
        equal(device.told("checking"), [(1,), (1,), (-1,), (-1,)])
        raised(ValueError, Distribution, fails=True)
        equal(sum(more for more, in device.told("checking")), 0)
        compiling.append(1)
        Distribution()
    equal(len(device.told("checking")), 8)


# ---- operators that are computed ----


class Shape:
    """A tensor that only has one."""

    dtype = "int64"

    def __init__(self, *shape):
        self.shape = shape

    def clone(self):
        return self


@test
def threads_share_an_operator():
    """Two threads run `cat` at once, along different dimensions: what is known of a result follows from its own call."""
    classify, partial, host, _ = load("values.classify", "values.partial", "values.host")
    meeting, along = threading.Barrier(2, timeout=30), {}

    class Shared(classify.Operator):
        """Whoever is about to use it waits for the other."""

        names, outs, devices, written, certain, places = [None, None], [False] * 2, [False] * 2, [False] * 2, None, []

        def __init__(self):
            pass

        def __setattr__(self, name, value):
            self.__dict__["_known" if name == "known" else name] = value

        @property
        def known(self):
            meeting.wait()
            return self._known

        def call(self, tensors, dimension):
            return Shape(dimension)

    def cat(masks, dimension):
        along[threading.current_thread().name] = dimension
        return Shape(-1)  # of no result: nothing is put

    host.torch = thing(Tensor=Shape, Tag=thing(pointwise=1), bool="bool", cat=cat, empty=lambda shape, **_: Shape(*shape),
                             ones=lambda shape, **_: Shape(*shape))
    host._types[4] = "int64"
    operator = Shared()
    partial.in_parts(operator, "cat", thing(_overloadname="", _schema=thing(returns=["Tensor"]), tags=()))
    described = (None, 4, (2, 3), (3, 1), b"")
    threads = [threading.Thread(target=partial.Parts(operator, [[described, described], dimension], None).compute,
                                args=(Shape(dimension),), name=str(dimension)) for dimension in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(along, {"0": 0, "1": 1})


# ---- fills, and what is kept ----


def fake_torch():
    class Tensor:
        def __init__(self, count, kind="cpu"):
            self.count, self.device, self.filled = count, thing(type=kind), 0

        def numel(self):
            return self.count

        def fill(self, *_, **__):
            self.filled += 1
            return self

    for name in ("normal_", "uniform_", "trunc_normal_", "exponential_", "log_normal_"):
        setattr(Tensor, name, lambda self, *args, **kwargs: self.fill())
    return thing(Tensor=Tensor)


@test
def large_fills_of_the_host_are_skipped():
    fills, device = load("fills")
    torch = fake_torch()
    with mock.patch.dict(sys.modules, {"torch": torch}):
        fills.skip_large_fills(None)
        for name in ("normal_", "uniform_", "trunc_normal_", "exponential_", "log_normal_"):
            for count, kind, filled in ((1 << 20, "cpu", 0), ((1 << 20) - 1, "cpu", 1), (1 << 21, "cuda", 1)):
                tensor = torch.Tensor(count, kind)
                assert getattr(tensor, name)(0.5) is tensor
                equal(tensor.filled, filled)

        class Quantized(torch.Tensor):
            pass

        equal(Quantized(1 << 21).normal_().filled, 1)  # a class of the program's may keep something else
    equal(set(device.told("note")), {("fills-skipped",)})


@test
def what_is_kept():
    keep, device = load("values.keep")
    for text, share in (("0.25", 0.25), ("2", 1.0), ("-1", 0.0), ("", None), ("x", None), ("0", 0.0)):
        with environment(PLIMSOLL_ASSUME_KEEP=text):
            equal(keep._keep(), share)
    device.answers["expected"] = -1
    kept = keep._kept(0.5)
    equal([kept(count) for count in (0, 1, 2, 3, 7)], [0, 1, 1, 2, 4])  # halves go up
    equal(device.told("note"), [("selection-assumed",)] * 5)
    device.answers["expected"] = 0
    equal(kept(7), 0)  # it is known
    equal(len(device.told("note")), 5)


def shaped(*shape):
    size = 1
    for extent in shape:
        size *= extent
    return thing(shape=shape, numel=lambda: size, dim=lambda: len(shape), dtype="float32", device="cuda", t=lambda: shaped(*shape[::-1]))


@test
def shapes_of_what_selects():
    selections, _ = load("values.selections")
    torch = thing(int64="int64", bool="bool", empty=lambda shape, dtype, device: shaped(*shape),
                  broadcast_shapes=lambda a, b: max(a, b, key=len), Size=lambda shape: shaped(*shape))
    aten = selections.operators(torch, lambda count: count // 4)["aten"]
    equal(aten["nonzero"](shaped(4, 6)).shape, (6, 2))
    equal(aten["masked_select"](shaped(8), shaped(4, 8)).shape, (8,))
    equal([part.shape for part in aten["_unique2"](shaped(4, 2), True, True, True)], [(2,), (4, 2), (2,)])
    equal([part.shape for part in aten["_unique2"](shaped(4, 2))], [(2,), (0,), (0,)])
    equal([part.shape for part in aten["_unique2"](shaped(3))], [(1,), (0,), (0,)])  # what is not empty has one
    equal([part.shape for part in aten["_unique2"](shaped(0))], [(0,), (0,), (0,)])
    equal([part.shape for part in aten["unique_dim"](shaped(5, 3), 1, True, True, True)], [(5, 1), (3,), (1,)])
    equal([part.shape for part in aten["unique_dim"](shaped(8, 0), 1)], [(8, 0), (0,), (0,)])
    equal([part.shape for part in aten["unique_consecutive"](shaped(8, 2), dim=0)], [(2, 2), (0,), (0,)])
    equal(aten["unique_consecutive"](shaped(8))[0].shape, (2,))
    equal(selections.operators(torch, lambda count: count // 4)["torchvision"]["nms"](shaped(8, 4), shaped(8), 0.5).shape, (2,))


@test
def counts_of_what_selects():
    """The sum of a mask is as many as are kept of what goes into each number of it; sums of anything else are computed."""
    selections, _ = load("values.selections")
    written = []

    def sum_of(self, dim, keepdim, *, dtype, out):
        out.shape, out.numel, out.dtype = (4,), lambda: 4, dtype or "int64"

    torch = thing(int64="int64", bool="bool", empty=lambda *_, dtype, device: thing(copy_=written.append, dtype=dtype),
                  full=lambda shape, value, dtype: (shape, value, dtype), ops=thing(aten=thing(sum=thing(IntList_out=sum_of))))
    aten = selections.operators(torch, lambda count: count // 2)["aten"]
    mask = thing(dtype="bool", device="cuda", numel=lambda: 24, is_floating_point=lambda: False, is_complex=lambda: False)
    aten["sum.dim_IntList"](mask, [1])
    aten["sum"](mask)
    equal(written, [((4,), 3, "int64")] * 2)  # 24 in 4 numbers are 6 in each, of which half
    mask.dtype = "int64"
    aten["sum"](mask)
    equal(len(written), 2)


@test
def texts_of_tensors_decide_nothing():
    """What PyTorch reads while it makes the text of a tensor; what any other file of PyTorch reads for a program is the program's."""
    readbacks, _ = load("values.readbacks")
    torch = "/usr/lib/python3/site-packages/torch/"

    def read_in(*files):
        """Through functions of these files, the first of which is called by the next."""
        call = sys._getframe
        for file in files:
            names = {"call": call}
            exec(compile("def function():\n    return call()", file, "exec"), names)
            call = names["function"]
        return readbacks._in_text(call())

    equal(read_in(torch + "_tensor_str.py"), True)
    equal(read_in(torch + "_tensor.py", torch + "_tensor_str.py", "/home/me/train.py"), True)
    equal(read_in(torch + "_tensor.py", "/home/me/train.py"), False)
    equal(read_in("/home/me/_tensor_str.py"), False)
    equal(read_in("/home/me/item.py", torch + "_tensor_str.py"), False)  # the program's own class is asked there


@test
def scores_are_too_many_to_look_at():
    """Floating numbers above the limit; positions may be as many as they like."""
    partial, host, device = load("values.partial", "values.host")
    device.PARTS_MOST, device.PARTS_DIMENSIONS = 100, 3
    host._types.update({6: thing(is_floating_point=True), 4: thing(is_floating_point=False)})

    def described(kind, *shape):
        return (None, kind, shape, (1,) * len(shape), b"")

    equal([partial.wide([described(*one), 2]) for one in ((6, 10, 10), (6, 10, 11), (4, 10, 11))], [False, True, False])
    assert partial.wide([described(4, 2), described(6, 101)])
    equal([partial.wide([described(6, *shape)]) for shape in ((2, 2, 2), (1, 2, 2, 2))], [False, True])  # those of attention have four


class Numbers(list):
    """Truth values, or numbers, of a tensor with one dimension."""

    shape, dtype = (4,), None

    def each(self, other, function):
        return Numbers(function(a, b) for a, b in zip(self, other))

    def __and__(self, other):
        return self.each(other, lambda a, b: a and b)

    def __or__(self, other):
        return self.each(other, lambda a, b: a or b)

    def bool(self):
        return Numbers(a != 0 for a in self)

    def __eq__(self, other):
        return Numbers(a == other for a in self) if isinstance(other, bool) else list.__eq__(self, other)

    __hash__ = None

    def expand(self, shape):
        return self


@test
def elements_that_are_known():
    """A whole number times 0 is 0, whatever it is; times 0 infinity and NaN are not. A choice is known where the mask is, and what it takes."""
    partial, host, _ = load("values.partial", "values.host")
    numbers, known = [Numbers([0, 0, 5, 5]), Numbers([1, 7, 0, 7])], [Numbers([True, True, False, True]), Numbers([False, True, True, True])]
    for name, floating, expected in (("mul", False, [True] * 4), ("mul", True, [False, True, False, True]), ("bitwise_or", False, [False, True, False, True])):
        made = thing(shape=(4,), dtype=thing(is_floating_point=floating))
        host.torch = thing(bool="bool")
        equal(list(partial._EITHER[name](numbers, known, made, ())), expected)
    yes, no = True, False
    host.torch = thing(where=lambda condition, a, b: Numbers(x if c else y for c, x, y in zip(condition, a, b)))
    chosen = partial._where([Numbers([yes, yes, no, no])], [Numbers([yes, no, yes, yes]), Numbers([yes, yes, no, no]), Numbers([no, no, yes, no])], None, ())
    equal(list(chosen), [True, False, True, False])
