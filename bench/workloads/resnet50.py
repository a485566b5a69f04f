"""ResNet-50, 64 images of 3x86x86, Adam, fp32."""
import torch
from clock import arguments, measure
from torch import nn
from torchvision.models import resnet50

args = arguments(__doc__)


def build():
    model = resnet50(weights=None)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    images = torch.randn(args.batch or 64, 3, 86, 86)
    labels = torch.randint(0, 1000, (args.batch or 64,))
    return model, optimizer, lambda: criterion(model(images), labels)


measure(build, args)
