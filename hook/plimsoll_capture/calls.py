"""What is seen of a job's modules in one iteration: which is the model, what it is called with, what each module gives."""

from . import features
from .sightings import Sightings

LABELS = ("label", "labels", "target", "targets")


def entry(tensor):
    return {"shape": list(tensor.shape), "dtype": str(tensor.dtype).replace("torch.", ""),
            "bytes": tensor.numel() * tensor.element_size()}


class Calls:
    """Hooks on all modules. Outermost calls are kept with their arguments until let_go()."""

    def __init__(self, torch, sights=True):
        """`sights`: whether it is noted when tensors are seen."""
        self.torch = torch
        self.sights = sights
        self.depth = 0
        self.forget()
        module = torch.nn.modules.module
        self.hooks = [module.register_module_forward_pre_hook(self._before),
                      module.register_module_forward_hook(self._after, with_kwargs=True, always_call=False)]

    def stop(self):
        for hook in self.hooks:
            hook.remove()
        self.hooks = []

    def forget(self):
        self.outermost = []  # (module, args, kwargs) of the first call of each
        self.returned = []   # (module, outputs, operations) in order
        self.losses = []     # tensors that were given to modules without parameters, outside of any other
        self.forwarded = False
        self.recomputed = False
        self.sightings = Sightings(self.torch)

    def let_go(self):
        """Of the program's tensors."""
        self.outermost, self.losses = [], []

    def _before(self, module, arguments):
        self.depth += 1
        if self.torch._C._current_graph_task_id() != -1:
            self.recomputed = True
        if self.sights and not module._modules:
            self.sightings.before(module, arguments)

    def _after(self, module, args, kwargs, outputs):
        self.depth = max(0, self.depth - 1)
        if self.sights and not module._modules:
            self.sightings.after(module, (args, kwargs), outputs)
        found = [{"shape": list(t.shape), "bytes": t.numel() * t.element_size()} for t in self.sightings.tensors(outputs)]
        self.returned.append((module, found, self._operations(module, args, kwargs, found)))
        if self.depth == 0:
            self._outermost(module, args, kwargs)

    def _operations(self, module, args, kwargs, found):
        """None: the call is none of the forward pass."""
        if self.torch._C._current_graph_task_id() != -1:
            return None
        outputs = features.elements(found[0]["shape"]) if found else 0
        return features.flops(self.torch, module, self.sightings.tensors((args, kwargs)), outputs)

    def _outermost(self, module, args, kwargs):
        if next(module.parameters(), None) is None:
            self.losses += self.sightings.tensors((args, kwargs))
        else:
            self.forwarded = True
            if not any(known is module for known, _, _ in self.outermost):
                self.outermost.append((module, args, kwargs))

    def model(self, optimizer):
        """(module, args, kwargs): the one that has most of the optimizer's parameters; None if none has any."""
        wanted = {id(p) for group in optimizer.param_groups for p in group["params"]}
        best, most = None, 0
        for call in self.outermost:
            count = sum(p.numel() for p in call[0].parameters() if id(p) in wanted)
            if count > most:
                best, most = call, count
        return best

    def batch(self, args, kwargs, moved):
        """`moved`: tensors that the program put on its device in this iteration."""
        labels = list(self.sightings.tensors([v for k, v in kwargs.items() if k.lower() in LABELS]))
        inputs = list(self.sightings.tensors((args, {k: v for k, v in kwargs.items() if k.lower() not in LABELS})))
        known = {t.data_ptr() for t in inputs}
        for tensor in self.losses + moved:
            if tensor.data_ptr() not in known and not tensor.requires_grad and not isinstance(tensor, self.torch.nn.Parameter):
                known.add(tensor.data_ptr())
                if not any(label.data_ptr() == tensor.data_ptr() for label in labels):
                    labels.append(tensor)
        firsts = [t.shape[0] for t in inputs + labels if t.dim()]
        found = {"inputs": [entry(t) for t in inputs], "targets": [entry(t) for t in labels]}
        if firsts:
            found["size"] = max(set(firsts), key=firsts.count)
        return found
