"""What follows from the host's data reads on the virtual GPU as the CPU computes it. Prints `ok N` for N comparisons."""
import contextlib

import torch

LABELS = [[3, -100, 2, 7, 0, -100], [1, 1, -100, -100, 5, 2], [0, 9, 9, 4, -100, 3]]


def data(device):
    floats = torch.linspace(-2, 3, 18).reshape(3, 6)
    floats[1, 2] = float("nan")
    return torch.tensor(LABELS, device=device), floats.to(device), device


def factories(y, f, d):
    yield torch.arange(2, 20, 3, device=d)
    yield torch.zeros(3, 2, device=d), torch.ones(4, dtype=torch.int64, device=d), torch.full((2, 3), 2.5, device=d)
    yield torch.tensor([1.5, 2.0], device=d), torch.eye(3, device=d), torch.linspace(0, 1, 5, device=d)
    yield torch.zeros_like(y), torch.ones_like(f), torch.full_like(f, 7), y.new_zeros(3), y.new_full((2,), 4)
    yield torch.tril_indices(3, 3, device=d), torch.tril(torch.ones(4, 4, device=d)), torch.triu(torch.ones(3, 3, device=d), 1)
    yield torch.scalar_tensor(3.0, device=d), torch.logspace(0, 2, 3, device=d), torch.zeros(2, 3, device=d).t()


def pointwise(y, f, d):
    yield y == -100, y != -100, y > 2, y + 1, y * 2, -y, y // 2, y % 3, y.float() / 2, 5 - y, y << 1, y & 3, y ^ 1
    yield y * 0.5, 0.25 + y, (y > 0) * 1.5, y[0, 0] / 4.0, y.sum() * 0.5, y - torch.tensor(0.5, dtype=torch.float64), f[0, 0] * 3, y * 2.0 > 5
    yield torch.isnan(f), f.isfinite(), f.nan_to_num(0), f.clamp(0, 1), f.exp(), f.abs().sqrt(), f.round(), f.floor()
    yield torch.where(y == -100, 0, y), torch.where(y > 0, f, -f), (y > 0) & (f > 0), (y > 0) | ~(f > 0), (y > 0).logical_xor(f > 0)
    yield y.to(torch.float16), y.bool(), f.int(), f.bfloat16(), f.half().float(), y.byte(), f.double()
    yield torch.maximum(y, y.flip(0)), torch.div(y, 2, rounding_mode="floor"), y.pow(2), f.sigmoid(), torch.lerp(f, f + 1, 0.5)
    yield torch.isin(y, torch.tensor([1, 9], device=d)), y.masked_fill(y < 0, 0), torch.bucketize(f, torch.tensor([-1.0, 0, 1], device=d))


def reductions(y, f, d):
    yield y.sum(), y.sum(1), y.max(), y.max(1).values, y.max(1).indices, y.min(), y.argmax(), y.argmin(1), f.nansum(), f.nan_to_num().mean()
    yield (y >= 0).all(), (y < 0).any(), (y > 100).any(1), (y != -100).sum(-1), y.cumsum(1), y.float().mean(0), y.amax(1), y.prod(1)
    yield f.nan_to_num().std(), f.nan_to_num().norm(), f.nan_to_num().var(0), y.median(), torch.logsumexp(f.nan_to_num(), 1)
    yield torch.count_nonzero(y), y.float().softmax(1), f.nan_to_num().log_softmax(1), f.cumprod(1), torch.aminmax(y)


def views(y, f, d):
    yield y[1], y[:, 2], y[1:, ::2], y.t(), y.reshape(-1), y.view(2, 9), y.unsqueeze(0), y.expand(2, 3, 6), y[..., -1], y.flatten()
    yield y.t().contiguous(), y.repeat(2, 1), torch.cat([y, y + 1], 1), torch.stack([y[0], y[2]]), y.flip(1), y.roll(1, 1), y.chunk(3)[1]
    yield y.split([1, 5], 1)[1], y.unbind(1)[3], y.unfold(1, 2, 2), torch.nn.functional.pad(y, (1, 2), value=9), y.diagonal(), y.squeeze()


