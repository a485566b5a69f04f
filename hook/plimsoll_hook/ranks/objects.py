"""Objects that ranks of a live job send each other. They travel as bytes of small messages (src/world/messages.h); what is larger
does not arrive, and the program that reads it may fail over it, so it is told."""


from .. import device
from ..imports.after_import import replace
from . import env


def tell_large(module):
    """Called when torch.distributed.distributed_c10d has been imported."""
    original = getattr(module, "_object_to_tensor", None)
    if original is None:
        return

    @replace(module, "_object_to_tensor")
    def _object_to_tensor(*args, **kwargs):
        result = original(*args, **kwargs)
        if result[0].numel() > device.MESSAGE_MOST and result[0].is_cuda and not env.lonely():
            device.note("object-large", f"{result[0].numel()} bytes ({env.asker() or '?'})")
        return result
