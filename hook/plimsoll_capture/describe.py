"""The model description of docs/description.md, gathered in the first two iterations.

The first iteration shows the model and its batch by hooks. Between it and the second come passes of the model beside the program's own. The
second is the step whose storage is noted; in a trace it is recorded, so nothing of Python is added to it.
"""

import collections
import contextlib
import json
import time
import weakref

from . import again, calls, features, no_compute, redirect, status
from .storages import Storages

SCHEMA = "plimsoll.description/1"
_STARTED = time.monotonic()


class Describer:
    def __init__(self, torch):
        self.torch = torch
        self.calls = None
        self.optimizer = None
        self.moved = collections.deque(maxlen=64)  # weak references to what was last put on the device
        self.stepped = False   # in this iteration
        self.document = {}
        self.watch = contextlib.ExitStack()
        self.storages = None

    def look(self):
        """An optimizer was made. Hooks that come later than the first call of the model would miss that it is the outermost."""
        self.calls = calls.Calls(self.torch)
        redirect.moved = self._note_move

    def _note_move(self, tensor):
        if self.calls.depth == 0:
            self.moved.append(weakref.ref(tensor))

    def look_away(self):
        self.calls.stop()
        redirect.moved = None

    def begin(self, number):
        self.stepped = False
        if number == 1:
            self.calls.forget()
        elif number == 2:
            self._end_first()
            if not status.COMPUTE or status.WHAT == "describe":
                self._watch_step()
        elif number == 3:
            self.end()

    def zero_grad(self):
        where = "after-step" if self.stepped else "before-backward" if self.calls.forwarded else "before-forward"
        if self.calls.hooks and "zero_grad" not in self.document:
            self.document["zero_grad"] = where

    def after_step(self, optimizer):
        self.stepped = True
        if self.optimizer is None:
            self.optimizer = optimizer

    def _end_first(self):
        redirect.moved = None
        self.calls.stop()
        call = self.calls.model(self.optimizer)
        if call is not None:
            self._describe(call)
        self.calls.let_go()
        self.moved.clear()

    def _describe(self, call):
        torch, model, found = self.torch, call[0], self.document
        found.update(of_calls(torch, self.calls, call, [t for t in (mark() for mark in self.moved) if t is not None]))
        found["sightings"] = again.sightings(torch, call, no_compute.active is not None) or self.calls.sightings.document()
        self._pass_again(call, {name: i for i, name in enumerate(dict(model.named_modules()))})

    def _pass_again(self, call, indices):
        torch, found = self.torch, self.document
        active = no_compute.active is not None
        graph = again.graph(torch, call, indices, active)
        found["graph_missing" if isinstance(graph, str) else "graph"] = graph
        try:
            found["storages"] = {"forward_backward": again.forward_backward(
                torch, call, calls.LABELS, active, lambda storages: no_compute.watched(torch, storages))}
        except Exception:
            found["storages"] = {}  # not all models can be called a second time

    def _watch_step(self):
        self.storages = Storages(self.torch)
        owned = [p for group in self.optimizer.param_groups for p in group["params"]]
        model = self.document.get("model") and self.calls.returned
        modules = {id(m): m for m, *_ in model} if model else {}
        self.storages.see(owned)
        for module in modules.values():
            self.storages.see(list(module.parameters(recurse=False)))
            self.storages.see(list(module.buffers(recurse=False)))
        self.storages.see(list(self.optimizer.state.values()))
        self.storages.see([p.grad for p in owned if p.grad is not None])
        redirect.moved = self.storages.see
        self.watch.enter_context(no_compute.watched(self.torch, self.storages))

    def end(self):
        """The step is over, or the program."""
        if self.storages is not None:
            self.watch.close()
            redirect.moved = None
            self.document.setdefault("storages", {})["step"] = self.storages.numbers()
            self.storages = None
        self.calls.forget()

    def text(self):
        """The document; None if no model was found."""
        found = self.document
        if "model" not in found:
            return None
        zero_grad = found.pop("zero_grad", None)
        optimizer = optimizer_of(self.torch, self.optimizer)
        if zero_grad:
            optimizer["zero_grad"] = zero_grad
        return json.dumps({**head(self.torch), **found, "optimizer": optimizer}, separators=(",", ":"))


def head(torch):
    return {"schema": SCHEMA, "torch": torch.__version__.split("+")[0], "command": status.COMMAND, "computed": status.COMPUTE,
            "seconds": round(time.monotonic() - _STARTED, 3)}


def optimizer_of(torch, optimizer):
    return {"class": type(optimizer).__name__, "state_bytes": _state(torch, optimizer), "foreach": _foreach(optimizer)}


