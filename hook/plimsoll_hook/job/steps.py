"""Counts optimizer steps and ends the program after enough of them. A program that makes no optimizer of torch.optim
(its update is written by hand, or a library of its own does it) makes a step with each backward pass; so does one that makes its optimizer
later, until then (src/device/hook_api.c decides how many are enough)."""

import sys

from .. import device
from ..imports import releases
from ..imports.after_import import replace
from ..memory import shards
from . import ending


class Steps:
    """Counts the steps of each optimizer. A step of the job is over when every optimizer that takes
    part has made it; one that steps rarely is not waited for."""

    def __init__(self):
        self.counts = {}
        self.done = 0
        self.stopping = False
        self.due = False  # to be stopped when the backward pass that runs is over
        self.optimizers = False  # whether one was made
        self.before = 0  # steps that were backward passes
        self.running = 0  # backward passes: one may start others, also in other threads

    def after(self, optimizer, *_):
        if self.due:
            return
        if self.stopping:  # the SystemExit was swallowed by a bare `except:`
            self.leave()
        key = id(optimizer)
        number = self.counts.get(key, 0) + 1
        self.counts[key] = number
        behind = min(self.counts.values())
        self.end(self.before + max(behind, max(self.counts.values()) - 1), len(self.counts))

    def after_backward(self):
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
            _steps.after_backward()
        return result
