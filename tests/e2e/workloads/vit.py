"""ViT-B/16 on synthetic 224x224 images, fp32, with gradient clipping."""
import argparse

import torch
from torch import nn
from torchvision.models import vit_b_16

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--optimizer", default="AdamW", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

device = torch.device(args.device)
model = vit_b_16(weights=None).to(device)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-4)

model.train()
for step in range(args.steps):
    images = torch.randn(args.batch, 3, 224, 224).to(device)
    labels = torch.randint(0, 1000, (args.batch,)).to(device)
    loss = criterion(model(images), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
