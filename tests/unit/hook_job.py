"""The hook: steps, the end of a program, and its tracebacks."""
import io
import sys
import threading
import traceback
import types
from unittest import mock

from hook_common import equal, load, raised, test, thing


# ---- steps ----


def counted():
    steps, ending, device = load("job.steps", "job.ending")
    steps.shards = thing(step_ended=lambda number: None)
    return steps, ending, device


@test
def steps_of_several_optimizers():
    steps, _, device = counted()
    counts, one, two, rare = steps.Steps(), thing(), thing(), thing()
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


class Optimizer:
    def __init__(self, *parameters):
        self.param_groups = [{"params": list(parameters)}]


@test
def an_optimizer_in_place_of_another():
    """A new one for each step, whether the one before is gone, its address taken, or not."""
    for kept in (False, True):
        steps, _, device = counted()
        counts, parameter, all_of_them = steps.Steps(), thing(), []
        counts.optimizers = True
        for _ in range(5):
            optimizer = Optimizer(parameter)
            counts.after_backward()
            counts.after(optimizer)
            if kept:
                all_of_them.append(optimizer)
            else:
                del optimizer
        equal(device.told("step"), [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1)])


@test
def models_one_after_the_other():
    """An optimizer that is gone is not waited for, and the count goes on."""
    steps, _, device = counted()
    counts = steps.Steps()
    counts.optimizers = True
    for _ in range(2):
        parameter = thing()
        optimizer = Optimizer(parameter)
        for _ in range(2):
            counts.after_backward()
            counts.after(optimizer)
        del optimizer
    equal(device.told("step"), [(1, 1), (2, 1), (3, 1), (4, 1)])


@test
def two_optimizers_of_the_same_parameters():
    """One within the other, as SAM has it: both step after one backward pass, and are one step of the job."""
    steps, _, device = counted()
    counts, parameter = steps.Steps(), thing()
    inner, outer = Optimizer(parameter), Optimizer(parameter)
    counts.optimizers = True
    for _ in range(3):
        counts.after_backward()
        counts.after(inner)
        counts.after(outer)
    equal(device.told("step"), [(1, 1), (2, 2), (3, 2)])


@test
def backward_passes_are_steps_until_there_is_an_optimizer():
    steps, ending, device = counted()
    counts = steps.Steps()
    for _ in range(3):
        counts.after_backward()
    equal(device.told("step"), [(1, 0), (2, 0), (3, 0)])
    counts.optimizers = True
    counts.after_backward()
    optimizer = thing()
    counts.after(optimizer)
    equal(device.told("step")[3:], [(4, 1)])
    counts.after_backward()
    equal(len(device.told("step")), 4)


@test
def a_stop_within_a_pass_waits_for_its_end():
    steps, ending, device = counted()
    counts, optimizer = steps.Steps(), thing()
    counts.optimizers, counts.running = True, 1
    device.answers["step"] = True
    stops = []
    with mock.patch.object(ending, "stop", stops.append), mock.patch.object(ending, "in_main_thread", lambda: False):
        counts.after(optimizer)
        assert counts.due and not stops
        counts.after(optimizer)  # nothing more counts
        equal([one.number for one in counts.counted], [1])
        counts.running = 0
        counts.after_backward()
        assert len(stops) == 1 and counts.stopping and not counts.due

    def leave():
        raise SystemExit("left")

    with mock.patch.object(counts, "leave", leave):  # the exit was swallowed
        equal(raised(SystemExit, counts.after, optimizer), "left")
        equal(raised(SystemExit, counts.after_backward), "left")


@test
def passes_within_a_step_of_an_optimizer():
    """L-BFGS asks for the loss again: the device is told. Others make their passes before the step."""
    steps, _, device = counted()
    counts, optimizer = steps.Steps(), thing()
    counts.optimizers = True
    counts.after_backward()
    equal(device.told("evaluated"), [])
    counts.begin(optimizer)
    for _ in range(3):
        counts.after_backward(False)  # of torch.autograd.grad()
        counts.after_backward()
    counts.after(optimizer)
    counts.after_backward()
    equal(device.told("evaluated"), [()] * 3)


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
def the_end_waits_for_autograd():
    """Until its threads were at rest three times in a row, and no longer than a second."""
    ending, _ = load("job.ending")
    for busy, looks in (([], 3), ([True], 4), ([False, False, True], 6)):
        answers = iter([*busy, *[False] * 9])
        with mock.patch.object(ending, "_busy", lambda: next(answers)), mock.patch.object(ending.time, "sleep"):
            ending._wait()
        equal(9 + len(busy) - len(list(answers)), looks)
    clock = iter(range(100))
    with mock.patch.object(ending, "_busy", lambda: True), \
            mock.patch.object(ending, "time", thing(sleep=lambda seconds: None, monotonic=lambda: next(clock) / 10)):
        ending._wait()
    equal(next(clock), 11)  # 0.0, then 0.1 to 1.0


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


# ---- tracebacks ----


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
def tracebacks_of_parts_and_of_their_causes():
    """Exceptions in groups, each with what it came from."""
    tracebacks, _ = load("job.tracebacks")
    names = {}
    exec(compile("def through(error, cause):\n    raise error from cause", tracebacks._OURS[0] + "x.py", "exec"), names)

    def raised_through(error, cause=None):
        try:
            names["through"](error, cause)
        except Exception as caught:
            return caught

    errors = [raised_through(ValueError(name)) for name in ("cause of one", "cause of other")]
    parts = [raised_through(ValueError("part"), cause) for cause in errors]
    group = raised_through(Exception("group"), raised_through(ValueError("cause of all")))
    group.exceptions = tuple(parts)
    every = [group, group.__cause__, *parts, *errors]
    assert all(len(traceback.extract_tb(error.__traceback__)) == 2 for error in every)
    tracebacks.clean(group)
    equal([[frame.name for frame in traceback.extract_tb(error.__traceback__)] for error in every], [["raised_through"]] * 6)
