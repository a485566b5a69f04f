"""DCGAN on 64x64 images: two networks, two optimizers."""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--width", type=int, default=64)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--optimizer", default="Adam", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

NOISE = 100


def up(inputs, outputs, stride=2, padding=1):
    return [nn.ConvTranspose2d(inputs, outputs, 4, stride, padding, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(True)]


def down(inputs, outputs):
    return [nn.Conv2d(inputs, outputs, 4, 2, 1, bias=False), nn.BatchNorm2d(outputs), nn.LeakyReLU(0.2, inplace=True)]


device = torch.device(args.device)
w = args.width
generator = nn.Sequential(
    *up(NOISE, 8 * w, 1, 0), *up(8 * w, 4 * w), *up(4 * w, 2 * w), *up(2 * w, w),
    nn.ConvTranspose2d(w, 3, 4, 2, 1, bias=False), nn.Tanh(),
).to(device)
discriminator = nn.Sequential(
    nn.Conv2d(3, w, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True),
    *down(w, 2 * w), *down(2 * w, 4 * w), *down(4 * w, 8 * w),
    nn.Conv2d(8 * w, 1, 4, 1, 0, bias=False), nn.Flatten(0),
).to(device)
criterion = nn.BCEWithLogitsLoss()
make_optimizer = getattr(torch.optim, args.optimizer)
optimizer_d = make_optimizer(discriminator.parameters(), lr=2e-4)
optimizer_g = make_optimizer(generator.parameters(), lr=2e-4)
ones, zeros = torch.ones(args.batch, device=device), torch.zeros(args.batch, device=device)

for step in range(args.steps):
    real = torch.rand(args.batch, 3, 64, 64).mul(2).sub(1).to(device)
    fake = generator(torch.randn(args.batch, NOISE, 1, 1, device=device))

    optimizer_d.zero_grad()
    loss_d = criterion(discriminator(real), ones) + criterion(discriminator(fake.detach()), zeros)
    loss_d.backward()
    optimizer_d.step()

    optimizer_g.zero_grad()
    loss_g = criterion(discriminator(fake), ones)
    loss_g.backward()
    optimizer_g.step()
    print(f"step {step} discriminator {loss_d.item():.4f} generator {loss_g.item():.4f}")