def of_calls(torch, seen, call, moved):
    """What calls.Calls have seen of one iteration of the model that `call` is of; `moved` are tensors that were put on the device."""
    model, args, kwargs = call
    modules = dict(model.named_modules())
    indices = {name: i for i, name in enumerate(modules)}
    place = {id(module): i for i, module in enumerate(modules.values())}
    found = {"model": _model(model, seen.recomputed)}
    transformer = _transformer(model, args, kwargs, seen)
    if transformer:
        found["transformer"] = transformer
    found["batch"] = seen.batch(args, kwargs, moved)
    found["modules"] = [_module(name, module, indices) for name, module in modules.items()]
    found["parameters"] = [{"module": i, "elements": p.numel(), "bytes": _size(p), "trainable": p.requires_grad}
                           for i, p in _each(modules.values(), "_parameters")]
    found["buffers"] = [{"module": i, "elements": b.numel(), "bytes": _size(b)} for i, b in _each(modules.values(), "_buffers")]
    inside = [call for call in seen.returned if id(call[0]) in place]
    found["calls"] = [{"module": place[id(module)], "outputs": outputs} | ({"again": True} if operations is None else {"flops": operations})
                      for module, outputs, operations in inside]
    found["features"] = features.table(torch, model, found["batch"], inside)
    return found


def _size(tensor):
    return tensor.numel() * tensor.element_size()


def _each(modules, kind):
    """The tensors of this kind with the index of their module, each storage once."""
    seen = set()
    for index, module in enumerate(modules):
        for tensor in getattr(module, kind).values():
            if tensor is None:
                continue
            key = tensor.untyped_storage()._cdata
            if key not in seen:
                seen.add(key)
                yield index, tensor


def _own(module):
    return [p for p in module._parameters.values() if p is not None]


def _module(name, module, indices):
    own = _own(module)
    return {"name": name, "class": type(module).__name__, "leaf": not module._modules,
            "parent": -1 if not name else indices.get(name.rpartition(".")[0], 0), "own_parameters": sum(p.numel() for p in own),
            "own_bytes": sum(map(_size, own))}


def _model(model, recomputed):
    parameters, buffers = list(model.parameters()), list(model.buffers())
    types = [str(p.dtype).replace("torch.", "") for p in parameters]
    flag = getattr(model, "is_gradient_checkpointing", False)
    return {"class": type(model).__name__, "dtype": max(set(types), key=types.count) if types else "float32",
            "parameters": sum(p.numel() for p in parameters), "trainable": sum(p.numel() for p in parameters if p.requires_grad),
            "parameter_bytes": sum(map(_size, parameters)), "buffer_bytes": sum(map(_size, buffers)),
            "largest_module": max((sum(p.numel() for p in _own(m)) for m in model.modules()), default=0),
            "checkpointing": bool(recomputed or flag is True), **({"autocast": redirect.autocast_to} if redirect.autocast_to else {})}


# What configurations of transformers call these.
_NAMES = {"layers": ("num_hidden_layers", "n_layer", "num_layers", "n_layers"), "hidden": ("hidden_size", "n_embd", "d_model", "dim"),
          "heads": ("num_attention_heads", "n_head", "num_heads", "n_heads"), "vocabulary": ("vocab_size",)}
_UPCASTING = (".float()", "torch.float32")


def _transformer(model, args, kwargs, seen):
    config = getattr(model, "config", None)
    if not all(any(isinstance(getattr(config, n, None), int) for n in names) for names in _NAMES.values()):
        return None
    found = {key: next(getattr(config, n) for n in names if isinstance(getattr(config, n, None), int)) for key, names in _NAMES.items()}
    tokens = next((t for t in seen.sightings.tensors((kwargs, args)) if t.dim() >= 2), None)
    if tokens is not None:
        found["sequence"] = tokens.shape[1]
    found["decoder"] = bool(getattr(config, "is_decoder", False)) or type(model).__name__.endswith(("ForCausalLM", "LMHeadModel")) \
        or bool(getattr(config, "is_encoder_decoder", False))
    found["upcast_logits"] = _upcasts(model)
    return found


def _upcasts(model):
    """Whether the forward function, or the loss function of its class, makes its logits float32."""
    import inspect

    sources = []
    for function in (type(model).forward, getattr(model, "loss_function", None)):
        try:
            sources.append(inspect.getsource(function))
        except (OSError, TypeError):
            pass
    lines = "\n".join(sources).splitlines()
    return any("logits" in line and any(word in line for word in _UPCASTING) for line in lines)


def _state(torch, optimizer):
    seen = {}
    for state in optimizer.state.values():
        for value in state.values() if isinstance(state, dict) else ():
            for tensor in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(tensor, torch.Tensor) and tensor.dim():
                    seen[tensor.untyped_storage()._cdata] = _size(tensor)
    return sum(seen.values())


def _foreach(optimizer):
    """Whether it would handle all parameters at once on a GPU."""
    defaults = optimizer.defaults
    return "foreach" in defaults and defaults["foreach"] is not False and not defaults.get("fused") \
        and not defaults.get("differentiable")
