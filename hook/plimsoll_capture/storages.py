"""Births and deaths of tensor storage, in order.

Storage is known by weak references, which die with it. What they call is list.append, so that no function of Python, which a
profiler would see, runs when memory is freed.
"""

import weakref


class _Mark(weakref.ref):
    """A storage's weak reference; dead, it stands in the list for its death."""

    __slots__ = ("number",)


class Storages:
    def __init__(self, torch):
        self.tensor = torch.Tensor
        self.events = []
        self.marks = {}  # by address of the storage; the reference in it may be dead
        self.count = 0

    def see(self, value):
        """Notes the storage of every tensor in it that is new."""
        if isinstance(value, self.tensor):
            if value.device.type == "cpu":
                self._see(value)
        elif isinstance(value, dict):
            for part in value.values():
                self.see(part)
        elif isinstance(value, (list, tuple)):
            for part in value:
                self.see(part)

    def _see(self, tensor):
        try:
            storage = tensor.untyped_storage()
        except (NotImplementedError, RuntimeError):
            return  # sparse and opaque tensors
        size = storage.nbytes()
        mark = self.marks.get(storage._cdata)
        if not size or (mark is not None and mark() is not None):
            return
        mark = _Mark(storage, self.events.append)
        self.count += 1
        mark.number = self.count
        self.marks[storage._cdata] = mark
        self.events.append(size)

    def numbers(self):
        """Sizes of what was born, and -k for the death of the k-th. Ends the watch."""
        found = [-event.number if isinstance(event, _Mark) else event for event in self.events]
        self.events, self.marks = [], {}
        return found


def observer(torch, storages):
    """A dispatch mode that notes the results of every operator."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Observe(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            storages.see(result)
            return result

    return Observe()
