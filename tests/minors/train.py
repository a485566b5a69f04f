"""train.py resnet18|gpt2|lstm: three steps with nothing but PyTorch, and what its allocator counted at most.

For tests/groups/minors, which runs it on every minor release of PyTorch: no torchvision, no NumPy."""
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
from train_gpt2 import GPT2, VOCABULARY  # noqa: E402


class Basic(nn.Module):
    """Two 3x3 convolutions beside a shortcut."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.shortcut = None
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)), inplace=True)))
        return F.relu(y + (self.shortcut(x) if self.shortcut else x), inplace=True)


def resnet18():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    width = 64
    for stage in range(4):
        for block in range(2):
            layers.append(Basic(width, 64 << stage, 2 if stage and not block else 1))
            width = 64 << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 1000))


def image_loss(model):
    images, labels = torch.randn(32, 3, 96, 96).cuda(), torch.randint(0, 1000, (32,)).cuda()
    return F.cross_entropy(model(images), labels)


def text_loss(model):
    tokens = torch.randint(0, VOCABULARY, (4, 129)).cuda()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        return model(tokens[:, :-1], tokens[:, 1:])


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(64, 128, num_layers=2, dropout=0.1, bidirectional=True, batch_first=True)
        self.head = nn.Linear(256, 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0])


def sequence_loss(model):
    return model(torch.randn(16, 50, 64).cuda()).square().mean()


TRAININGS = {
    "resnet18": (resnet18, image_loss, lambda parameters: torch.optim.SGD(parameters, 0.1, momentum=0.9)),
    "gpt2": (lambda: GPT2(12, 12, 768, 128), text_loss, lambda parameters: torch.optim.AdamW(parameters, 1e-3)),
    "lstm": (Tagger, sequence_loss, lambda parameters: torch.optim.Adam(parameters, 1e-3)),
}


def main():
    make, loss_of, optimizer_of = TRAININGS[sys.argv[1]]
    model = make().cuda()
    optimizer = optimizer_of(model.parameters())
    for _ in range(3):
        loss = loss_of(model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"counted {torch.cuda.max_memory_allocated()} {torch.cuda.max_memory_reserved()} by {torch.__version__}, "
          f"cudnn {torch.backends.cudnn.version()}")


main()
