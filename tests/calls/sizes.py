"""Operators whose kernels show no sizes, each in a module of its own; tests/groups/calls knows the sizes. Three passes, two with
another batch, one more as the first."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint


class Call(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def attention(backend):
    def run(query, key):
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(query, key, key)
    return Call(run)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 64)
        self.norm = nn.LayerNorm(64)
        self.softmax = nn.Softmax(-1)
        self.pool = nn.MaxPool2d(2)
        self.batch = nn.BatchNorm2d(3)
        self.flash = attention(SDPBackend.FLASH_ATTENTION)
        self.efficient = attention(SDPBackend.EFFICIENT_ATTENTION)
        self.cat = Call(lambda a, b: torch.cat([a, b], -1))
        self.again = nn.Sequential(nn.LayerNorm(64), nn.Linear(64, 64))

    def forward(self, batch):
        x = self.norm(self.embed(batch["tokens"]))
        x = checkpoint(self.again, x, use_reentrant=True)
        heads = x.view(*x.shape[:2], 4, 16).transpose(1, 2)
        a = self.flash(heads.half(), torch.cat([heads, heads], 2).half()).float()
        b = self.efficient(heads, torch.cat([heads, heads], 2))
        image = self.pool(self.batch(batch["image"]))
        return self.softmax(self.cat(a, b)).mean() + image.mean()


net = Net().cuda()
loss = nn.L1Loss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for size in (6, 6, 6, 10, 10, 6):
    tokens = torch.zeros(size, 20, dtype=torch.long, device="cuda")
    image = torch.zeros(size, 3, 12, 10, device="cuda")
    loss(net({"tokens": tokens, "image": image}), torch.zeros((), device="cuda")).backward()
    optimizer.step()
