"""Which tensors are seen by hooks on leaf modules, and when first and last."""

import weakref


class Sightings:
    """Counts moments: a leaf module's call begins, it ends, a gradient of its outputs or inputs is there."""

    def __init__(self, torch):
        self.torch = torch
        self.moment = 0
        self.rows = []   # [bytes, first, last]
        self.known = {}  # address of a storage to its weak reference and row

    def tensors(self, value):
        if isinstance(value, self.torch.Tensor):
            yield value
        elif isinstance(value, dict):
            for part in value.values():
                yield from self.tensors(part)
        elif isinstance(value, (list, tuple)):
            for part in value:
                yield from self.tensors(part)

    def _row(self, tensor):
        storage = tensor.untyped_storage()
        mark, row = self.known.get(storage._cdata, (None, None))
        if mark is None or mark() is None:
            row = [0, self.moment, self.moment]
            self.rows.append(row)
            self.known[storage._cdata] = (weakref.ref(storage), row)
        row[0] = max(row[0], tensor.numel() * tensor.element_size())
        row[2] = self.moment
        return row

    def see(self, *values):
        return [self._row(tensor) for value in values for tensor in self.tensors(value)]

    def before(self, module, arguments):
        self.moment += 1
        self.see(arguments)

    def after(self, module, arguments, outputs):
        self.moment += 1
        self.see(outputs)
        self._await_gradients(arguments, outputs)

    def _await_gradients(self, arguments, outputs):
        """Tensor hooks, since a module's backward hooks forbid operators in place on its outputs."""
        seen = []

        def of_output(gradient):
            self.moment += 1
            seen.extend(self.see(gradient))

        def of_input(gradient):
            self.moment += 1
            self.see(gradient)
            for row in seen:
                row[2] = self.moment

        for tensors, hook in ((outputs, of_output), (arguments, of_input)):
            for tensor in self.tensors(tensors):
                if tensor.requires_grad and not isinstance(tensor, self.torch.nn.Parameter):
                    tensor.register_hook(hook)

    def document(self):
        return {"moments": self.moment, "tensors": [row for row in self.rows if row[0]]}
