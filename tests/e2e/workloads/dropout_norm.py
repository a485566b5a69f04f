"""Every common normalization and dropout layer in one convolutional network."""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--size", type=int, default=64)
parser.add_argument("--width", type=int, default=64)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--optimizer", default="RMSprop", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()


class ChannelNorm(nn.Module):
    """LayerNorm over the channels of an image."""

    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def forward(self, x):
        return self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


def block(inputs, outputs, norm, dropout):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), norm, nn.SiLU(), dropout)


device = torch.device(args.device)
w = args.width
model = nn.Sequential(
    block(3, w, nn.BatchNorm2d(w), nn.Dropout(0.1)),
    block(w, w, nn.GroupNorm(8, w), nn.Dropout2d(0.1)),
    nn.MaxPool2d(2),
    block(w, w, ChannelNorm(nn.LayerNorm(w)), nn.AlphaDropout(0.1)),
    block(w, w, ChannelNorm(nn.RMSNorm(w)), nn.FeatureAlphaDropout(0.1)),
    block(w, w, nn.InstanceNorm2d(w, affine=True), nn.Dropout(0.1, inplace=True)),
    block(w, w, nn.LocalResponseNorm(5), nn.Identity()),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.BatchNorm1d(w), nn.Linear(w, 10),
).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-3)

model.train()
for step in range(args.steps):
    images = torch.randn(args.batch, 3, args.size, args.size).to(device)
    labels = torch.randint(0, 10, (args.batch,)).to(device)
    loss = criterion(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
