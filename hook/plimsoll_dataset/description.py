"""The description of a network (docs/description.md) as far as estimators that learn look at it, from its first step."""
import torch
from plimsoll_capture import again, calls, describe


class Description:
    def __init__(self):
        self.found = None

    def call(self, model, inputs, labels, branches):
        """The model's result. `branches`: it is no chain of layers. Of its tensors none is kept."""
        seen = calls.Calls(torch, sights=False)
        try:
            outputs = model(inputs)
        finally:
            seen.stop()
        self.found = describe.of_calls(torch, seen, seen.outermost[0], [labels])
        if branches:
            indices = {name: i for i, name in enumerate(dict(model.named_modules()))}
            self.found["graph"] = again.nodes(torch.fx.symbolic_trace(model), indices, {}, {})
        return outputs

    def document(self, optimizer):
        return {**describe.head(torch), **self.found, "optimizer": describe.optimizer_of(torch, optimizer)}
