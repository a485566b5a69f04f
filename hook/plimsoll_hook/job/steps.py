"""Counts optimizer steps and ends the program after enough of them. A program that makes no optimizer of torch.optim
(its update is written by hand, or a library of its own does it) makes a step with each backward pass; so does one that makes its optimizer
later, until then (src/device/hook_api.c decides how many are enough)."""

import sys
import weakref

from .. import device
from ..imports import releases
from ..imports.after_import import replace
from ..memory import shards
from . import ending


def _parameters(optimizer):
    return (parameter for group in getattr(optimizer, "param_groups", ()) for parameter in group["params"])


class Counted:
    """An optimizer that made steps. Nothing is kept alive; the address of one that is gone may be another's."""

    def __init__(self, optimizer, number):
        self.optimizer = weakref.ref(optimizer)
        first = next(_parameters(optimizer), None)
        self.parameter = weakref.ref(first) if first is not None else lambda: None
        self.number = number  # of the step of the job that its last step belongs to
        self.passes = 0  # backward passes there had been then

    def is_continued_by(self, optimizer):
        parameter = self.parameter()
        return parameter is not None and any(other is parameter for other in _parameters(optimizer))


class Steps:
    """Counts the steps of each optimizer. A step of the job is over when every optimizer that takes
    part has made it; one that steps rarely is not waited for."""

    def __init__(self):
        self.counted = []
        self.done = 0
        self.stopping = False
        self.due = False  # to be stopped when the backward pass that runs is over
        self.optimizers = False  # whether one was made
        self.before = 0  # steps that were backward passes
        self.running = 0  # backward passes: one may start others, also in other threads
        self.passes = 0  # that ended
        self.within = False  # a step: the optimizer asks for the loss itself

    def begin(self, *_):
        self.within = True

    def after(self, optimizer, *_):
        self.within = False
        if self.due:
            return
        if self.stopping:  # the SystemExit was swallowed by a bare `except:`
            self.leave()
        one = next((one for one in self.counted if one.optimizer() is optimizer), None)
        if one is None:
            one = self.enter(optimizer)
        else:
            one.number += 1
        one.passes = self.passes
        numbers = [other.number for other in self.counted if other.optimizer() is not None]
        self.end(self.before + max(min(numbers), max(numbers) - 1), len(numbers))

    def enter(self, optimizer):
        """The first step of an optimizer. One that goes on with the parameters of another, after a pass of its own, takes
        its place: programs make a new one for each epoch, image or step. Else it takes part in the step that was counted
        last, if there are others to make that with."""
        old = [one for one in self.counted if one.passes != self.passes and one.is_continued_by(optimizer)]
        others = [one for one in self.counted if one not in old and one.optimizer() is not None]
        if old:
            number = max(one.number for one in old) + 1
        else:
            number = max(self.done - self.before, 1) if others else self.done - self.before + 1
        one = Counted(optimizer, number)
        self.counted = [*others, one]
        return one

    def after_backward(self, accumulates=True):
        self.passes += 1
        if self.within and accumulates:  # torch.autograd.grad() is a part of the loss
            device.evaluated()
        if self.stopping:
            self.leave()
        if self.due:
            self.due = False
            self.stop()
        if not self.optimizers:
            device.note("backward-steps")
            self.before = self.done + 1
            self.end(self.before, 0)

    def end(self, done, optimizers):
        if done > self.done:
            self.done = done
            shards.step_ended(done)
            if device.step(done, optimizers):
                self.stop()

    def stop(self):
        if self.running and not ending.in_main_thread():  # a step within the pass: its thread cannot end the program as an exit does
            self.due = True
            return
        self.stopping = True
        ending.stop(self.leave)

    @staticmethod
    def leave():
        ending.flush()
        device.leave()


_steps = Steps()


def hook_optimizer(module):
    """Called when torch.optim.optimizer has been imported."""
    module.register_optimizer_step_pre_hook(_steps.begin)
    module.register_optimizer_step_post_hook(_steps.after)
    original = module.Optimizer.__init__

    @replace(module.Optimizer, "__init__")
    def make(self, *args, **kwargs):
        _steps.optimizers = True
        original(self, *args, **kwargs)


def tracing():
    """Whether the compiler is running a program on tensors without memory; it runs backward passes too."""
    detect = getattr(sys.modules.get("torch._guards"), "detect_fake_mode", None)
    return detect is not None and detect() is not None


def hook_backward(module):
    """Called when torch.autograd.graph has been imported. torch.autograd takes the function from there."""
    owner, name = releases.backward_of(module)
    original = getattr(owner, name)

    @replace(owner, name)
    def run(*args, **kwargs):
        _steps.running += 1
        try:
            result = original(*args, **kwargs)
        finally:
            _steps.running -= 1
        if not _steps.running and not tracing():
            _steps.after_backward(kwargs.get("accumulate_grad", True))
        return result
