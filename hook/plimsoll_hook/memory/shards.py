"""Which part of the job's tensors this rank holds: bytes here against bytes on one rank that held all, of parameters,
gradients and optimizer state. Told after the first and the second step, by a job of several ranks.

What is not known to be sharded counts as whole. A stage of a pipeline is whole in itself: of the others it knows nothing.
No tensor is made, so that memory is as without this."""

import sys
import weakref

from .. import device
from . import attribution, names

_STEPS = 2
_optimizers = weakref.WeakSet()


class _Sum:
    """Bytes here, and in all."""

    def __init__(self):
        self.local = self.whole = 0

    def add(self, local, whole):
        self.local += local
        self.whole += max(whole, local)

    def tell(self, category):
        if self.whole:
            device.shard(category, self.local, self.whole)


def _numbers(tensor):
    """Elements here and in all, as far as the tensor itself tells."""
    local = getattr(tensor, "_local_tensor", None)
    return (tensor.numel(), tensor.numel()) if local is None else (local.numel(), tensor.numel())


# ---- frameworks that keep elsewhere how large a parameter is in all ----


def _flat(module, wholes):
    """FullyShardedDataParallel (FSDP1): one flat parameter for those of a module, padded to be divided evenly. With
    use_orig_params these are views of it, which are empty where another rank holds all of one."""
    flat = getattr(module.__dict__.get("_handle"), "flat_param", None)
    if flat is None:
        return None
    wholes[id(flat)] = flat._unpadded_unsharded_size.numel()
    for parameter, shape in zip(flat._params or (), flat._shapes):
        wholes[id(parameter)] = shape.numel()
    return flat


def _megatron(parameter):
    """Ranks among which Megatron divides a parameter: tensor parallel, and the experts of a mixture."""
    state = sys.modules.get("megatron.core.parallel_state")
    if state is None:
        return 1
    expert = not getattr(parameter, "allreduce", True)
    ranks = getattr(state, "get_expert_model_parallel_world_size", lambda: 1)() if expert else 1
    if getattr(parameter, "tensor_model_parallel", False):
        size = getattr(state, "get_expert_tensor_parallel_world_size", None) if expert else None
        ranks *= (size or state.get_tensor_model_parallel_world_size)()
    return ranks


def _extent(parameter, wholes):
    """Elements of a parameter here and in all."""
    if hasattr(parameter, "ds_numel"):  # DeepSpeed's ZeRO-3; small ones stay whole
        kept = getattr(parameter, "ds_persist", False) or getattr(parameter, "ds_tensor", None) is None
        return (parameter.ds_numel if kept else parameter.ds_tensor.numel()), parameter.ds_numel
    local, whole = _numbers(parameter)
    if id(parameter) in wholes:
        return local, wholes[id(parameter)]
    return local, whole * _megatron(parameter)


# ---- the three sums ----


class _Model:
    """All parameters of all models, each once."""

    def __init__(self):
        self.wholes, self.parameters, flat = {}, {}, []
        for top in list(names.outermost):
            for module in names.parts(top):
                flat.append(_flat(module, self.wholes))
                for parameter in module._parameters.values():
                    if parameter is not None:
                        self.parameters[id(parameter)] = parameter
        # The views that are called the parameters share memory with the flat one.
        self.kept = {key: parameter for key, parameter in self.parameters.items() if key not in self.wholes}
        self.kept.update((id(parameter), parameter) for parameter in flat if parameter is not None)

    def extent(self, parameter):
        return _extent(parameter, self.wholes)

    def add_parameters(self, total):
        for parameter in self.kept.values():
            local, whole = self.extent(parameter)
            total.add(local * parameter.element_size(), whole * parameter.element_size())

    def add_gradients(self, total):
        for parameter in self.parameters.values():
            gradient = parameter.grad
            local, whole = self.extent(parameter)
            if gradient is not None:
                here, own = _numbers(gradient)
                total.add(here * gradient.element_size(), max(own, whole) * gradient.element_size())
            elif not local and whole and parameter.requires_grad:  # another rank has it
                total.add(0, whole * parameter.element_size())


class _States:
    """What optimizers keep. Some hold it for a part of their parameters only, or for copies that are parts of these."""

    def __init__(self, model):
        self.model = model
        self.total = _Sum()
        self.covered = 0  # elements, in all, of the parameters that have state
        self.missing = 0  # of those whose state another rank has
        self.copied = 0   # elements here of tensors that are no parameters of a model
        self.copies = _Sum()
        self.direct = set()

    def add(self, optimizer):
        divided = type(optimizer).__name__ == "ZeroRedundancyOptimizer"
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                self.add_parameter(parameter, optimizer.state.get(parameter), divided)

    def add_parameter(self, parameter, state, divided):
        local, whole = self.model.extent(parameter)
        own = id(parameter) in self.model.parameters or id(parameter) in self.model.kept
        values = [value for value in (state or {}).values() if hasattr(value, "element_size")]
        if id(parameter) in self.direct:
            return
        if not values:
            self.missing += whole if divided or not local else 0
            return
        self.direct.add(id(parameter))
        if own:
            self.covered += whole
        else:
            self.copied += local
        for value in values:
            here, all_of_it = _numbers(value)
            if here == local and all_of_it == here:
                all_of_it = whole
            (self.total if own else self.copies).add(here * value.element_size(), all_of_it * value.element_size())

    def tell(self):
        total = self.total
        if self.covered and self.missing:
            total.whole += total.whole * self.missing // self.covered
        if self.copied:
            rest = sum(self.model.extent(parameter)[1] for key, parameter in self.model.kept.items()
                       if parameter.requires_grad and key not in self.direct)
            total.add(self.copies.local, self.copies.local * rest // self.copied)
        total.tell(device.OPTIMIZER_STATE)


def _several_ranks():
    distributed = sys.modules.get("torch.distributed")
    return distributed and distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1


def _tell():
    if not _several_ranks():
        return
    model, parameters, gradients = _Model(), _Sum(), _Sum()
    model.add_parameters(parameters)
    model.add_gradients(gradients)
    states = _States(model)
    # The one that wraps another comes last: what that has state for is not missing.
    for optimizer in sorted(_optimizers, key=lambda optimizer: type(optimizer).__name__ == "ZeroRedundancyOptimizer"):
        states.add(optimizer)
    parameters.tell(device.PARAMETERS)
    gradients.tell(device.GRADIENTS)
    states.tell()


def step_ended(number):
    if number <= _STEPS:
        attribution.safely(_tell)


def hook_optimizer(module):
    """Called when torch.optim.optimizer has been imported."""
    module.register_optimizer_step_post_hook(lambda optimizer, *_: _optimizers.add(optimizer))
