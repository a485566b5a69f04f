"""Tells the device where the program is (module, phase) and what memory is for (parameters, gradients, optimizer
state, buffers, inputs). The operators come from PyTorch itself, see src/device/observe.c.

Nothing is left behind in the user's objects, and no tensor is kept alive."""

import collections.abc
import functools
import gc
import itertools
import sys

from .. import device
from ..device import depth, enter, leave_frame, life, outermost_pass, phase, tag
from ..imports import releases
from . import names

_torch = None


# ---- tags ----

_tagging = True


def stop_tagging():
    """From now on it is not told what memory is for: some milliseconds of a short job, for whoever only looks at how much there is."""
    global _tagging
    _tagging = False


def _local(tensor):
    """The memory behind a tensor: what this rank holds of a DTensor."""
    return getattr(tensor, "_local_tensor", tensor)


def tag_tensor(tensor, category, owner):
    """Several may share a storage, such as the gradients in a bucket: then each is told by its own place in it."""
    try:
        tensor = _local(tensor)
        if tensor.is_cuda:
            storage = tensor.untyped_storage()
            tag(tensor.data_ptr() or storage.data_ptr(), category, owner, storage.nbytes(), tensor.get_device())
    except (RuntimeError, AttributeError, NotImplementedError):
        pass  # a tensor without storage: fake, sparse, quantized in some way of its own


_tagged = {}  # the life of a parameter's or buffer's memory (device.life), by the id of the object


def _tag_model(top):
    """Parameters and buffers. Again whenever one has other memory."""
    if not _tagging:
        return
    for module in names.parts(top):
        for parameter in module._parameters.values():
            if parameter is not None:
                _tag_once(parameter, device.PARAMETERS, names.parameters.get(id(parameter), 0))
        for name, buffer in module._buffers.items():
            if buffer is not None:
                _tag_once(buffer, device.BUFFERS, names.buffers.get((id(module), name), 0))


def _tag_once(tensor, category, owner):
    """Once for each block that the tensor lives in. The address does not tell: a model that was away may be given the same."""
    try:
        local = _local(tensor)
        number = life(local.untyped_storage().data_ptr()) if local.is_cuda else 0
    except (RuntimeError, AttributeError, NotImplementedError):
        return
    if number and _tagged.get(id(tensor)) != number:
        if id(tensor) in _tagged:
            _tagged[id(tensor)] = number
        else:
            names.remember(_tagged, tensor, number)  # another tensor may get its id
        tag_tensor(tensor, category, owner)


def _tag_gradients():
    if not _tagging:
        return
    dead = 0
    for reference, text in names.tensors:
        parameter = reference()
        if parameter is None:
            dead += 1
            continue
        gradient = parameter.grad
        if gradient is not None:
            tag_tensor(gradient, device.GRADIENTS, text)
    if dead > len(names.tensors) // 2:
        names.tensors[:] = [entry for entry in names.tensors if entry[0]() is not None]


