"""Fourier layers: spectral convolution (rfft2/irfft2), token mixing (fft2) and rfft/irfft filters."""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--channels", type=int, default=32)
parser.add_argument("--size", type=int, default=64)
parser.add_argument("--modes", type=int, default=12)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--optimizer", default="Adam", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()


class SpectralConv2d(nn.Module):
    def __init__(self, channels, modes):
        super().__init__()
        self.modes = modes
        self.weight = nn.Parameter(torch.randn(channels, channels, modes, modes, dtype=torch.cfloat) / channels)

    def forward(self, x):
        spectrum = torch.fft.rfft2(x)
        out = torch.zeros_like(spectrum)
        m = self.modes
        out[..., :m, :m] = torch.einsum("bixy,ioxy->boxy", spectrum[..., :m, :m], self.weight)
        return torch.fft.irfft2(out, s=x.shape[-2:])


class Mixing(nn.Module):
    def forward(self, x):
        return torch.fft.fft2(x).real


class Filter(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(size // 2 + 1, dtype=torch.cfloat))

    def forward(self, x):
        return torch.fft.irfft(torch.fft.rfft(x, dim=-1) * self.gain, n=x.shape[-1], dim=-1)


class Net(nn.Module):
    def __init__(self, channels, modes, size):
        super().__init__()
        self.lift = nn.Conv2d(1, channels, 1)
        self.spectral = SpectralConv2d(channels, modes)
        self.mixing = Mixing()
        self.norm = nn.GroupNorm(4, channels)
        self.filter = Filter(size)
        self.project = nn.Conv2d(channels, 1, 1)

    def forward(self, x):
        x = self.lift(x)
        x = nn.functional.gelu(x + self.spectral(x))
        x = self.norm(x + self.mixing(x))
        return self.project(self.filter(x))


device = torch.device(args.device)
model = Net(args.channels, args.modes, args.size).to(device)
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-3)

for step in range(args.steps):
    x = torch.randn(args.batch, 1, args.size, args.size).to(device)
    loss = nn.functional.mse_loss(model(x), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
