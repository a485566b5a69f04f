"""An MLP under torch.compile."""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=256)
parser.add_argument("--width", type=int, default=1024)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--mode", default="default", help="default, reduce-overhead or max-autotune")
parser.add_argument("--optimizer", default="AdamW", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

device = torch.device(args.device)
model = nn.Sequential(
    nn.Linear(784, args.width), nn.GELU(), nn.LayerNorm(args.width), nn.Dropout(0.1),
    nn.Linear(args.width, args.width), nn.GELU(), nn.LayerNorm(args.width), nn.Dropout(0.1),
    nn.Linear(args.width, 10),
).to(device)
compiled = torch.compile(model, mode=args.mode)
criterion = nn.CrossEntropyLoss()
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-3)

for step in range(args.steps):
    inputs = torch.randn(args.batch, 784).to(device)
    labels = torch.randint(0, 10, (args.batch,)).to(device)
    optimizer.zero_grad()
    loss = criterion(compiled(inputs), labels)
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