def _tag_inputs(values, left=32):
    if not _tagging:
        return
    for value in values:
        if isinstance(value, _torch.Tensor):
            if value.is_cuda and not value.requires_grad:
                tag_tensor(value, device.INPUTS, 0)
        elif isinstance(value, dict):
            _tag_inputs(list(value.values())[:left], left)
        elif isinstance(value, (list, tuple)) and left > 1:
            _tag_inputs(value[:left], left // 2)


def _shapes(values, left=32, deep=2):
    """Of the tensors among the arguments of a module, in lists and mappings too, a few levels deep."""
    for value in itertools.islice(values, left):
        if isinstance(value, _torch.Tensor):
            try:
                yield value.shape
            except (RuntimeError, NotImplementedError):
                pass  # a nested tensor, in some releases
        elif deep and isinstance(value, (list, tuple)):
            yield from _shapes(value, left, deep - 1)
        elif deep and isinstance(value, collections.abc.Mapping):
            yield from _shapes(value.values(), left, deep - 1)


class _Optimizers:
    """Parameters before a step; what the optimizer keeps, after its first steps and whenever it grows."""

    def __init__(self):
        self.seen = {}  # id → (steps, size of the state)

    def step_begins(self, optimizer, *_):
        if _tagging:
            safely(self.before, optimizer)
        phase(device.OPTIMIZER)

    def step_ends(self, optimizer, *_):
        leave_frame()
        if _tagging:
            safely(self.after, optimizer)

    def before(self, optimizer):
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                # A model may be called for the first time inside the step: then it has no name yet.
                if id(parameter) in names.parameters:
                    _tag_once(parameter, device.PARAMETERS, names.parameters[id(parameter)])

    def after(self, optimizer):
        steps, size = self.seen.get(id(optimizer), (0, 0))
        now = len(optimizer.state)
        self.seen[id(optimizer)] = (steps + 1, now)
        self.name_rest(optimizer)
        if steps < 3 or size != now:
            for parameter, state in optimizer.state.items():
                text = names.parameters.get(id(parameter), 0)
                for value in state.values() if isinstance(state, dict) else ():
                    if isinstance(value, _torch.Tensor):
                        tag_tensor(value, device.OPTIMIZER_STATE, text)
        if steps == 1:
            _find_copies()

    @staticmethod
    def name_rest(optimizer):
        """Parameters that belong to no module."""
        for group in optimizer.param_groups:
            for number, parameter in enumerate(group["params"]):
                if id(parameter) not in names.parameters:
                    names.add_parameter(parameter, f"{type(optimizer).__name__}.param_{number}")
                    _tag_once(parameter, device.PARAMETERS, names.parameters[id(parameter)])
                    if parameter.grad is not None:
                        tag_tensor(parameter.grad, device.GRADIENTS, names.parameters[id(parameter)])


def _find_copies():
    """Models that are never called, such as an average of the weights, hold memory too. Once, after the second step. A copy was never
    registered with its parts, and the collector has them in any order: those that are no part of another one come first."""
    module_class = _torch.nn.Module
    found = [thing for thing in gc.get_objects() if issubclass(type(thing), module_class) and id(thing) not in names.modules]
    parts = {id(part) for thing in found for part in (thing.__dict__.get("_modules") or {}).values()}
    for thing in sorted(found, key=lambda thing: id(thing) in parts):
        if id(thing) in names.modules:
            continue
        try:
            top = names.add(thing)
        except Exception:
            continue  # a module that is being made or taken apart
        _tag_model(top)


# ---- modules ----


def _compiling():
    return False


def hook_compiler(module):
    """Called when torch.compiler has been imported: what is compiled is a graph, without modules."""
    global _compiling
    _compiling = releases.is_compiling_of(module)


def _named(module):
    top = names.add(module)
    number = names.modules[id(module)]
    if depth() == 0 or module is top:
        _tag_model(top)
    return number


def _hook_modules(module):
    """Called when torch.nn.modules.module has been imported. Replaces Module.__call__, which costs less than the hooks
    that torch.nn has for this: these make every call take a slower way."""
    cls = module.Module
    original = cls.__call__
    known = names.modules
    roots = {}
    shapes = {}  # of what an outermost module was last given

    def call(self, *args, **kwargs):
        if _compiling():
            return original(self, *args, **kwargs)
        number = known.get(id(self))
        if number is None:
            number = safely(_named, self) or 0
        flags = 0
        if depth() == 0:
            flags = safely(outermost, self, number, args, kwargs) or 0
        enter(number, flags)
        try:
            return original(self, *args, **kwargs)
        finally:
            leave_frame()

    def outermost(self, number, args, kwargs):
        flags = roots.get(id(self))
        if flags is None:
            flags = 0 if names.has_parameters(self) else device.NO_PARAMETERS
            names.remember(roots, self, flags)
        _tag_inputs(args)
        if kwargs:
            _tag_inputs(kwargs.values())
        if not flags and not self.__dict__.get("_is_replica"):  # DataParallel makes these, inside a call
            begin_pass(self, number, list(_shapes((*args, *kwargs.values()))))
        return flags

    def begin_pass(self, number, given):
        before = shapes.get(id(self))
        if before is None:
            names.remember(shapes, self, given)
        else:
            shapes[id(self)] = given
        outermost_pass(number, next((shape[0] for shape in given if len(shape)), 0), int(given != before))

    cls.__call__ = functools.wraps(original)(call)
    cls.zero_grad = _in_phase(cls.zero_grad, device.ZERO_GRAD)
    module.register_module_module_registration_hook(names.registered)


_failed = False


def safely(function, *args):
    """Nothing here may raise into the user's program."""
    global _failed
    if _failed:
        return None
    try:
        return function(*args)
    except Exception as error:
        _failed = True
        device.note("attribution-failed", f"{type(error).__name__}: {error}")
        return None


# ---- phases ----


def _in_phase(function, number, afterwards=None):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        phase(number)
        try:
            return function(*args, **kwargs)
        finally:
            leave_frame()
            if afterwards is not None:
                safely(afterwards)

    return wrapped


_optimizers = _Optimizers()


def hook_modules(module):
    global _torch
    _torch = sys.modules["torch"]
    if not device.observe(device.DETAIL == "full"):
        device.note("operators-unknown")
    _hook_modules(module)


def hook_optimizer(module):
    """Called when torch.optim.optimizer has been imported; before steps.py's hook, so that a stop comes last."""
    module.register_optimizer_step_pre_hook(_optimizers.step_begins)
    module.register_optimizer_step_post_hook(_optimizers.step_ends)
    module.Optimizer.zero_grad = _in_phase(module.Optimizer.zero_grad, device.ZERO_GRAD)


def hook_backward(module):
    """Called when torch.autograd.graph has been imported. torch.autograd takes the function from there."""
    owner, name = releases.backward_of(module)
    setattr(owner, name, _in_phase(getattr(owner, name), device.BACKWARD, _tag_gradients))
