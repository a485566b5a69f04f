"""A CNN in nn.DataParallel on every visible GPU."""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=128)
parser.add_argument("--width", type=int, default=128)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--optimizer", default="SGD", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

device = torch.device(args.device)
w = args.width
model = nn.Sequential(
    nn.Conv2d(3, w, 3, padding=1), nn.BatchNorm2d(w), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(w, 2 * w, 3, padding=1), nn.BatchNorm2d(2 * w), nn.ReLU(),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 * w, 10),
).to(device)
model = nn.DataParallel(model)
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-2)

for step in range(args.steps):
    images = torch.randn(args.batch, 3, 64, 64).to(device)
    labels = torch.randint(0, 10, (args.batch,)).to(device)
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
