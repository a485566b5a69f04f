"""Passes of the model beside the program's own: the plain forward and backward of the FakeTensor method, one with hooks on leaf modules, and the
nodes of torch.fx's trace. Nothing is computed in them, and what they change of the model and of random numbers is put back.
"""

import contextlib

from . import no_compute
from .storages import Storages


def _copies(torch, tensors):
    return [(t, t.detach().clone()) for t in tensors if t.numel() * t.element_size() <= no_compute.SMALL]


@contextlib.contextmanager
def aside(torch, model, active):
    """`active`: a dispatch mode that computes nothing is on already."""
    small = _copies(torch, list(model.buffers()) + list(model.parameters()))
    random = torch.get_rng_state()
    try:
        with contextlib.nullcontext(no_compute.active) if active else no_compute.make(torch) as mode:
            yield mode
    finally:
        with torch.no_grad():
            for tensor, copy in small:
                tensor.copy_(copy)
        torch.set_rng_state(random)


def _plain(torch, value):
    """The same arguments as leaves; floating ones with a gradient."""
    if isinstance(value, torch.Tensor):
        fresh = value.detach()
        return fresh.requires_grad_() if fresh.is_floating_point() else fresh
    if type(value) in (list, tuple):
        return type(value)(_plain(torch, v) for v in value)
    if type(value) is dict:
        return {k: _plain(torch, v) for k, v in value.items()}
    return value


def _first(torch, output):
    """The tensor that the model is for."""
    if isinstance(output, torch.Tensor):
        return output if output.requires_grad else None
    if isinstance(output, dict):
        output = [output["logits"]] if "logits" in output else list(output.values())
    if isinstance(output, (list, tuple)):
        return next((found for found in (_first(torch, part) for part in output) if found is not None), None)
    return None


def forward_backward(torch, call, labels, active, observe):
    """Births and deaths of storage; `observe(storages)` is a context that notes the results of operators."""
    model, args, kwargs = call
    storages = Storages(torch)
    storages.see(list(model.parameters()))
    storages.see(list(model.buffers()))
    kwargs = {k: v for k, v in kwargs.items() if k.lower() not in labels}
    with aside(torch, model, active), torch.enable_grad():
        args, kwargs = _plain(torch, args), _plain(torch, kwargs)
        storages.see((args, kwargs))
        with observe(storages):
            output = _first(torch, model(*args, **kwargs))
            wanted = [p for p in model.parameters() if p.requires_grad] + _leaves(torch, (args, kwargs))
            gradients = torch.autograd.grad(output.sum(), wanted, allow_unused=True)
            found = storages.numbers()  # gradients would stay
            del gradients, output
    return found


def sightings(torch, call, active):
    """Forward and backward with hooks on leaf modules, as the re-implementation of DNNMem has them: a module's arguments and its result are seen when
    it returns, in this order, then the gradients of its arguments and of its result when its backward pass is over. None if the model does not bear
    such hooks, for one because it changes results in place."""
    model, args, kwargs = call
    rows, kept = {}, []  # by tensor, [bytes, first, last]; all are kept alive, so that none is taken for another
    moment = 0

    def see(values):
        nonlocal moment
        for tensor in values:
            if isinstance(tensor, torch.Tensor):
                moment += 1
                if id(tensor) not in rows:
                    kept.append(tensor)
                    rows[id(tensor)] = [tensor.numel() * tensor.element_size(), moment, moment]
                rows[id(tensor)][2] = moment

    def forward(module, arguments, output):
        see((*arguments, output))

    def backward(module, inputs, outputs):
        see((*inputs, *outputs))

    hooks = [hook for module in model.modules() if not module._modules
             for hook in (module.register_forward_hook(forward), module.register_full_backward_hook(backward))]
    try:
        with aside(torch, model, active) as mode, torch.enable_grad(), mode.keeping():
            output = model(*args, **kwargs)
            loss = output["loss"] if isinstance(output, dict) and output.get("loss") is not None else _first(torch, output).sum()
            torch.autograd.grad(loss, [p for p in model.parameters() if p.requires_grad], allow_unused=True)
    except Exception:
        return None
    finally:
        for hook in hooks:
            hook.remove()
    return {"moments": moment, "tensors": [row for row in rows.values() if row[0]]}


def _leaves(torch, value):
    if isinstance(value, torch.Tensor):
        return [value] if value.requires_grad else []
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [leaf for part in parts for leaf in _leaves(torch, part)]


def graph(torch, call, indices, active):
    """The nodes of torch.fx's trace; or a reason why there are none, as text."""
    model, args, kwargs = call
    try:
        traced = torch.fx.symbolic_trace(model)
    except Exception as error:
        return _reason(error)
    sizes, shared = {}, {}

    class Sizes(torch.fx.Interpreter):
        def run_node(self, node):
            given = [(n, self.env.get(n)) for n in node.all_input_nodes]
            result = super().run_node(node)
            sizes[node] = _bytes(torch, result)
            if isinstance(result, torch.Tensor) and node.op != "output":
                shared.update((node, n) for n, value in given if value is result)
            return result

    names = [node.target for node in traced.graph.nodes if node.op == "placeholder"]
    given = list(args) + [kwargs[name] for name in names[len(args):] if name in kwargs]
    try:
        with aside(torch, model, active), torch.no_grad():
            Sizes(traced).run(*given)
    except Exception as error:
        return _reason(error)
    return nodes(traced, indices, sizes, shared)


def nodes(traced, indices, sizes, shared):
    """Those of a graph of torch.fx, in the words of the description."""
    numbers = {node: i for i, node in enumerate(traced.graph.nodes)}
    return [_node(node, numbers, sizes, shared, indices) for node in traced.graph.nodes]


def _node(node, numbers, sizes, shared, indices):
    found = {"op": node.op, "name": node.name, "inputs": [numbers[n] for n in node.all_input_nodes], "bytes": sizes.get(node, 0)}
    if node.op == "call_module" and node.target in indices:
        found["module"] = indices[node.target]
    if node in shared:
        found["shares"] = numbers[shared[node]]
    return found


def _bytes(torch, value):
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return sum(_bytes(torch, part) for part in parts)


def _reason(error):
    text = str(error).splitlines()[0] if str(error) else ""
    return f"{type(error).__name__}: {text}"[:200]
