"""A Llama-like model in plain PyTorch, bf16, created on the GPU or on the host first."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

SIZES = {  # width, layers, heads, feed-forward width
    "tiny": (256, 2, 4, 704),
    "1b": (2048, 22, 32, 5632),
    "3b": (3072, 28, 24, 8192),
    "7b": (4096, 32, 32, 11008),
    "13b": (5120, 40, 40, 13824),
    "70b": (8192, 80, 64, 28672),
}
VOCABULARY = 32000

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--params", choices=SIZES, default="7b")
parser.add_argument("--init", choices=["cuda", "cpu"], default="cuda")
parser.add_argument("--batch", type=int, default=1)
parser.add_argument("--length", type=int, default=1024)
parser.add_argument("--steps", type=int, default=3)
parser.add_argument("--optimizer", default="AdamW", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()


def rotate(x, cos, sin):
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-right, left], dim=-1) * sin


class Block(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.RMSNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.mlp_norm = nn.RMSNorm(width)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x, cos, sin):
        b, t, c = x.shape
        q, k, v = self.qkv(self.attention_norm(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(rotate(q, cos, sin), rotate(k, cos, sin), v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        h = self.mlp_norm(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Llama(nn.Module):
    def __init__(self, width, layers, heads, hidden, length):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.blocks = nn.ModuleList(Block(width, heads, hidden) for _ in range(layers))
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, VOCABULARY, bias=False)
        half = width // heads // 2
        frequency = 10000.0 ** (-torch.arange(half, dtype=torch.float32) / half)
        angle = torch.outer(torch.arange(length, dtype=torch.float32), frequency).repeat(1, 2)
        self.register_buffer("cos", angle.cos().to(torch.get_default_dtype()), persistent=False)
        self.register_buffer("sin", angle.sin().to(torch.get_default_dtype()), persistent=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        t = tokens.shape[1]
        for block in self.blocks:
            x = block(x, self.cos[:t], self.sin[:t])
        return self.head(self.norm(x))


device = torch.device(args.device)
torch.set_default_dtype(torch.bfloat16)
with torch.device("cpu" if args.init == "cpu" else device):
    model = Llama(*SIZES[args.params], args.length)
model.to(device)
print(f"{sum(p.numel() for p in model.parameters()) / 1e9:.2f} billion parameters")
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-4)

model.train()
for step in range(args.steps):
    tokens = torch.randint(0, VOCABULARY, (args.batch, args.length + 1)).to(device)
    logits = model(tokens[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
