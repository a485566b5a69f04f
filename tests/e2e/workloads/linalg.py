"""Linear algebra inside a training loop: factorizations, solves and inverses with gradients."""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=4)
parser.add_argument("--size", type=int, default=256)
parser.add_argument("--steps", type=int, default=3)
parser.add_argument("--optimizer", default="SGD", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()


class Factorizations(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size, size))
        self.scale = nn.Parameter(torch.linspace(1.0, 2.0, size))

    def reset_parameters(self):
        nn.init.orthogonal_(self.weight)

    def forward(self, x):
        q, r = torch.linalg.qr(self.weight)
        spd = q @ torch.diag(self.scale) @ q.mT
        values, vectors = torch.linalg.eigh(spd)
        singular = torch.linalg.svdvals(self.weight + spd)
        u, s, vh = torch.linalg.svd(self.weight, full_matrices=False)
        lower = torch.linalg.cholesky(spd)
        p, l, up = torch.linalg.lu(spd)
        factors, pivots = torch.linalg.lu_factor(spd)
        y = torch.linalg.solve(spd, x) + torch.cholesky_solve(x, lower)
        y = y + torch.linalg.lu_solve(factors, pivots, x) + torch.linalg.inv(spd) @ x
        y = y + torch.linalg.solve_triangular(lower, x, upper=False)
        sign, logdet = torch.linalg.slogdet(spd)
        penalty = values.sum() + singular.sum() + s.sum() + logdet + r.diagonal().sum() + up.diagonal().sum()
        return y, penalty


device = torch.device(args.device)
model = Factorizations(args.size).to(device)
model.reset_parameters()
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-4)

for step in range(args.steps):
    x = torch.randn(args.size, 8).to(device)
    y, penalty = model(x)
    loss = y.square().mean() + 1e-3 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    with torch.no_grad():
        stack = torch.randn(args.batch, args.size // 4, args.size // 4).to(device)
        gram = stack @ stack.mT + torch.eye(args.size // 4, device=device)
        torch.linalg.inv(gram)
        torch.linalg.cholesky(gram)
        torch.linalg.eigh(gram)
        torch.linalg.svd(stack)
        torch.linalg.lstsq(stack, stack[..., :2])
        torch.linalg.pinv(stack)
