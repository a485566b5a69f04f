"""Values that nobody computes: large random fills on the host are skipped, and what `--assume keep=F` wants to be
assumed of operators that select is put in their place."""

import os
import sys
import warnings

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


def _keep():
    try:
        return min(1.0, max(0.0, float(os.environ.get("PLIMSOLL_ASSUME_KEEP", ""))))
    except ValueError:
        return None


def _selecting(torch, keep):
    """The operators whose result has as many rows as something was true, different or left over. Values are zeros,
    as everywhere on the virtual device; only the sizes matter."""

    def kept(count):
        device.note("selection-assumed")
        return int(keep * count + 0.5)

    def empty(like, shape, dtype=None):
        return torch.empty(shape, dtype=dtype or like.dtype, device=like.device)

    def nonzero(self):
        # Column-major, as the real one: callers unbind its columns.
        return empty(self, (self.dim(), kept(self.numel())), torch.int64).t()

    def masked_select(self, mask):
        shape = torch.broadcast_shapes(self.shape, mask.shape)
        return empty(self, (kept(torch.Size(shape).numel()),))

    def parts(self, count, return_inverse, return_counts):
        return (empty(self, self.shape if return_inverse else (0,), torch.int64),
                empty(self, (count if return_counts else 0,), torch.int64))

    def unique(self, sorted=True, return_inverse=False, return_counts=False):
        count = max(kept(self.numel()), min(1, self.numel()))
        return (empty(self, (count,)), *parts(self, count, return_inverse, return_counts))

    def unique_consecutive(self, return_inverse=False, return_counts=False, dim=None):
        if dim is not None:
            return unique_dim(self, dim, True, return_inverse, return_counts)
        return unique(self, True, return_inverse, return_counts)

    def unique_dim(self, dim, sorted=True, return_inverse=False, return_counts=False):
        rows = self.shape[dim]
        count = max(kept(rows), min(1, rows))
        shape = list(self.shape)
        shape[dim] = count
        row = empty(self, (rows if return_inverse else 0,), torch.int64)
        return empty(self, shape), row, empty(self, (count if return_counts else 0,), torch.int64)

    def nms(dets, scores, iou_threshold):
        return empty(dets, (kept(dets.shape[0]),), torch.int64)

    return {"aten": {"nonzero": nonzero, "masked_select": masked_select, "_unique2": unique,
                     "unique_consecutive": unique_consecutive, "unique_dim": unique_dim},
            "torchvision": {"nms": nms}}


_libraries = []  # an override lasts as long as its torch.library.Library


def _override(namespace):
    torch, keep = sys.modules["torch"], _keep()
    if keep is None:
        return
    library = torch.library.Library(namespace, "IMPL")
    _libraries.append(library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a kernel is overridden is the purpose
        for name, function in _selecting(torch, keep)[namespace].items():
            try:
                library.impl(name, function, "CUDA", allow_override=True)
            except TypeError:  # before 2.9
                library.impl(name, function, "CUDA")


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
