"""Stand-ins for the operators whose result has as many rows as something was true, different or left over, or counts it."""


def operators(torch, kept):
    """By namespace and name. `kept` says how many rows of a number are left. Values are zeros, as everywhere on the virtual
    device; only the sizes matter."""

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

    def total(self, dim, keepdim=False, *, dtype=None):
        """Of a mask: as many as are kept. What a router counts for each expert fits what it selects then."""
        whole = not (self.is_floating_point() or self.is_complex())
        out = torch.empty(0, dtype=dtype or (torch.int64 if whole else self.dtype), device=self.device)
        torch.ops.aten.sum.IntList_out(self, dim, keepdim, dtype=dtype, out=out)
        if self.dtype is torch.bool and out.numel():
            out.copy_(torch.full(out.shape, kept(self.numel() // out.numel()), dtype=out.dtype))
        return out

    def total_of_all(self, *, dtype=None):
        return total(self, (), dtype=dtype)

    def nms(dets, scores, iou_threshold):
        return empty(dets, (kept(dets.shape[0]),), torch.int64)

    return {"aten": {"nonzero": nonzero, "masked_select": masked_select, "_unique2": unique,
                     "unique_consecutive": unique_consecutive, "unique_dim": unique_dim, "sum": total_of_all,
                     "sum.dim_IntList": total},
            "torchvision": {"nms": nms}}
