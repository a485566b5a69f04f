"""The hook: whose memory is whose, and what it is for."""
import math
import sys
from unittest import mock

from hook_common import equal, load, raised, test, thing


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

        def data_ptr(self):
            return self.address

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
def flat_parameters():
    """FSDP1: what is whole is a size of the flat parameter without its padding, and the shape of each that lies in it."""
    shards, _ = sharded()
    wholes, part, size = {}, parameter(0), lambda *shape: thing(numel=lambda: math.prod(shape))
    flat = parameter(8, _unpadded_unsharded_size=size(15), _params=[part], _shapes=[size(3, 5)])
    assert shards._flat(thing(_handle=thing(flat_param=flat)), wholes) is flat
    equal((shards._extent(flat, wholes), shards._extent(part, wholes)), ((8, 15), (0, 15)))
    wholes.clear()
    for module in (thing(), thing(_handle=None), thing(_handle=thing(flat_param=None))):
        equal(shards._flat(module, wholes), None)
    flat._params = None  # without use_orig_params
    assert shards._flat(thing(_handle=thing(flat_param=flat)), wholes) is flat
    equal(wholes, {id(flat): 15})


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


# ---- groups of FSDP ----


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
