#!/usr/bin/env python3
"""What the hook (hook/plimsoll_hook) decides, without PyTorch and without the virtual device: modules are loaded one by one, beside a
device that only notes what it is told, and with objects that have what they look at. How it goes with PyTorch, tests/groups shows.

    tests/unit/hook.py          prints the name of each test that fails; the status is 1 then
"""
import ctypes
import importlib
import importlib.machinery
import io
import os
import re
import sys
import threading
import traceback
import types
from pathlib import Path
from unittest import mock

HOOK = Path(__file__).resolve().parent.parent.parent / "hook" / "plimsoll_hook"
SHARED = re.findall(r"(?m)^SHARED\((\w+),", (HOOK.parent.parent / "src/device/shared.def").read_text())
POLICY = re.findall(r'(?m)^(LEAVES|READS)\((\w+), "?([^",]*)', (HOOK.parent.parent / "src/common/policy.def").read_text())
TESTS = []


def test(function):
    TESTS.append(function)
    return function


class Constant(str):
    """One of src/device/shared.def; as a flag, it is joined with others."""

    def __or__(self, other):
        return Constant(f"{self}|{other}") if other else self

    __ror__ = __or__


class Device(types.ModuleType):
    """Notes every call: (name, arguments)."""

    def __init__(self):
        super().__init__("plimsoll_hook.device")
        self.calls, self.answers, self.texts = [], {}, []
        self.DETAIL, self.PROCESS = "full", os.getpid()
        for name in SHARED:  # told apart by their names, here; the device has the numbers
            setattr(self, name, Constant(name))
        self.MESSAGE_MOST = 1 << 20
        self.LEAVES, self.READS = ({name: tells for kind, name, tells in POLICY if kind == wanted} for wanted in ("LEAVES", "READS"))

    def text(self, value):
        if value not in self.texts:
            self.texts.append(value)
        return self.texts.index(value) + 1

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*args):
            self.calls.append((name, *args))
            answer = self.answers.get(name)
            return answer(*args) if callable(answer) else answer

        return call

    def told(self, name):
        return [call[1:] for call in self.calls if call[0] == name]


def load(*wanted):
    """Fresh modules of the hook, by their names in it, and the device that they have."""
    for name in [name for name in sys.modules if name.split(".")[0] == "plimsoll_hook"]:
        del sys.modules[name]
    package = types.ModuleType("plimsoll_hook")
    package.__path__ = [str(HOOK)]
    device = package.device = Device()
    sys.modules.update({"plimsoll_hook": package, "plimsoll_hook.device": device})
    return (*(importlib.import_module(f"plimsoll_hook.{name}") for name in wanted), device)


def environment(**variables):
    return mock.patch.dict(os.environ, variables)


