"""A few steps under torch.profiler with CPU and CUDA activities."""
import argparse

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--width", type=int, default=512)
parser.add_argument("--steps", type=int, default=2)
parser.add_argument("--optimizer", default="Adam", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

device = torch.device(args.device)
model = nn.Sequential(
    nn.Linear(args.width, 4 * args.width), nn.ReLU(), nn.Linear(4 * args.width, args.width)
).to(device)
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-3)

activities = [ProfilerActivity.CPU]
if device.type == "cuda":
    activities.append(ProfilerActivity.CUDA)
with profile(activities=activities, record_shapes=True, profile_memory=True, with_stack=True) as prof:
    for step in range(args.steps):
        x = torch.randn(args.batch, args.width).to(device)
        with record_function("forward"):
            loss = nn.functional.mse_loss(model(x), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        prof.step()

print(f"{len(prof.events())} events, {len(prof.key_averages())} names")
