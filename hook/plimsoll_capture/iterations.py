"""Finds the iterations of a training loop in a program that knows nothing of it.

An iteration is one step of the optimizer, or of all that take part. It ends when the body of the training loop begins again (loops.py); where
there is no such loop, when the program does something that begins an iteration (a batch of a DataLoader, zero_grad, a forward pass) at an earlier
place than the step.
"""

import atexit
import sys

from . import loops


class Iterations:
    """`listener` has optimizer_made(), called once; begin(number), called before anything of that iteration happens; enough(number): no
    more are wanted; zero_grad(), before gradients are dropped; stepped(optimizer), after a step that ends an iteration; and ended(steps), when
    the program ends."""

    def __init__(self, torch, listener):
        self.torch = torch
        self.listener = listener
        self.ready = False  # no optimizer yet
        self.number = 0
        self.counts = {}  # steps of each optimizer
        self.done = 0     # steps of the job
        self.event = None # where something of this iteration last happened
        self.step = None  # where its step was, once it was
        self.lines = loops.Lines(self._begin, self._left)
        self.over = False
        self.hook = None

    def optimizer_made(self):
        if not self.ready:
            self.ready = True
            self.look()
            self.listener.optimizer_made()

    def look(self):
        """Watches forward passes. Only while it is not known where they are: torch's hooks of all modules send every call a slower way."""
        if self.hook is None:
            self.hook = self.torch.nn.modules.module.register_module_forward_pre_hook(self._forward)

    def look_away(self):
        if self.hook is not None:
            self.hook.remove()
            self.hook = None

    def _forward(self, _module, _arguments):
        self.happened(sys._getframe(1))

    def happened(self, frame):
        """Something that can begin an iteration is about to happen, called from this frame."""
        if self.over or not self.ready or self.lines.frame is not None:
            return
        place = loops.position(frame)
        if self.number == 0 or (self.step is not None and loops.came_round(self.step, place)):
            self._begin()
        if self.step is None:
            self.event = place

    def _begin(self):
        self.lines.end()
        self.step = None
        self.number += 1
        self.listener.begin(self.number)

    def _left(self):
        """The training loop has come to its head, or was left."""
        if self.listener.enough(self.number):
            self._begin()
        elif self.lines.frame is None:
            self.look()

    def after_step(self, optimizer, *_):
        """Called when an optimizer has made a step. As in plimsoll_hook/job/steps.py: one that steps rarely is not waited for."""
        if self.over or self.number == 0:
            return
        self.counts[id(optimizer)] = self.counts.get(id(optimizer), 0) + 1
        done = max(min(self.counts.values()), max(self.counts.values()) - 1)
        if done > self.done:
            self.done = done
            self.listener.stepped(optimizer)
        elif self.step is None:
            return  # another optimizer has yet to make its step
        self.lines.end()
        frame = sys._getframe(1)
        self.step = loops.position(frame)
        found = loops.find(self.event, self.step, frame) if self.event else None
        if found and self.lines.watch(*found):
            self.look_away()
        else:
            self.look()

    def stop(self):
        self.over = True
        self.lines.end()
        self.look_away()

    def end(self):
        if not self.over:
            self.stop()
            self.listener.ended(self.done)


def _announce(original, iterations, act=None):
    def announced(*args, **kwargs):
        iterations.happened(sys._getframe(1))
        if act is not None:
            act()
        return original(*args, **kwargs)

    announced.__name__ = original.__name__
    announced.__doc__ = original.__doc__
    announced.__wrapped__ = original
    return announced


def install(torch, listener):
    iterations = Iterations(torch, listener)
    listener.iterations = iterations
    optimizer = torch.optim.Optimizer
    made = optimizer.__init__

    def make(self, *args, **kwargs):
        made(self, *args, **kwargs)
        iterations.optimizer_made()

    optimizer.__init__ = make
    optimizer.zero_grad = _announce(optimizer.zero_grad, iterations, listener.zero_grad)
    torch.nn.Module.zero_grad = _announce(torch.nn.Module.zero_grad, iterations, listener.zero_grad)
    from torch.optim.optimizer import register_optimizer_step_post_hook
    from torch.utils.data import dataloader

    dataloader._BaseDataLoaderIter.__next__ = _announce(dataloader._BaseDataLoaderIter.__next__, iterations)
    register_optimizer_step_post_hook(iterations.after_step)
    atexit.register(iterations.end)
