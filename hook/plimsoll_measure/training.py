"""What is trained: model, optimizer, batch, steps, and where in the loop the gradients are dropped.

The function that counts calls of modules goes away again with the first step of an optimizer; what is left are two hooks that PyTorch offers.
"""


class _Training:
    def __init__(self):
        self.model = self.optimizer = ""
        self.made = ""  # an optimizer that may never step, because memory runs out before
        self.batch = 0
        self.depth = 0
        self.stop_watching = lambda: None
        self.counts = {}
        self.steps = 0
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
    _now.steps = max(_now.steps, number)
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


def facts():
    yield "model", _now.model
    yield "optimizer", _now.optimizer or _now.made
    yield "batch", _now.batch or ""
    yield "steps", _now.steps
    yield "zero_grad", _zero_grad_mode()
