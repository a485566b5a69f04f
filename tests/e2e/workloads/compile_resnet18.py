"""ResNet-18 under torch.compile, channels_last, bf16 autocast."""
import argparse

import torch
from torch import nn
from torchvision.models import resnet18

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--size", type=int, default=64)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--mode", default="default", help="default, reduce-overhead or max-autotune")
parser.add_argument("--optimizer", default="SGD", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

device = torch.device(args.device)
model = resnet18(weights=None).to(device, memory_format=torch.channels_last)
model.compile(mode=args.mode)
criterion = nn.CrossEntropyLoss()
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-2)

for step in range(args.steps):
    images = torch.randn(args.batch, 3, args.size, args.size)
    images = images.to(device, memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (args.batch,)).to(device)
    with torch.autocast(device.type, dtype=torch.bfloat16):
        loss = criterion(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
