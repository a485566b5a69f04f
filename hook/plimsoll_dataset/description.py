"""The description of a network (docs/description.md) as far as estimators that learn look at it, from one pass without values."""
import torch
from plimsoll_capture import again, calls, describe


class Description:
    def __init__(self, model, inputs, branches):
        """`model` and `inputs` are on the device "meta". `branches`: it is no chain of layers."""
        seen = calls.Calls(torch)
        try:
            with torch.no_grad():
                model(inputs)
        finally:
            seen.stop()
        self.found = describe.of_calls(torch, seen, seen.outermost[0], [])
        if branches:
            indices = {name: i for i, name in enumerate(dict(model.named_modules()))}
            self.found["graph"] = again.nodes(torch.fx.symbolic_trace(model), indices, {}, {})

    def document(self, optimizer):
        return {**describe.head(torch), **self.found, **({"optimizer": describe.optimizer_of(torch, optimizer)} if optimizer else {})}