def indexing(y, f, d):
    at = torch.tensor([2, 0, 1], device=d)
    yield y[at], y[at, at], f[at][:, at], y.gather(1, at[:, None]), y.index_select(0, at), torch.take(y, at), y[y != -100], f[y > 2]
    yield torch.nn.functional.one_hot(at, 5), torch.zeros(3, 9, device=d).scatter_(1, at[:, None], 1.0), y.take_along_dim(at[:, None], 1)
    yield torch.zeros(4, device=d).index_add_(0, at, torch.ones(3, device=d)), torch.zeros(5, dtype=torch.long, device=d).scatter_add_(0, at, at)
    yield torch.zeros(5, device=d).scatter_reduce_(0, at, f[:, 0], "amax"), torch.nn.functional.embedding(at, f), f.index_fill(0, at[:1], 4)


def sizes(y, f, d):
    yield y.nonzero(), (y == -100).nonzero(as_tuple=True)[1], torch.argwhere(y > 2), y.unique(), y.unique(return_inverse=True, return_counts=True)
    yield y.masked_select(y > 0), torch.bincount(y[y >= 0]), torch.bincount(y[y >= 0], minlength=20), y[0].unique_consecutive(), y.unique(dim=0)
    yield torch.repeat_interleave(torch.arange(3, device=d), torch.tensor([2, 0, 3], device=d)), torch.repeat_interleave(y[0], 2)
    yield y.flatten().unique_consecutive(return_counts=True), y.unique(dim=1, return_inverse=True), torch.where(y == 9)
    yield torch.nonzero(torch.zeros(3, device=d)), torch.histc(y[y >= 0].float(), 4), torch.unique(torch.zeros(5, device=d))


def order(y, f, d):
    yield y.sort(1).values, torch.sort(y, dim=1, descending=True, stable=True), torch.argsort(y, dim=1, stable=True), y.topk(2, 1).values, y.kthvalue(2, 1).values
    yield torch.searchsorted(y.sort(1).values, torch.tensor([[1], [2], [3]], device=d)), y.msort(), f.nan_to_num().topk(3).indices


def in_place(y, f, d):
    x = y.clone()
    row = x[1]
    x[0, 1] = 5
    row += 10
    x[:, 2] *= 2
    x[x == -100] = 0
    yield x.clone(), row.clone()
    x[1:, 3:] = torch.arange(3, device=d)
    x[torch.tensor([0, 2], device=d), torch.tensor([5, 5], device=d)] = 77
    yield x.clone(), row.clone()
    x.masked_fill_(x > 50, -1).clamp_(min=0)
    x.t()[0].zero_()
    yield x, row
    counts = torch.zeros(4, device=d)
    for i in range(3):
        counts[i] += i
        counts.mul_(2)
    yield counts, torch.stack(list(counts)), counts.fill_(3), f.copy_(torch.arange(6.0, device=d)), f.half().add_(1)
    steps, lists = [torch.zeros((), device=d) for _ in range(300)], [f.clone(), y.float()]
    torch._foreach_add_(steps, 1)
    torch._foreach_add_(steps[:2], torch.tensor(2.0))
    torch._foreach_mul_(lists, 2)
    torch._foreach_add_(lists, [y.float(), f], alpha=0.5)
    torch._foreach_addcdiv_(lists, [y.float(), f], [f.exp(), f.exp()], 3.0)
    torch._foreach_clamp_min_(lists, -4.0)
    yield torch.stack(steps[:4]), steps[299].item(), *lists, *torch._foreach_sqrt(steps[:3]), torch._foreach_add(lists, 1)[1], torch._foreach_norm(steps[:3])[0]
    torch._foreach_zero_(lists)
    torch._foreach_copy_(lists, [y.float(), lists[0] + 3])
    yield *lists, steps[1].item()
    with torch.device(d):  # as an optimizer counts its steps after torch.set_default_device
        counters = [torch.tensor(0.0), torch.tensor(0.0, dtype=torch.float32)]
        torch._foreach_add_(counters, 1)
    yield counters[0].item(), counters[1].item(), 1 - 0.9 ** counters[0].item()
    torch.add(y, 1, out=x)
    yield x, torch.cumsum(y, 1, out=x)


