"""What is trained: model, optimizer, batch, steps, how long these take, and where in the loop the gradients are dropped.

The function that counts calls of modules goes away again with the first step of an optimizer; what is left are two hooks that PyTorch offers.

A step's time is that from the end of one optimizer step to the end of the next on the host's clock. Nothing is synchronized for it. A host that
is faster than the card runs ahead until the queue of launches is full, and from then on has the card's pace; that is what the warm-up is for.
"""

import collections
import os
import statistics
import time

WARM_UP = 50  # steps at most, and never more than half of them
KEPT = 1 << 16  # times of steps: the last ones


class _Training:
    def __init__(self):
        self.model = self.optimizer = ""
        self.made = ""  # an optimizer that may never step, because memory runs out before
        self.batch = 0
        self.depth = 0
        self.stop_watching = lambda: None
        self.counts = {}
        self.steps = 0
        self.times = collections.deque(maxlen=KEPT)  # ns of the monotonic clock, at the end of each step
        # where zero_grad was seen
        self.forward = False  # a forward pass was made, and no step yet
        self.at_start = self.between = self.after_step = False
        self.last_was_zero_grad = False


_now = _Training()


def _first_tensor(torch, values, depth=0):
    """The first tensor among arguments, in lists and dictionaries too."""
    for value in values:
        if isinstance(value, torch.Tensor):
            return value
        if depth < 3:
            inner = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
            found = _first_tensor(torch, inner, depth + 1)
            if found is not None:
                return found
    return None


def _outermost(torch, module, arguments, keywords):
    """A training's batch is what the first outermost module that is trained gets."""
    if _now.steps or not module.training or not torch.is_grad_enabled():
        return
    _now.forward = True
    if _now.batch:
        return
    tensor = _first_tensor(torch, [*arguments, *keywords.values()])
    if tensor is not None and tensor.dim() and next(module.parameters(), None) is not None:
        _now.batch = tensor.shape[0]
        _now.model = type(module).__name__


def hook_modules(module):
    """Called when torch.nn.modules.module has been imported."""
    import torch

    kind = module.Module
    original = kind.__call__

    def call(self, *arguments, **keywords):
        if not _now.depth:
            try:
                _outermost(torch, self, arguments, keywords)
            except Exception:
                pass  # a batch that is not known
        _now.depth += 1
        try:
            return original(self, *arguments, **keywords)
        finally:
            _now.depth -= 1

    def stop():
        if kind.__call__ is call:  # nobody has wrapped it since
            kind.__call__ = original

    _now.stop_watching = stop
    kind.__call__ = call
    kind.zero_grad = _noted(kind.zero_grad)


def _noted(original):
    """Models are cleared as well as optimizers."""

    def zero_grad(self, *arguments, **keywords):
        if _now.forward:
            _now.between = True
        elif not _now.steps:
            _now.at_start = True
        else:
            _now.after_step = True
        _now.last_was_zero_grad = True
        return original(self, *arguments, **keywords)

    return zero_grad


def _after_step(optimizer, *_):
    _now.optimizer = _now.optimizer or type(optimizer).__name__
    number = _now.counts[id(optimizer)] = _now.counts.get(id(optimizer), 0) + 1
    if number > _now.steps:  # of several optimizers the first one counts
        _now.steps = number
        _now.times.append(time.monotonic_ns())
    _now.forward = _now.last_was_zero_grad = False
    if number == 1:
        _now.stop_watching()


def hook_optimizer(module):
    """Called when torch.optim.optimizer has been imported."""
    module.register_optimizer_step_post_hook(_after_step)
    kind = module.Optimizer
    kind.zero_grad = _noted(kind.zero_grad)
    original = kind.__init__

    def made(self, *arguments, **keywords):
        original(self, *arguments, **keywords)
        _now.made = _now.made or type(self).__name__

    kind.__init__ = made


def _zero_grad_mode():
    """0: top of the loop, 1: between forward and backward, 2: after the step. A loop that clears once before it begins and then after every
    step ends with a zero_grad; one that clears at its top ends with a step."""
    if _now.between:
        return 1
    if _now.steps and _now.last_was_zero_grad:
        return 2
    if _now.at_start:
        return 0
    return 2 if _now.after_step else ""


def _step_time(times):
    """Median and mean of the steps after the warm-up, how many these are, and when they began and ended. Nothing for less than three steps."""
    times = list(times)
    timed = times[min(WARM_UP, (len(times) - 1) // 2):]
    if len(times) < 3:
        return
    steps = [after - before for before, after in zip(timed, timed[1:])]
    yield "step_ns", round(statistics.median(steps))
    yield "step_mean_ns", round(statistics.mean(steps))
    yield "steps_timed", len(steps)
    yield "steps_begin", timed[0]
    yield "steps_end", timed[-1]


def facts():
    yield "virtual", int("PLIMSOLL_SHIMS" in os.environ)
    yield from _step_time(_now.times)
    yield "model", _now.model
    yield "optimizer", _now.optimizer or _now.made
    yield "batch", _now.batch or ""
    yield "steps", _now.steps
    yield "zero_grad", _zero_grad_mode()
