"""Where PyTorch itself checks arguments by their values, as torch.distributions does: what depends on weights is taken to be valid. Read as
zeros, a scale would not be positive, and no program with a distribution would run."""

import functools
import sys

from .. import device


def _checked(original):
    @functools.wraps(original)
    def check(*args, **kwargs):
        if sys.modules["torch"].compiler.is_compiling():  # the compiler sees what it would see
            return original(*args, **kwargs)
        device.checking(1)
        try:
            return original(*args, **kwargs)
        finally:
            device.checking(-1)

    return check


def hook_distributions(module):
    """Called when torch.distributions.distribution has been imported."""
    for name in ("__init__", "_validate_sample"):
        setattr(module.Distribution, name, _checked(getattr(module.Distribution, name)))
