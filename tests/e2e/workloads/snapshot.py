"""Records the allocator's history around a few steps and takes a snapshot of its state."""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--width", type=int, default=1024)
parser.add_argument("--steps", type=int, default=2)
parser.add_argument("--optimizer", default="Adam", help="a class of torch.optim")
args = parser.parse_args()

device = torch.device("cuda")
torch.cuda.memory._record_memory_history(max_entries=100000)

model = nn.Sequential(
    nn.Linear(args.width, 4 * args.width), nn.GELU(), nn.Linear(4 * args.width, args.width)
).to(device)
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-3)
for step in range(args.steps):
    x = torch.randn(args.batch, args.width).to(device)
    loss = nn.functional.mse_loss(model(x), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

snapshot = torch.cuda.memory._snapshot()
torch.cuda.memory._record_memory_history(enabled=None)
blocks = sum(len(segment["blocks"]) for segment in snapshot["segments"])
events = sum(len(trace) for trace in snapshot["device_traces"])
print(f"{len(snapshot['segments'])} segments, {blocks} blocks, {events} events")
print(f"peak {torch.cuda.max_memory_allocated()} allocated, {torch.cuda.max_memory_reserved()} reserved")
