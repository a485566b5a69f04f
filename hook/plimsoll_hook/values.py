"""Values that nobody computes: large random fills on the host are skipped, and what `--assume keep=F` wants to be
assumed of operators that select is put in their place."""

import os
import sys
import warnings

from . import device, releases, selecting

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


def _keep():
    try:
        return min(1.0, max(0.0, float(os.environ.get("PLIMSOLL_ASSUME_KEEP", ""))))
    except ValueError:
        return None


def _kept(keep):
    def kept(count):
        known = device.expected()
        if known >= 0:
            return known
        device.note("selection-assumed")
        return int(keep * count + 0.5)

    return kept


_libraries = []  # an override lasts as long as its torch.library.Library


def _override(namespace):
    torch, keep = sys.modules["torch"], _keep()
    if keep is None:
        return
    library = torch.library.Library(namespace, "IMPL")
    _libraries.append(library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a kernel is overridden is the purpose
        override = {"allow_override": True} if releases.takes(library.impl, "allow_override") else {}
        for name, function in selecting.operators(torch, _kept(keep))[namespace].items():
            library.impl(name, function, "CUDA", **override)


def assume_selections(module):
    """Called when torch.cuda has been imported. Its operators can be replaced once torch is whole: at the first use."""
    original = module._lazy_init

    def lazy_init():
        module._lazy_init = original
        try:
            _override("aten")
        except Exception as error:
            device.note("hook-failed", f"--assume keep: {error}")
        return original()

    if _keep() is not None:
        module._lazy_init = lazy_init


def assume_boxes(_module):
    """Called when torchvision.ops.boxes has been imported."""
    _override("torchvision")
