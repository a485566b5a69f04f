"""torch.compile where candidates are tried, and attention that is written as a function of scores."""
import argparse

import torch
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("how", choices=("max-autotune", "flex", "cudnn"))
how = parser.parse_args().how
torch.manual_seed(0)


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.many, self.out = torch.nn.Linear(128, 384), torch.nn.Linear(128, 128)

    def forward(self, x):
        from torch.nn.attention.flex_attention import flex_attention

        q, k, v = self.many(x).unflatten(-1, (3, 4, 32)).transpose(1, 3).unbind(2)
        return self.out(flex_attention(q, k, v, score_mod=lambda score, b, h, i, j: score - (i - j).abs()).transpose(1, 2).flatten(2))


if how == "max-autotune":
    model, shape = torch.compile(torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.GELU(), torch.nn.Linear(512, 256)).cuda(), mode=how), (64, 256)
elif how == "flex":
    model, shape = torch.compile(Attention().cuda()), (2, 128, 128)
else:
    torch.backends.cudnn.benchmark = True
    model, shape = torch.nn.Sequential(torch.nn.Conv2d(3, 32, 3), torch.nn.ReLU(), torch.nn.Conv2d(32, 32, 3, stride=2)).cuda(), (8, 3, 64, 64)
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
for step in range(6):
    made = model(torch.randn(shape).cuda())
    loss = F.mse_loss(made, torch.zeros_like(made))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
