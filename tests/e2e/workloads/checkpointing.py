"""Transformer blocks recomputed in the backward pass by torch.utils.checkpoint."""
import argparse

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--mode", choices=["none", "reentrant", "non-reentrant"], default="non-reentrant")
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--length", type=int, default=512)
parser.add_argument("--width", type=int, default=512)
parser.add_argument("--layers", type=int, default=8)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--optimizer", default="AdamW", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(1000, args.width)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(args.width, args.width // 64, 4 * args.width, batch_first=True, norm_first=True)
            for _ in range(args.layers)
        )
        self.head = nn.Linear(args.width, 1000)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            if args.mode == "none":
                x = block(x)
            else:
                x = checkpoint(block, x, use_reentrant=args.mode == "reentrant")
        return self.head(x)


device = torch.device(args.device)
model = Encoder().to(device)
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-4)

model.train()
for step in range(args.steps):
    tokens = torch.randint(0, 1000, (args.batch, args.length)).to(device)
    logits = model(tokens)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
