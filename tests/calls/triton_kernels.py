"""Kernels of Triton: one of the program's own, and those that torch.compile makes of a model, twice each."""
import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def to_half(source, target, count, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(target + at, tl.load(source + at, mask=at < count), mask=at < count)


source = torch.zeros(1000, device="cuda")
target = torch.empty(1000, device="cuda", dtype=torch.half)
for _ in range(2):
    to_half[(8,)](source, target, 1000, block=128)

model = nn.Sequential(nn.LayerNorm(64), nn.GELU()).cuda()
compiled = torch.compile(model)
with torch.no_grad():
    for _ in range(2):
        compiled(torch.zeros(12, 64, device="cuda"))