def numbers(y, f, d):
    x = y[0]
    yield x.tolist(), x[0].item(), int(x[2]), float(x[3]), bool(x[4]), bool((x > 0).any()), x.cpu().numpy().tolist(), len(x.unique())
    yield [int(v) for v in x], x.max().item(), f"{x[3]}", torch.equal(x, x.clone()), torch.allclose(f.nan_to_num(), f.nan_to_num()), x[3].item() in x
    yield y.to("cpu").tolist(), y.t().cpu().tolist(), y[:, 1].cpu().tolist(), y.float().cpu().tolist(), x.to("cpu", non_blocking=True).tolist()
    yield int(torch.tensor(5, device=d)), [0] * int(x[3]), range(int(x[2])), torch.is_nonzero(x[0])


def packing(y, f, d):
    mask = y != -100
    lengths = mask.sum(1, dtype=torch.int32)
    ends = torch.nn.functional.pad(torch.cumsum(lengths, 0, dtype=torch.int32), (1, 0))
    at = torch.nonzero(mask.flatten(), as_tuple=False).flatten()
    yield ends, at, lengths.max().item(), y.flatten()[at], y.flatten().split(lengths.tolist() + [18 - int(lengths.sum())])[1]
    yield mask.long().cumsum(-1).sub(1).clamp(min=0), bool(mask.all()), torch.arange(int(lengths.max()), device=d)[None] < lengths[:, None]
    boxes = torch.tensor([[0, 1], [0, 2], [1, 3], [2, 0], [2, 1], [2, 5]], device=d)
    at, counts = boxes[:, 0].unique(return_counts=True)
    room = torch.zeros(3, int(counts.max()), device=d)
    for i in range(3):
        found = boxes[:, 0] == i
        room[i, :found.sum()] = boxes[found, 1].float()
    yield at, counts, room


def modes(y, f, d):
    with torch.autocast(d, dtype=torch.bfloat16):
        made = [(y > 0).sum().item(), f.nan_to_num().sum()]
    with torch.inference_mode():
        made += y.cumsum(0), (y > 0).nonzero()
    with torch.no_grad():
        made += [y[y > 1].sum()]
    with torch.device(d):
        made += torch.arange(4), torch.tensor([1, 2]).sum()
    w = torch.tensor([2.0, 3.0], device=d, requires_grad=True)
    (w * w).sum().backward()
    made += w.grad, w.detach(), torch.vmap(lambda row: row.cumsum(0) * 2)(y)
    made += [torch.func.grad(lambda x: (x * x).sum())(f.nan_to_num())]
    with torch.cuda.stream(torch.cuda.Stream()) if d == "cuda" else contextlib.nullcontext():
        made += y + 3, y.sum().item()
    yield tuple(made)


def same(a, b):
    if isinstance(a, torch.Tensor):
        a, b = a.cpu(), b.cpu()
        return a.shape == b.shape and a.dtype == b.dtype and torch.allclose(a.double(), b.double(), rtol=1e-5, equal_nan=True)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return a == b or a != a and b != b


def main():
    compared = wrong = 0
    for part in (factories, pointwise, reductions, views, indexing, sizes, order, in_place, numbers, packing, modes):
        for number, (ours, right) in enumerate(zip(part(*data("cuda")), part(*data("cpu")), strict=True)):
            for k, (a, b) in enumerate(zip(ours, right) if isinstance(ours, tuple) and not hasattr(ours, "values") else [(ours, right)]):
                compared += 1
                if not same(a, b):
                    wrong += 1
                    print(f"{part.__name__} {number}.{k}: {a} instead of {b}", flush=True)
    print(f"wrong {wrong} of {compared}" if wrong else f"ok {compared}")


main()
