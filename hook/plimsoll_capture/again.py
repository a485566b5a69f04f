"""Passes of the model beside the program's own: the plain forward and backward of the FakeTensor method, and the nodes of torch.fx's
trace. Nothing is computed in them, and what they change of the model and of random numbers is put back.
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
        with contextlib.nullcontext() if active else no_compute.make(torch):
            yield
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
    sizes = {}

    class Sizes(torch.fx.Interpreter):
        def run_node(self, node):
            result = super().run_node(node)
            sizes[node] = _bytes(torch, result)
            return result

    names = [node.target for node in traced.graph.nodes if node.op == "placeholder"]
    given = list(args) + [kwargs[name] for name in names[len(args):] if name in kwargs]
    try:
        with aside(torch, model, active), torch.no_grad():
            Sizes(traced).run(*given)
    except Exception as error:
        return _reason(error)
    numbers = {node: i for i, node in enumerate(traced.graph.nodes)}
    return [_node(node, numbers, sizes, indices) for node in traced.graph.nodes]


def _node(node, numbers, sizes, indices):
    found = {"op": node.op, "name": node.name, "inputs": [numbers[n] for n in node.all_input_nodes], "bytes": sizes.get(node, 0)}
    if node.op == "call_module" and node.target in indices:
        found["module"] = indices[node.target]
    return found


def _bytes(torch, value):
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return sum(_bytes(torch, part) for part in parts)


def _reason(error):
    text = str(error).splitlines()[0] if str(error) else ""
    return f"{type(error).__name__}: {text}"[:200]