def raised(kind, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except kind as error:
        return str(error)
    raise AssertionError(f"{kind.__name__} was not raised")


def equal(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


class Thing(types.SimpleNamespace):
    __hash__ = object.__hash__
    __eq__ = object.__eq__


def thing(**attributes):
    return Thing(**attributes)


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


@test
def a_loop_that_waits_gets_the_other_answer():
    branches, readbacks, _ = load("values.branches", "values.readbacks")
    value, times = Value(lambda frame: readbacks.answer(frame, True)), 0
    while not value:  # some releases of Python have the test twice, before the loop and at its end
        times += 1
    assert times in (branches._LOOPS - 1, branches._LOOPS), times
    frame = sys._getframe()
    equal(sum(branches.waits(frame) for _ in range(3 * branches._LOOPS)), 3)  # each time as many
    equal([readbacks.answer(frame, False) for _ in range(branches._LOOPS)], [None] * (branches._LOOPS - 1) + [False])


@test
def the_policy_is_one_table():
    """The hook's rows of src/common/policy.def: in that order, whatever it is, and without a row of the device between them."""
    readbacks, partial, device = load("values.readbacks", "values.partial")
    for module, table in ((readbacks, device.READS), (partial, device.LEAVES)):
        places = [list(table).index(name) for name in module._ROWS]
        equal(sorted(places), [*range(min(places), max(places) + 1)])
    equal([row.__name__ for row in readbacks._rows], ["_shown", "_ensured", "_awaited"])
    equal([row.__name__ for row in partial._leaves], ["leave_certain", "leave_partial"])
    waits = lambda frame: True
    with mock.patch.multiple(readbacks.branches, answer=lambda frame: False, waits=waits):
        equal((readbacks.answer(sys._getframe(), True), readbacks.answer(sys._getframe(), False)), (False, False))
        device.READS = dict(reversed(device.READS.items()))
        other = importlib.reload(readbacks)
        equal((other.answer(sys._getframe(), True), other.answer(sys._getframe(), False)), (True, False))


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
        assert is_told(fails).startswith(f"hook.py:{fails.__code__.co_firstlineno + 2} (`readbacks._remember")

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
    with environment(PLIMSOLL_ASSUME_ROUTE=""):
        of = choices.Choice.of
        for shape, arguments, assumed in (((4, 8), (2, -1), True), ((4, 8), (2,), True), ((4, 8), (2, None), True), ((4, 512), (2, -1), True),
                                          ((4, 513), (2, -1), False), ((4, 8), (8, -1), False), ((4, 8), (7, -1), True), ((4, 8), (0, -1), False),
                                          ((), (1, -1), False), ((8, 600), (2, 0), True), ((2, 8), (2, 0), False)):
            equal(of(shape, arguments) is not None, assumed)
        choice = of((4, 8), (2, 0 - 1))
        equal((choice.rule, choice.among, choice.dimension, choice.count), ("balanced", 8, -1, 2))
        equal(choices.Order.of((4, 8), (None, 0, True)).dimension, 0)  # sort(shape, stable, dim, descending)
        equal(choices.Order.of((4, 8), (1, False)).dimension, 1)
        equal(choices.Order.of((8,), (5, True)).dimension, 0)  # randperm(count)
        drawn = choices.Order.drawn((4, 8), ())
        equal((drawn.row, drawn.dimension, drawn.first, drawn.among), ("DRAW", -1, 4, 8))
    for rule, assumed in (("one", "one"), ("none", None), ("balanced", "balanced"), ("other", None)):
        with environment(PLIMSOLL_ASSUME_ROUTE=rule):
            equal(getattr(choices.Choice.of((4, 8), (2, -1)), "rule", None), assumed)
            equal(choices.Order.of((4, 8), (1, False)) is None, assumed is None)
            equal(choices.Order.drawn((4, 8), ()) is None, assumed is None)


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
    torch = thing(arange=lambda count: Row(range(count)))
    place = Row([-1] * 4)
    assert choices.Order.drawn((3, 10), ()).put(torch, place)
    equal(place, [5, 6, 7, 8])  # none that ends a text
    assert choices.Order.drawn((5,), ()).put(torch, place)
    equal(place, [2, 3, 4, 0])
    assert choices.Order("ORDER", 0).put(torch, place)
    equal(place, [0, 1, 2, 3])
    assert not choices.Order("ORDER", 0).put(torch, Row()) and not choices.Order.drawn((5,), ()).put(torch, Row())


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

        names, outs, devices, written, certain = [None, None], [False] * 2, [False] * 2, [False] * 2, None

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
    threads = [threading.Thread(target=partial.Parts(operator, [[described, described], dimension]).compute, args=(Shape(dimension),),
                                name=str(dimension)) for dimension in (0, 1)]
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


# ---- steps ----


def counted():
    steps, ending, device = load("job.steps", "job.ending")
    steps.shards = thing(step_ended=lambda number: None)
    return steps, ending, device


@test
def steps_of_several_optimizers():
    steps, _, device = counted()
    counts, one, two, rare = steps.Steps(), object(), object(), object()
    counts.optimizers = True
    counts.after(one)
    equal(device.told("step"), [(1, 1)])
    counts.after(two)  # of the same step
    counts.after(one)
    counts.after(two)
    equal(device.told("step"), [(1, 1), (2, 2)])
    counts.after(rare)
    counts.after(one)  # the third: the last one of those before is over, whoever is behind
    equal(device.told("step"), [(1, 1), (2, 2)])
    counts.after(one)
    equal(device.told("step")[-1], (3, 3))
    equal([number for number, _ in device.told("step")], [1, 2, 3])  # each once


@test
def backward_passes_are_steps_until_there_is_an_optimizer():
    steps, ending, device = counted()
    counts = steps.Steps()
    for _ in range(3):
        counts.after_backward()
    equal(device.told("step"), [(1, 0), (2, 0), (3, 0)])
    counts.optimizers = True
    counts.after_backward()
    counts.after(object())
    equal(device.told("step")[3:], [(4, 1)])
    counts.after_backward()
    equal(len(device.told("step")), 4)


@test
def a_stop_within_a_pass_waits_for_its_end():
    steps, ending, device = counted()
    counts, optimizer = steps.Steps(), object()
    counts.optimizers, counts.running = True, 1
    device.answers["step"] = True
    stops = []
    with mock.patch.object(ending, "stop", stops.append), mock.patch.object(ending, "in_main_thread", lambda: False):
        counts.after(optimizer)
        assert counts.due and not stops
        counts.after(optimizer)  # nothing more counts
        equal(counts.counts[id(optimizer)], 1)
        counts.running = 0
        counts.after_backward()
        assert len(stops) == 1 and counts.stopping and not counts.due

    def leave():
        raise SystemExit("left")

    with mock.patch.object(counts, "leave", leave):  # the exit was swallowed
        equal(raised(SystemExit, counts.after, optimizer), "left")
        equal(raised(SystemExit, counts.after_backward), "left")


@test
def passes_within_passes():
    steps, _, device = counted()
    graph = types.ModuleType("graph")
    depth = []

    def run_backward(again=0):
        depth.append(steps._steps.running)
        if again:
            graph._engine_run_backward(again - 1)
        if again == 9:
            raise ValueError("in the pass")

    graph._engine_run_backward = run_backward
    steps.hook_backward(graph)
    graph._engine_run_backward(2)
    equal(depth, [1, 2, 3])
    equal(device.told("step"), [(1, 0)])
    raised(ValueError, graph._engine_run_backward, 9)
    equal(steps._steps.running, 0)
    equal(len(device.told("step")), 1)
    with mock.patch.dict(sys.modules, {"torch._guards": thing(detect_fake_mode=lambda: object())}):
        graph._engine_run_backward()
    equal(len(device.told("step")), 1)  # the compiler's


# ---- the end ----


@test
def the_end_of_a_program():
    ending, _ = load("job.ending")
    done = []
    with mock.patch.object(threading, "_shutdown", lambda: done.append("threads")), \
            mock.patch("atexit._run_exitfuncs", lambda: done.append("exit functions")):
        equal(raised(SystemExit, ending.stop, lambda: done.append("left")), "0")
        equal(done, [])
        threading._shutdown()
    equal(done, ["threads", "exit functions", "left"])
    thread = threading.Thread(target=lambda: raised(SystemExit, ending.stop, lambda: done.append("left at once")))
    with mock.patch.object(threading, "_shutdown"):
        thread.start()
        thread.join()
    equal(done[-1], "left at once")


@test
def what_was_printed_is_flushed():
    ending, _ = load("job.ending")

    class Stream(io.StringIO):
        flushed = 0

        def flush(self):
            self.flushed += 1

    out, err = Stream(), Stream()
    with mock.patch.object(sys, "stdout", out), mock.patch.object(sys, "stderr", err):
        ending.flush()
    equal((out.flushed, err.flushed), (1, 1))
    with mock.patch.object(sys, "stdout", None), mock.patch.object(sys, "stderr", err):
        ending.flush()
    equal(err.flushed, 2)


# ---- names ----


class Module:
    def __init__(self, *parameters, **children):
        self._modules, self._parameters, self._buffers = dict(children), {f"p{i}": parameter for i, parameter in enumerate(parameters)}, {}

    def parameters(self):
        return iter([*self._parameters.values(), *(p for child in self._modules.values() for p in child.parameters())])


class Parameter:
    pass


@test
def names_of_modules():
    names, device = load("memory.names")

    def named(thing, table):
        return device.texts[table[id(thing)] - 1]

    inner, weight = Module(), Parameter()
    inner._parameters["weight"] = weight
    inner._buffers["mean"] = object()
    model = Module(layer=inner)
    names.registered(model, "layer", inner)
    equal(names.add(inner), model)
    equal(named(inner, names.modules), "layer")
    equal(named(weight, names.parameters), "layer.weight")
    equal(device.texts[names.buffers[id(inner), "mean"] - 1], "layer.mean")
    equal(named(model, names.modules), "(Module)")
    # Another model, and a third, are told apart by their class.
    others = [Module(Parameter(), layer=Module()) for _ in range(3)]
    for other in others:
        names.add(other)
    equal([named(other._modules["layer"], names.modules) for other in others], ["Module.layer", "Module#2.layer", "Module#3.layer"])
    # A child that was replaced belongs to its old parent no more.
    model._modules["layer"] = Module()
    equal(names.add(inner), inner)
    loss = Module()
    names.add(loss)
    equal(named(loss, names.modules), "(Module)")


@test
def wrappers_have_no_part_in_names():
    names, device = load("memory.names")
    DistributedDataParallel = type("DistributedDataParallel", (Module,), {})
    wrapped = DistributedDataParallel(module=Module(layer=Module(Parameter())), logger=Module())
    names.add(wrapped)
    layer = wrapped._modules["module"]._modules["layer"]
    equal(device.texts[names.modules[id(layer)] - 1], "layer")
    equal(device.texts[names.modules[id(wrapped._modules["logger"])] - 1], "logger")
    equal(names._kind(wrapped), "Module")
    average = type("AveragedModel", (Module,), {})(module=Module())
    equal(names._kind(average), "AveragedModel")  # a model of its own, beside the one that it has a copy of
    sharded = type("FSDPBlock", (Module,), {})(Parameter(), module=Module())
    equal([path for _, path in names._walk(sharded, "", set())], ["", "module"])


@test
def what_dies_is_forgotten():
    names, _ = load("memory.names")
    model = Module(Parameter())
    names.add(model)
    assert len(names.modules) == len(names.parameters) == 1
    del model
    assert not names.modules and not names.parameters and not names._tops


# ---- what memory is for ----


def attributed():
    attribution, names, device = load("memory.attribution", "memory.names")

    class Tensor:
        def __init__(self, address, grad=None, cuda=True, requires_grad=False):
            self.address, self.grad, self.is_cuda, self.requires_grad, self.shape = address, grad, cuda, requires_grad, (2, 3)

        def untyped_storage(self):
            return thing(data_ptr=lambda: self.address, nbytes=lambda: 64)

        def get_device(self):
            return 0

    attribution._torch = thing(Tensor=Tensor, nn=thing(Module=Module))
    device.answers["life"] = lambda address: address + 1
    return attribution, names, device, Tensor


@test
def optimizer_state_is_tagged_while_it_grows():
    attribution, names, device, Tensor = attributed()
    parameter, state = Tensor(10), {}
    optimizer = thing(param_groups=[{"params": [parameter]}], state={parameter: state})
    optimizers = attribution._Optimizers()
    state["exp_avg"] = Tensor(20)

    def tagged(category):
        return [call[0] for call in device.told("tag") if call[1] == category]

    for _ in range(5):
        optimizers.after(optimizer)
    equal(tagged(device.OPTIMIZER_STATE), [20] * 3)
    equal(tagged(device.PARAMETERS), [10])  # it belongs to no module, and is told once
    later = Tensor(30)
    optimizer.state[later] = {"exp_avg": Tensor(40)}
    optimizers.after(optimizer)
    equal(tagged(device.OPTIMIZER_STATE)[3:], [20, 40])
    equal(device.texts[names.parameters[id(parameter)] - 1], "Thing.param_0")


@test
def models_that_are_never_called_are_looked_for_once():
    attribution, _, _, Tensor = attributed()
    looked = []
    optimizer = thing(param_groups=[], state={})
    with mock.patch.object(attribution, "_find_copies", lambda: looked.append(steps)):
        optimizers = attribution._Optimizers()
        for steps in range(1, 6):
            optimizers.after(optimizer)
    equal(looked, [2])


@test
def a_model_is_tagged_from_its_top():
    attribution, names, device, _ = attributed()
    tagged, inner = [], Module(Parameter())
    outer = Module(layer=inner)
    names.registered(outer, "layer", inner)
    with mock.patch.object(attribution, "_tag_model", tagged.append), mock.patch.object(attribution, "depth", lambda: 1):
        attribution._named(inner)
        equal(tagged, [])  # the outermost one was when it was called
        attribution._named(outer)
        equal(tagged, [outer])
    with mock.patch.object(attribution, "_tag_model", tagged.append), mock.patch.object(attribution, "depth", lambda: 0):
        attribution._named(inner)  # called by itself
    equal(tagged, [outer, outer])


@test
def gradients_and_inputs_are_tagged():
    attribution, names, device, Tensor = attributed()
    kept = Tensor(10, grad=Tensor(11))
    names.add_parameter(kept, "a.weight")
    names.add_parameter(Tensor(20, grad=Tensor(21)), "b.weight")  # is gone
    attribution._tag_gradients()
    equal([call[:3] for call in device.told("tag")], [(11, device.GRADIENTS, 1)])
    equal(len(names.tensors), 2)  # half of them are no reason to sort them out
    names.add_parameter(Tensor(30), "c.weight")
    attribution._tag_gradients()
    equal(len(names.tensors), 1)
    device.calls.clear()
    attribution._tag_inputs([Tensor(1), Tensor(2, cuda=False), Tensor(3, requires_grad=True), {"x": Tensor(4)}, [Tensor(5), (Tensor(6),)]])
    equal([call[0] for call in device.told("tag")], [1, 4, 5, 6])
    attribution.stop_tagging()
    attribution._tag_inputs([Tensor(1)])
    attribution._tag_gradients()
    equal(len(device.told("tag")), 4)


@test
def a_parameter_is_tagged_for_each_memory():
    attribution, names, device, Tensor = attributed()
    parameter = Tensor(10)
    for address in (10, 10, 50, 50, 10):
        parameter.address = address
        attribution._tag_once(parameter, device.PARAMETERS, 7)
    equal([call[0] for call in device.told("tag")], [10, 50, 10])


@test
def nothing_is_raised_into_the_program():
    attribution, _, device, _ = attributed()
    calls = []
    equal(attribution.safely(lambda: calls.append(1) or 5), 5)
    equal(attribution.safely(lambda: 1 / 0), None)
    equal(attribution.safely(lambda: calls.append(1)), None)  # once is enough
    equal(len(calls), 1)
    equal(device.told("note"), [("attribution-failed", "ZeroDivisionError: division by zero")])


@test
def passes_of_a_model():
    """Which module was called by itself, with how many samples, and whether what it is given has another shape than before."""
    attribution, names, device, Tensor = attributed()
    device.answers["depth"] = 0
    device.answers["enter"] = device.answers["leave_frame"] = None

    class Called(Module):
        __call__ = zero_grad = lambda self, *args, **kwargs: None
        modules = lambda self: [self]

    module = thing(Module=Called, register_module_module_registration_hook=lambda hook: None)
    attribution._hook_modules(module)
    model = Called(Parameter())
    model._parameters["p0"].is_cuda = False

    def given(*shape):
        tensor = Tensor(1)
        tensor.shape = shape
        return tensor

    model(given(), given(8, 3))
    model(given(), x=given(8, 3))
    model(given(), x=given(4, 3))
    Called()(given(9, 3))  # a loss: it has no parameters
    equal([call[1:] for call in device.told("outermost_pass")], [(8, 1), (8, 0), (4, 1)])
    equal([call[1] for call in device.told("enter")], [0, 0, 0, device.NO_PARAMETERS])


# ---- groups ----


@test
def ranges_of_ranks():
    groups, _ = load("ranks.groups")
    for ranks, text in (([], ""), ([5], "5"), ([0, 1], "0-1"), ([0, 4], "0,4"), ([0, 4, 8], "0-8/4"), ([*range(8)], "0-7"), ([0, 3, 5], "0,3,5"),
                        ([0, 3, 5, 6, 7], "0,3,5-7"), ([1, 9, 17, 25], "1-25/8"), ([3, 2, 1], "3,2,1"), ([0, 1, 8, 9], "0-1,8-9"), ([2, 2], "2,2")):
        equal(groups.ranges(ranks), text)


@test
def groups_are_told_with_ones_own_place():
    groups, device = load("ranks.groups")
    groups._tell("tp", [4, 6], 6)
    groups._tell("tp", [4, 6], 5)
    equal(device.told("group"), [("tp", "4,6", [4, 6], 1), ("tp", "4,6", [4, 6], None)])
    with environment(RANK="0"):
        groups._tell_world(8, 3)
        equal(device.told("config"), [])
    with mock.patch.dict(os.environ):
        os.environ.pop("RANK", None)
        groups._tell_world(8, 3)
    equal(device.told("config"), [("rank", 3), ("world_size", 8)])
    with environment(RANK="0"), mock.patch.object(device, "PROCESS", 1):  # a fork
        groups._tell_world(8, 4)
    equal(device.told("config")[2:], [("rank", 4), ("world_size", 8)])


@test
def the_last_split_is_ones_own():
    groups, device = load("ranks.groups")
    module = types.ModuleType("c10d")
    module.get_rank, module.get_world_size = lambda: 5, lambda: 8
    module.get_process_group_ranks = lambda parent: [1, 3, 5, 7]
    module.split_group = lambda parent=None, splits=None, *_, **__: None
    with mock.patch.object(groups, "_options", lambda group: 0):
        groups._name_split(module)
        module.split_group("parent", [[0, 1], [2, 3]], group_desc="x")
        module.split_group("parent", [[2, 3], [0, 1]])
    equal([(call[0], call[2], call[3]) for call in device.told("group")],
          [("x", [1, 3], None), ("x", [5, 7], 0), ("split", [1, 3], None), ("split", [5, 7], 0)])
    equal(len(device.told("group_made")), 2)


@test
def a_group_that_cannot_be_made_is_over():
    groups, device = load("ranks.groups")
    module = types.ModuleType("c10d")

    def helper(size, place, ranks, backend, store, group_name, **_):
        raise RuntimeError("no group")

    module._new_process_group_helper = helper
    with mock.patch.object(groups, "_options", lambda group: 0):
        groups._name_new(module)
        raised(RuntimeError, module._new_process_group_helper, 2, 1, [4, 6], "nccl", None, "g")
        raised(RuntimeError, module._new_process_group_helper, 3, 2, None, "nccl", None, "g", group_desc="world")
    equal([(call[0], call[2], call[3]) for call in device.told("group")], [("g", [4, 6], 1), ("world", [0, 1, 2], 2)])
    equal(len(device.told("group_made")), 2)


@test
def where_the_watchdog_is_left_out():
    groups, _ = load("ranks.groups")
    for release, new, own, out in (((2, 6), False, None, None), ((2, 7), False, None, "1"), ((2, 15), True, None, None), (None, False, None, None),
                                   ((2, 8), False, "0", None)):
        module = types.ModuleType("c10d")
        if new:
            module.ProcessGroupNCCL2 = object
        with mock.patch.dict(os.environ, {"NCCL_BLOCKING_WAIT": own} if own else {}), mock.patch.object(groups.releases, "running", lambda: release):
            os.environ.pop("TORCH_NCCL_BLOCKING_WAIT", None)
            groups.leave_out_watchdog(module)
            equal(os.environ.get("TORCH_NCCL_BLOCKING_WAIT"), out)


@test
def barriers_are_waited_at():
    groups, device = load("ranks.groups")
    module = types.ModuleType("c10d")
    module.barrier = lambda later=False: "work" if later else None
    groups._wait_at_barriers(module)
    module.barrier()
    equal(len(device.told("barrier")), 1)
    equal(module.barrier(True), "work")  # who waits for it later is not kept
    equal(len(device.told("barrier")), 1)


# ---- worlds ----

WORLD = {"PLIMSOLL_WORLD": "8", "PLIMSOLL_RANK": "5", "PLIMSOLL_STORE": "1234", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4", "RANK": "5"}


@test
def which_ranks_run():
    env, _ = load("ranks.env")
    equal(env._ranks("0-2,5,8-16/4"), {0, 1, 2, 5, 8, 12, 16})
    with environment(**WORLD, PLIMSOLL_LIVE=""):
        equal((env.here(), env.lonely(), env.absent(5), env.absent(4)), (True, True, False, True))
    with environment(**WORLD, PLIMSOLL_LIVE="0-7"):
        equal((env.lonely(), env.absent(7)), (False, False))
    with environment(**WORLD, PLIMSOLL_LIVE="0-6"):
        equal((env.lonely(), env.absent(7)), (True, True))
    with mock.patch.dict(os.environ):
        os.environ.pop("PLIMSOLL_WORLD", None)
        assert not env.here() and not env.lonely()


@test
def a_program_that_says_who_it_is():
    launchers, _ = load("ranks.launchers")
    module = types.ModuleType("c10d")
    module.init_process_group = lambda backend, init_method, timeout, world_size, rank: (world_size, rank)
    launchers.check_rank(module)
    with environment(**WORLD):
        equal(module.init_process_group("nccl"), (-1, -1))
        equal(module.init_process_group("nccl", world_size=8, rank=5), (8, 5))
        equal(raised(SystemExit, module.init_process_group, world_size=4, rank=5),
              "plimsoll: the program sets up a job of 4 ranks, but --world is 8")
        equal(raised(SystemExit, module.init_process_group, world_size=8, rank=4),
              "plimsoll: the program runs as rank 4, but --rank is 5")
        with mock.patch.object(launchers.multiprocessing, "parent_process", lambda: object()):  # one that the program started itself
            equal(raised(SystemExit, module.init_process_group, world_size=8, rank=4), "0")
    with mock.patch.dict(os.environ):
        os.environ.pop("PLIMSOLL_WORLD", None)
        equal(module.init_process_group("nccl", world_size=4, rank=3), (4, 3))


@test
def launchers_become_the_rank():
    launchers, _ = load("ranks.launchers")
    spawn, api = types.ModuleType("spawn"), types.ModuleType("api")
    spawn.spawn = api.launch_agent = lambda *_: "original"
    launchers.call_in_place(spawn)
    launchers.become_rank(api)
    called = []
    with environment(**WORLD):
        equal(spawn.spawn(lambda index, word: called.append((index, word)), ("x",), nprocs=8), None)
        spawn.spawn(lambda index: called.append(index), nprocs=4)
        equal(called, [(5, "x"), 1])  # a process for each rank, or for each of a node
        assert spawn.spawn(lambda index: None, nprocs=4, join=False).join()
        assert "starts 2 processes per node, but a node has 4 GPUs" in raised(SystemExit, spawn.spawn, lambda index: None, nprocs=2)
        equal(api.launch_agent(thing(nproc_per_node=4, max_nodes=2), lambda word: word, ["x"]), {1: "x"})
        equal(api.launch_agent(thing(nproc_per_node=2, max_nodes=4), lambda word: word, ["x"]), {1: "x"})
        raised(SystemExit, api.launch_agent, thing(nproc_per_node=2, max_nodes=3), lambda word: word, ["x"])
        with mock.patch("os.execvp", lambda *words: called.append(words)):
            api.launch_agent(thing(nproc_per_node=4, max_nodes=2), "python", ["a.py", "--rank=${local_rank}"])
        equal(called[-1], ("python", ["python", "a.py", "--rank=1"]))
    with mock.patch.dict(os.environ):
        os.environ.pop("PLIMSOLL_WORLD", None)
        equal((spawn.spawn(None), api.launch_agent(None, None, None)), ("original", "original"))


@test
def deepspeed_becomes_the_rank():
    launchers, _ = load("ranks.launchers")
    module, words = types.ModuleType("runner"), []
    module.main = lambda args: "original"
    launchers.become_rank_of_deepspeed(module)
    with environment(**WORLD), mock.patch("os.execvp", lambda program, all_words: words.append(all_words)):
        for asked in ({}, {"module": True}, {"no_python": True}, {"no_local_rank": True}):
            module.parse_args = lambda args, asked=asked: thing(user_script="a.py", user_args=["--x"], **asked)
            module.main([])
    python = [sys.executable, "-u"]
    equal(words, [[*python, "a.py", "--local_rank=1", "--x"], [*python, "-m", "a.py", "--local_rank=1", "--x"], ["a.py", "--local_rank=1", "--x"],
                  [*python, "a.py", "--x"]])


@test
def stores_lead_to_ours():
    stores, _ = load("ranks.stores")
    made = []

    class TCPStore:
        def __init__(self, *args, **kwargs):
            made.append((args, kwargs))

    client = stores._client_of(TCPStore)
    with environment(**WORLD):
        client("node-7", 29500, 8, True, timeout=60)
        client("node-7", 29500, 8, True, 30)
    equal(made, [(("127.0.0.1", 1234), {"timeout": 60, "is_master": False, "wait_for_workers": False}),
                 (("127.0.0.1", 1234), {"timeout": 30, "is_master": False, "wait_for_workers": False})])
    with mock.patch.dict(os.environ):
        os.environ.pop("PLIMSOLL_WORLD", None)
        client("node-7", 29500, 8, True)
    equal(made[-1], (("node-7", 29500, 8, True), {}))


@test
def who_asked_an_absent_rank():
    env, device = load("ranks.env")

    def from_module(name):
        code = compile("\n\nlacks('broadcast', 3)", f"/some/{name}.py", "exec")
        exec(code, {"__name__": name, "lacks": env.lacks})

    from_module("program")
    equal(device.told("note"), [("absent-peer", "broadcast from rank 3 (program.py:3)")])
    from_module("torch.distributed.tensor.random")  # decides nothing
    equal(len(device.told("note")), 1)
    from_module("torch.distributed.pipelining")  # whoever called that
    assert "hook.py:" in device.told("note")[1][1]


@test
def large_objects_are_told():
    objects, device = load("ranks.objects")
    module = types.ModuleType("c10d")
    module._object_to_tensor = lambda size, cuda=True: (thing(numel=lambda: size, is_cuda=cuda), None)
    objects.tell_large(module)
    with mock.patch.dict(os.environ):
        os.environ.pop("PLIMSOLL_WORLD", None)
        module._object_to_tensor(1 << 20)
        module._object_to_tensor(2 << 20, cuda=False)
        equal(device.told("note"), [])
        module._object_to_tensor((1 << 20) + 1)
    assert device.told("note")[0][1].startswith("1048577 bytes (hook.py:")
    with environment(**WORLD, PLIMSOLL_LIVE=""):
        module._object_to_tensor(3 << 20)
    equal(len(device.told("note")), 1)


# ---- peers ----


class Numbers:
    """As much of a tensor on the host as collectives need."""

    def __init__(self, *values, kind="cpu", floats=True):
        self.values, self.device, self.floats = list(values), thing(type=kind), floats

    shape = property(lambda self: (len(self.values),))
    numel = lambda self: len(self.values)
    is_floating_point = lambda self: self.floats
    is_complex = lambda self: False
    flatten = lambda self: self
    view_as = lambda self, other: self

    def mul_(self, factor):
        self.values[:] = [value * factor for value in self.values]
        return self

    def copy_(self, other):
        self.values[:] = other.values
        return self

    def chunk(self, count):
        size = len(self.values) // count
        parts = [Numbers() for _ in range(count)]
        for number, part in enumerate(parts):
            part.values = Slice(self.values, number * size, size)
        return parts


class Slice(list):
    """A part that is written through."""

    def __init__(self, whole, first, size):
        super().__init__(whole[first:first + size])
        self.whole, self.first = whole, first

    def __setitem__(self, key, values):
        super().__setitem__(key, values)
        self.whole[self.first:self.first + len(self)] = self


def peers_of(rank=1, size=4):
    peers, device = load("ranks.peers")
    module = thing(get_world_size=lambda group: size, get_rank=lambda group: rank, ReduceOp=thing(SUM="sum", MAX="max"),
                   get_global_rank=lambda group, place: 10 + place, group=thing(WORLD="world"))
    return peers, peers._Collectives(module), device


@test
def peers_contribute_what_this_rank_does():
    peers, collectives, _ = peers_of()

    def done(name, result, **arguments):
        arguments = {"group": None, "op": "sum", **arguments}
        getattr(collectives, name)(arguments)
        equal(arguments[result].values, arguments["expected"])

    done("all_reduce", "tensor", tensor=Numbers(1, 2), expected=[4, 8])
    done("all_reduce", "tensor", tensor=Numbers(1, 2), op="max", expected=[1, 2])
    done("all_reduce", "tensor", tensor=Numbers(1, 2), op=None, expected=[4, 8])
    done("all_reduce", "tensor", tensor=Numbers(1, 2, kind="cuda"), expected=[1, 2])
    done("reduce", "tensor", tensor=Numbers(3), expected=[12])
    parts = [Numbers(i) for i in range(4)]
    done("reduce_scatter", "output", output=Numbers(0), input_list=parts, expected=[4])
    done("reduce_scatter_tensor", "output", output=Numbers(0), input=Numbers(5, 6, 7, 8), expected=[24])
    done("all_to_all_single", "output", output=Numbers(0, 0, 0, 0), input=Numbers(5, 6, 7, 8), expected=[6, 6, 6, 6])
    done("all_to_all_single", "output", output=Numbers(0, 0, 0, 0), input=Numbers(5, 6, 7, 8), input_split_sizes=[1], expected=[0, 0, 0, 0])
    gathered = [Numbers(0) for _ in range(4)]
    collectives.gather({"tensor": Numbers(9), "gather_list": gathered})
    equal([part.values for part in gathered], [[9]] * 4)
    outputs = [Numbers(0) for _ in range(4)]
    collectives.all_to_all({"input_tensor_list": parts, "output_tensor_list": outputs, "group": None})
    equal([part.values for part in outputs], [[1]] * 4)


@test
def what_only_an_absent_rank_knows():
    peers, collectives, device = peers_of()
    with environment(**WORLD, PLIMSOLL_LIVE="5-6"):
        for src, group_src, tensor, told in ((3, None, Numbers(1), "3"), (5, None, Numbers(1), None), (None, 2, Numbers(1), "12"),
                                             (3, None, Numbers(*[0] * 1024), "3"), (3, None, Numbers(*[0] * 1025), None),
                                             (3, None, Numbers(1, kind="cuda"), None), (3, None, Numbers(1, kind="cuda", floats=False), "3")):
            for name, what in (("broadcast", "broadcast"), ("recv", "receive"), ("scatter", "scatter")):
                device.calls.clear()
                getattr(collectives, name)({"src": src, "group_src": group_src, "group": None, "tensor": tensor, "scatter_list": None})
                notes = [note[1] for note in device.told("note")]
                equal([note.split(" (")[0] for note in notes], [f"{what} from rank {told}"] if told else [])
        device.calls.clear()
        collectives.recv({"src": None, "group": None, "tensor": Numbers(1)})
        assert "from rank any" in device.told("note")[0][1]
        tensor = Numbers(0)
        collectives.scatter({"src": 5, "group": None, "tensor": tensor, "scatter_list": [Numbers(7), Numbers(8)]})
        equal(tensor.values, [8])


# ---- shards ----


def sharded():
    shards, device = load("memory.shards")
    return shards, device


def parameter(numel, **attributes):
    return thing(numel=lambda: numel, element_size=lambda: 4, requires_grad=True, grad=None, **attributes)


@test
def extents_of_parameters():
    shards, _ = sharded()
    equal(shards._extent(parameter(6), {}), (6, 6))
    equal(shards._extent(parameter(24, _local_tensor=parameter(6)), {}), (6, 24))
    part = parameter(6)
    equal(shards._extent(part, {id(part): 40}), (6, 40))
    equal(shards._extent(parameter(0, ds_numel=40, ds_tensor=parameter(10)), {}), (10, 40))
    equal(shards._extent(parameter(0, ds_numel=40, ds_tensor=parameter(10), ds_persist=True), {}), (40, 40))
    state = thing(get_tensor_model_parallel_world_size=lambda: 4, get_expert_model_parallel_world_size=lambda: 8)
    with mock.patch.dict(sys.modules, {"megatron.core.parallel_state": state}):
        equal(shards._extent(parameter(6), {}), (6, 6))
        equal(shards._extent(parameter(6, tensor_model_parallel=True), {}), (6, 24))
        equal(shards._extent(parameter(6, allreduce=False), {}), (6, 48))
        equal(shards._extent(parameter(6, allreduce=False, tensor_model_parallel=True), {}), (6, 192))
        state.get_expert_tensor_parallel_world_size = lambda: 2
        equal(shards._extent(parameter(6, allreduce=False, tensor_model_parallel=True), {}), (6, 96))


@test
def sums_of_shards():
    shards, device = sharded()
    total = shards._Sum()
    total.tell(0)
    equal(device.told("shard"), [])  # there is nothing
    total.add(4, 16)
    total.add(8, 2)  # the whole is no less than a part
    total.tell(1)
    equal(device.told("shard"), [(1, 12, 24)])
    told = []
    with mock.patch.object(shards.attribution, "safely", told.append):
        for number in (1, 2, 3):
            shards.step_ended(number)
    equal(len(told), 2)


@test
def state_of_optimizers():
    shards, device = sharded()
    own, empty, copy = parameter(6, _local_tensor=None), parameter(0), parameter(3)
    model = thing(extent=lambda p: {id(own): (6, 24), id(empty): (0, 24), id(copy): (3, 3)}[id(p)],
                  parameters={id(own): own, id(empty): empty}, kept={id(own): own, id(empty): empty})
    states = shards._States(model)
    states.add(thing(param_groups=[{"params": [own, empty]}], state={own: {"exp_avg": parameter(6), "step": 3}}))
    equal((states.total.local, states.total.whole, states.covered, states.missing), (24, 96, 24, 24))
    states.add_parameter(own, {"exp_avg": parameter(6)}, False)  # once
    equal(states.total.local, 24)
    states.tell()
    equal(device.told("shard"), [(device.OPTIMIZER_STATE, 24, 192)])
    states = shards._States(model)
    states.add_parameter(copy, {"exp_avg": parameter(3)}, False)  # a copy of a part of all
    states.tell()
    equal(device.told("shard")[1:], [(device.OPTIMIZER_STATE, 12, 12 * 48 // 3)])


# ---- autotuners ----


@test
def the_first_candidate_that_works_is_taken():
    triton, device = load("triton")

    class Autotuner:
        def prune_configs(self, configs):
            return configs

        def _bench(self, config):
            tried.append(config)
            return [float("inf")] * 3 if config == "too large" else [0.5] * 3

    tried = []
    triton.hook_triton(thing(Autotuner=Autotuner))
    tuner = Autotuner()
    for _ in range(2):
        times = [tuner._bench(config)[0] for config in tuner.prune_configs(["too large", "first", "second"])]
        equal(times, [float("inf"), 0.5, float("inf")])
    equal(tried, ["too large", "first"] * 2)
    equal(device.told("note"), [("autotune-first", "triton")] * 4)


@test
def choices_of_inductor():
    triton, device = load("triton")
    library = type("ExternKernelCaller", (), {})

    class Cache:
        def __call__(self, name, choices):
            return choices

    module = thing(AlgorithmSelectorCache=Cache, ExternKernelCaller=library)
    triton.hook_choices(module)
    kernel, own = library(), object()
    equal(Cache()("mm", [own, kernel, object()]), [kernel])
    equal(Cache()("mm", [own, object()]), [own])
    equal(len(device.told("note")), 2)
    equal(Cache()("mm", [own]), [own])
    equal(len(device.told("note")), 2)


@test
def configurations_of_inductor():
    triton, device = load("triton")

    class OutOfResources(Exception):
        def __init__(self, *_):
            super().__init__("passed over")

    class CachingAutotuner:
        def __init__(self, *configs):
            self.configs = configs

        def _precompile_config(self, config):
            if config == "bad":
                raise ValueError("cannot be compiled")
            return config

        def coordinate_descent_tuning(self, launcher):
            return None

    module = thing(CachingAutotuner=CachingAutotuner, OutOfResources=OutOfResources)
    triton.hook_configurations(module)
    tuner = CachingAutotuner("bad", "first", "second")
    raised(ValueError, tuner._precompile_config, "bad")
    equal(tuner._precompile_config("first"), "first")
    raised(OutOfResources, tuner._precompile_config, "second")
    equal(tuner._precompile_config("derived"), "derived")
    alone = CachingAutotuner("first")
    equal([alone._precompile_config("first") for _ in range(2)], ["first", "first"])
    equal(len(device.told("note")), 1)
    equal(tuner.coordinate_descent_tuning("launcher"), "launcher")


@test
def timing_is_short():
    triton, _ = load("triton")
    given = []
    module = thing(do_bench=lambda fn, warmup=25, rep=100, quantiles=None: given.append((warmup, rep, quantiles)),
                   do_bench_cudagraph=lambda fn, rep=20: given.append(rep))
    triton.hook_timing(module)
    module.do_bench(None)
    module.do_bench(None, 50, rep=500, quantiles=[0.5])
    module.do_bench_cudagraph(None, 10)
    equal(given, [(0, 0, None), (0, 0, [0.5]), 0])


# ---- arguments, phases, groups of FSDP ----


@test
def arguments_of_triton_are_told():
    triton, device = load("triton")

    class Tensor:
        def __init__(self, address):
            self._cdata = address

    class JITFunction:
        def run(self, *args, **kwargs):
            if kwargs.get("fails"):
                raise ValueError("in the launch")
            return "ran"

    with mock.patch.dict(sys.modules, {"torch": thing(Tensor=Tensor)}):
        triton.tell_arguments(thing(JITFunction=JITFunction))
    equal(JITFunction().run(Tensor(1), 5, thing(base=Tensor(2)), out=Tensor(3), n=4), "ran")
    raised(ValueError, JITFunction().run, Tensor(4), fails=True)
    equal(device.told("operands"), [(1, 2, 3), (), (4,), ()])


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


@test
def whose_memory_fully_shard_is():
    fsdp, device = load("memory.fsdp")

    class FSDPParamGroup:
        _module_fqn, fsdp_params = "layers.0", ()

        def unshard(self):
            assert device.calls[-1][0] == "enter"

        def wait_for_unshard(self):
            raise ValueError("in the gather")

    fsdp.hook_groups(thing(FSDPParamGroup=FSDPParamGroup))
    group = FSDPParamGroup()
    group.unshard()
    raised(ValueError, group.wait_for_unshard)
    equal(device.told("enter"), [(1, device.KEEP_PHASE)] * 2)
    equal(len(device.told("leave_frame")), 2)
    equal(device.texts, ["layers.0"])
    group._module_fqn = None
    group.unshard()
    equal(device.texts[-1], "(FSDP root)")


# ---- imports, releases, tracebacks ----


@test
def functions_are_called_once_after_an_import():
    after_import, _ = load("imports.after_import")
    called, failed = [], []

    def fails(module):
        raise ValueError("no")

    sys.modules["plimsoll_test_there"] = types.ModuleType("plimsoll_test_there")

    class Files:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "plimsoll_test_later":
                return importlib.machinery.ModuleSpec(name, thing(create_module=lambda spec: None, exec_module=lambda module: called.append("import")))

    wanted = {"plimsoll_test_there": [lambda module: called.append("there")],
              "plimsoll_test_later": [fails, lambda module: called.append(module.__name__)]}
    watcher = after_import.Watcher(wanted, lambda name, error: failed.append((name, str(error))), lambda name: called.append("begins"))
    with mock.patch.object(sys, "meta_path", [*sys.meta_path, Files]):
        watcher.install()
        equal(called, ["there"])
        importlib.import_module("plimsoll_test_later")
        equal(called, ["there", "begins", "import", "plimsoll_test_later"])
        del sys.modules["plimsoll_test_later"]
        importlib.import_module("plimsoll_test_later")
    equal(called[4:], ["import"])
    equal(failed, [("plimsoll_test_later", "no")])
    equal(wanted, {})
    for name in ("plimsoll_test_there", "plimsoll_test_later"):
        del sys.modules[name]


@test
def what_a_release_should_have():
    releases, _ = load("imports.releases")
    since = releases.Row("m", "name", "", (2, 4), (2, 6))
    equal([release for release in ((2, 3), (2, 4), (2, 5), (2, 6), (2, 7)) if releases._expected(since, release)], [(2, 4), (2, 5), (2, 6)])
    assert releases._expected(since, None) and releases._expected(releases.Row("m", "name", ""), (3, 0))
    module = types.ModuleType("m")
    module.Class = thing(method=lambda self, wanted: None)
    assert releases._has(module, "Class.method(wanted)") and not releases._has(module, "Class.method(other)")
    assert releases._has(module, "Class.method") and not releases._has(module, "Class.other") and not releases._has(module, "Other.method")
    for text, release in (("2.15.0+cu132", (2, 15)), ("2.6.0a0+git", (2, 6)), ("", None), ("main", None)):
        with mock.patch.dict(sys.modules, {"torch.version": thing(__version__=text)}):
            equal(releases.running(), release)
    with mock.patch.object(releases, "ROWS", (since, releases.Row("m", "gone", ""), releases.Row("other", "gone", ""))), \
            mock.patch.dict(sys.modules, {"torch.version": thing(__version__="2.4.0")}):
        equal(raised(AttributeError, releases.check, module), "no name, gone")


@test
def tracebacks_are_the_users():
    tracebacks, _ = load("job.tracebacks")
    ours = compile("def through(function):\n    try:\n        function()\n    except ValueError as error:\n        raise KeyError('second')",
                   tracebacks._OURS[0] + "x.py", "exec")
    names = {}
    exec(ours, names)

    def fails():
        raise ValueError("first")

    try:
        names["through"](fails)
    except KeyError as error:
        tracebacks.clean(error)
        for one in (error, error.__context__):
            equal([frame.name for frame in traceback.extract_tb(one.__traceback__)],
                  ["tracebacks_are_the_users"] if one is error else ["fails"])


@test
def the_compiler_comes_when_it_is_used():
    defer_dynamo, _ = load("imports.defer_dynamo")
    loads = []

    def module():
        made = types.ModuleType("torch._dynamo")
        made.__spec__ = importlib.machinery.ModuleSpec("torch._dynamo", None)

        def execute(module):
            loads.append(module)
            if fails:
                raise ImportError("broken")
            module.config = "config"

        defer_dynamo._Loader(thing(exec_module=execute)).exec_module(made)
        return made

    fails = False
    dynamo = module()
    assert not hasattr(dynamo, "__path__") and dynamo.graph_break() is None and not loads
    equal(dynamo.config, "config")
    equal((loads, type(dynamo)), ([dynamo], types.ModuleType))
    assert not hasattr(dynamo, "other") and len(loads) == 1
    fails = True
    dynamo = module()
    for times in (2, 3):  # whoever fails to import it, fails again
        equal(raised(ImportError, getattr, dynamo, "_private"), "broken")
        equal(len(loads), times)
    assert dynamo.graph_break() is None


# ---- the device library ----


@test
def constants_are_the_devices():
    """The hook names what src/device/shared.def has, and nothing else; every row is somebody's."""
    named = set()
    for file in HOOK.rglob("*.py"):
        text = file.read_text()
        named.update(re.findall(r"\bdevice\.([A-Z][A-Z_]+)\b", text))
        for names in re.findall(r"from \.\.device import \(?([\w,\s]+)", text):
            named.update(re.findall(r"\b[A-Z][A-Z_]+\b", names))
    text = (HOOK / "device.py").read_text()
    own = set(re.findall(r"(?m)^([A-Z][A-Z_]+) =", text))
    equal(named - own - set(SHARED), set())
    equal({name for name in SHARED if name not in named and not re.search(rf"\b{name}\b", text)}, set())


@test
def notes_are_told_once():
    load()
    library = mock.MagicMock()
    functions = mock.MagicMock(return_value=[lambda *_: None] * 8)
    library.plm_hook_functions = functions
    library.plm_hook_constants.return_value = (("NOT_A_MEMBER", 0xFFFFFFFF), ("SAMPLE_DIMENSIONS", 6), ("torch.bool", 11))
    with mock.patch.object(ctypes, "CDLL", lambda _: library), mock.patch.object(ctypes, "PyDLL", lambda _: library):
        del sys.modules["plimsoll_hook.device"]
        device = importlib.import_module("plimsoll_hook.device")
    equal((device.SCALAR_TYPES, ctypes.sizeof(device.Sample)), ({"bool": 11}, 64))
    for kind, value in (("a", ""), ("a", ""), ("a", "x"), ("b", "x"), ("a", "x")):
        device.note(kind, value)
    equal([call.args for call in library.plm_hook_note.call_args_list], [(b"a", b""), (b"a", b"x"), (b"b", b"x")])
    device.record("/some/record.plm")  # a fork: its record has none of them
    device.note("a", "x")
    equal(library.plm_hook_note.call_count, 4)
    library.plm_hook_record.assert_called_once_with(b"/some/record.plm")
    device.group("g", "0-1", [0, 1], None)
    equal(library.plm_hook_group.call_args.args[4].value, 0xFFFFFFFF)
    device.group("g", "0-1", [0, 1], 1)
    equal([*library.plm_hook_group.call_args.args[2]], [0, 1])
    equal(library.plm_hook_group.call_args.args[4].value, 1)


def main():
    sys.dont_write_bytecode = True
    failed = 0
    for function in TESTS:
        try:
            function()
        except BaseException:  # also an exit that a test did not expect
            failed += 1
            print(f"{function.__name__}:\n{traceback.format_exc()}", file=sys.stderr)
    print(f"{len(TESTS) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
