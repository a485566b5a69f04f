"""Reads values back from the device: a tensor sent from the host, and the loss of each step."""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--steps", type=int, default=2)
parser.add_argument("--optimizer", default="SGD", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

device = torch.device(args.device)
print(torch.tensor([1.5, 2.5], device=args.device).cpu())
print(torch.arange(4, device=device).tolist())

model = nn.Linear(16, 1).to(device)
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-2)
best = float("inf")
for step in range(args.steps):
    x = torch.randn(args.batch, 16).to(device)
    loss = (model(x) - x.sum(dim=1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    value = loss.item()
    if value < best:
        best = value
    print(f"step {step} loss {value:.4f} finite {bool(torch.isfinite(loss))}")
print(f"best {best:.4f}")
