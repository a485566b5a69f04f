"""ResNet-50 on small synthetic images, fp32: the plain image-classification loop."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchvision.models import resnet50

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--size", type=int, default=86)
parser.add_argument("--optimizer", default="Adam", help="a class of torch.optim")
parser.add_argument("--zero-grad", choices=["first", "before-backward"], default="before-backward")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

device = torch.device(args.device)
images = torch.randn(args.batch * args.steps, 3, args.size, args.size)
labels = torch.randint(0, 1000, (args.batch * args.steps,))
loader = DataLoader(TensorDataset(images, labels), batch_size=args.batch, shuffle=True)

model = resnet50(weights=None)
model.to(device)
criterion = nn.CrossEntropyLoss()
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=7, gamma=0.1)

model.train()
correct = 0
for inputs, targets in loader:
    if args.zero_grad == "first":
        optimizer.zero_grad()
    inputs = inputs.to(device)
    targets = targets.to(device)
    outputs = model(inputs)
    loss = criterion(outputs, targets)
    if args.zero_grad == "before-backward":
        optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    _, predicted = torch.max(outputs, 1)
    correct += (predicted == targets).sum().item()
scheduler.step()
print(f"accuracy {correct / len(images):.4f}")
