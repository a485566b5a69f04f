"""`--assume keep=F`: operators that select keep this share of what they are given, where that does not follow from the host's data."""

import os
import sys
import warnings

from .. import device
from ..imports import releases


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
        device.note(device.READS["KEPT"])
        return int(keep * count + 0.5)

    return kept


_libraries = []  # an override lasts as long as its torch.library.Library


def _override(namespace):
    torch, keep = sys.modules["torch"], _keep()
    if keep is None:
        return
    from . import selections

    library = torch.library.Library(namespace, "IMPL")
    _libraries.append(library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a kernel is overridden is the purpose
        override = {"allow_override": True} if releases.takes(library.impl, "allow_override") else {}
        for name, function in selections.operators(torch, _kept(keep))[namespace].items():
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
