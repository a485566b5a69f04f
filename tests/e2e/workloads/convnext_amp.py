"""ConvNeXt-Tiny, channels_last, fp16 autocast with GradScaler."""
import argparse

import torch
from torch import nn
from torchvision.models import convnext_tiny

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--size", type=int, default=224)
parser.add_argument("--optimizer", default="AdamW", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

device = torch.device(args.device)
half = torch.float16 if device.type == "cuda" else torch.bfloat16
model = convnext_tiny(weights=None).to(device, memory_format=torch.channels_last)
criterion = nn.CrossEntropyLoss()
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler(device.type)

model.train()
for step in range(args.steps):
    images = torch.randn(args.batch, 3, args.size, args.size)
    images = images.to(device, memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (args.batch,)).to(device)
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast(device.type, dtype=half):
        loss = criterion(model(images), labels)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
