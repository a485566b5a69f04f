"""Attention blocks under each backend of scaled_dot_product_attention, forward and backward."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--backend", choices=["all", *BACKENDS], default="all")
parser.add_argument("--batch", type=int, default=4)
parser.add_argument("--length", type=int, default=1024)
parser.add_argument("--width", type=int, default=768)
parser.add_argument("--heads", type=int, default=12)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--dtype", choices=["float16", "bfloat16"], default="bfloat16")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()


class Attention(nn.Module):
    def __init__(self, width, heads, backend):
        super().__init__()
        self.heads, self.backend = heads, backend
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        with sdpa_kernel(self.backend):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(y.transpose(1, 2).reshape(b, t, c))


device = torch.device(args.device)
chosen = BACKENDS if args.backend == "all" else [args.backend]
model = nn.Sequential(*(Attention(args.width, args.heads, BACKENDS[name]) for name in chosen))
model.to(device, dtype=getattr(torch, args.dtype))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

for step in range(args.steps):
    x = torch.randn(args.batch, args.length, args.width).to(device, dtype=getattr(torch, args.dtype))
    loss = F.mse_loss(model(x), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
