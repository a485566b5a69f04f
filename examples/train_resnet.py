"""Train ResNet-50 on synthetic ImageNet-sized images with mixed precision.

    python train_resnet.py --batch 64
"""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet50


class SyntheticImages(Dataset):
    """Random images and labels in the shape of ImageNet."""

    def __init__(self, samples, size):
        self.samples, self.size = samples, size

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        return torch.randn(3, self.size, self.size), torch.randint(0, 1000, ()).item()


def main():
    parser = argparse.ArgumentParser(description="Train ResNet-50 on synthetic images.")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--fp32", action="store_true", help="no mixed precision")
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()

    device = torch.device(args.device)
    dataset = SyntheticImages(args.batch * args.steps, args.size)
    loader = DataLoader(dataset, args.batch, num_workers=args.workers, pin_memory=device.type == "cuda")

    model = resnet50(weights=None).to(device, memory_format=torch.channels_last)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.steps)

    model.train()
    for step, (images, labels) in enumerate(loader):
        images = images.to(device, non_blocking=True, memory_format=torch.channels_last)
        labels = labels.to(device, non_blocking=True)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=not args.fp32):
            loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % 10 == 0:
            print(f"step {step}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
