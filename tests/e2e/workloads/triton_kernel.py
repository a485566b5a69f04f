"""Triton kernels in a training loop: a vector addition and an autotuned, fused scale-and-add."""
import argparse

import torch
import triton
import triton.language as tl
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--size", type=int, default=1 << 20)
parser.add_argument("--steps", type=int, default=2)
args = parser.parse_args()


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 256}, num_warps=2),
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 4096}, num_warps=8),
    ],
    key=["n"],
)
@triton.jit
def axpy_kernel(x, y, out, a, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    value = a * tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask)
    tl.store(out + offsets, value, mask=mask)


class Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        out = torch.empty_like(x)
        add_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), BLOCK=1024)
        return out

    @staticmethod
    def backward(ctx, grad):
        return grad, grad


def axpy(a, x, y):
    out = torch.empty_like(x)
    axpy_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, out, a, x.numel())
    return out


device = torch.device("cuda")
weight = nn.Parameter(torch.zeros(args.size, device=device))
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(args.steps):
    x = torch.randn(args.size).to(device)
    loss = Add.apply(weight, x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

x, y = torch.randn(args.size).to(device), torch.randn(args.size).to(device)
difference = (axpy(2.0, x, y) - (2.0 * x + y)).abs().max()
print(f"largest difference {difference.item():.2e}")
