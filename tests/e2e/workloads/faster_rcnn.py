"""Faster R-CNN with a ResNet-50 FPN backbone on synthetic images and boxes."""
import argparse

import torch
from torchvision.models.detection import fasterrcnn_resnet50_fpn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=2)
parser.add_argument("--steps", type=int, default=3)
parser.add_argument("--size", type=int, default=480)
parser.add_argument("--boxes", type=int, default=8)
parser.add_argument("--optimizer", default="SGD", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

device = torch.device(args.device)
model = fasterrcnn_resnet50_fpn(weights=None, weights_backbone=None, num_classes=21).to(device)
parameters = [p for p in model.parameters() if p.requires_grad]
optimizer = getattr(torch.optim, args.optimizer)(parameters, lr=5e-3)


def make_target():
    corner = torch.rand(args.boxes, 2) * args.size / 2
    extent = torch.rand(args.boxes, 2) * args.size / 4 + 16
    return {
        "boxes": torch.cat([corner, corner + extent], dim=1).to(device),
        "labels": torch.randint(1, 21, (args.boxes,)).to(device),
    }


model.train()
for step in range(args.steps):
    images = [torch.rand(3, args.size, args.size).to(device) for _ in range(args.batch)]
    targets = [make_target() for _ in range(args.batch)]
    losses = model(images, targets)
    loss = sum(losses.values())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
