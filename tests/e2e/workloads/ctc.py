"""Connectionist temporal classification: PyTorch's own implementation and cuDNN's."""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--frames", type=int, default=200)
parser.add_argument("--targets", type=int, default=30)
parser.add_argument("--classes", type=int, default=32)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--optimizer", default="Adam", help="a class of torch.optim")
parser.add_argument("--host-targets", action="store_true", help="also targets on the host, which older versions take")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

device = torch.device(args.device)
model = nn.Sequential(
    nn.Conv1d(80, 256, 5, padding=2), nn.ReLU(), nn.Conv1d(256, 256, 5, padding=2), nn.ReLU(),
    nn.Conv1d(256, args.classes, 1),
).to(device)
criterion = nn.CTCLoss(blank=0, zero_infinity=False)
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-3)
torch.manual_seed(0)

for step in range(args.steps):
    audio = torch.randn(args.batch, 80, args.frames).to(device)
    log_probs = model(audio).permute(2, 0, 1).log_softmax(2)
    lengths = torch.randint(args.targets // 2, args.targets + 1, (args.batch,), dtype=torch.int32)

    # cuDNN takes over when targets are concatenated, everything is int32 and every input has full length;
    # it takes targets on the host with lengths in a tuple, or all of them on the device.
    flat = torch.randint(1, args.classes, (int(lengths.sum()),), dtype=torch.int32)
    full = torch.full((args.batch,), args.frames, dtype=torch.int32)
    loss = criterion(log_probs, flat.to(device), full.to(device), lengths.to(device))
    if args.host_targets:
        loss = loss + criterion(log_probs, flat, tuple(full.tolist()), tuple(lengths.tolist()))

    padded = torch.randint(1, args.classes, (args.batch, args.targets)).to(device)
    frames = torch.randint(args.frames * 3 // 4, args.frames, (args.batch,))
    loss = loss + criterion(log_probs, padded, frames, lengths.long())

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
