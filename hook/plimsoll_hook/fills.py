"""Large random fills on the host are skipped: nobody reads what they would leave."""

import sys

from . import device

# Filling a large tensor on the host costs time and memory that nothing here needs: what is copied to
# the virtual device is never read from it. Fresh memory reads as zeros and stays unbacked.
_LARGE = 1 << 20


def skip_large_fills(_module):
    torch = sys.modules["torch"]

    def wrap(name):
        original = getattr(torch.Tensor, name)

        def fill(self, *args, **kwargs):
            if self.device.type == "cpu" and type(self).__name__ in ("Tensor", "Parameter") and self.numel() >= _LARGE:
                device.note("fills-skipped")
                return self
            return original(self, *args, **kwargs)

        fill.__name__ = name
        fill.__doc__ = original.__doc__
        setattr(torch.Tensor, name, fill)

    for name in ("normal_", "uniform_", "trunc_normal_", "exponential_", "log_normal_"):
        if hasattr(torch.Tensor, name):
            wrap(name)
