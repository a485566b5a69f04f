"""Batches prefetched on a side stream from pinned memory; two branches on two streams."""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=256)
parser.add_argument("--width", type=int, default=2048)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--optimizer", default="SGD", help="a class of torch.optim")
args = parser.parse_args()

device = torch.device("cuda")


class Prefetcher:
    """Copies the next batch while the current one is being used."""

    def __init__(self, batches):
        self.batches = iter(batches)
        self.stream = torch.cuda.Stream()
        self.preload()

    def preload(self):
        self.ready = torch.cuda.Event()
        try:
            inputs, labels = next(self.batches)
        except StopIteration:
            self.next = None
            return
        with torch.cuda.stream(self.stream):
            self.next = (
                inputs.pin_memory().to(device, non_blocking=True),
                labels.pin_memory().to(device, non_blocking=True),
            )
            self.ready.record()

    def __iter__(self):
        while self.next is not None:
            current = torch.cuda.current_stream()
            current.wait_event(self.ready)
            batch = self.next
            for tensor in batch:
                tensor.record_stream(current)
            self.preload()
            yield batch


class TwoBranches(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.left = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
        self.right = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width))
        self.head = nn.Linear(width, 10)
        self.side = torch.cuda.Stream()

    def forward(self, x):
        main = torch.cuda.current_stream()
        self.side.wait_stream(main)
        left = self.left(x)
        with torch.cuda.stream(self.side):
            right = self.right(x)
            x.record_stream(self.side)
        main.wait_stream(self.side)
        right.record_stream(main)
        return self.head(left + right)


model = TwoBranches(args.width).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-2)
batches = (
    (torch.randn(args.batch, args.width), torch.randint(0, 10, (args.batch,))) for _ in range(args.steps)
)

start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
start.record()
for inputs, labels in Prefetcher(batches):
    optimizer.zero_grad()
    loss = criterion(model(inputs), labels)
    loss.backward()
    optimizer.step()
    host_loss = torch.empty((), pin_memory=True)
    host_loss.copy_(loss.detach(), non_blocking=True)
end.record()
end.synchronize()
print(f"loss {host_loss.item():.4f}, {start.elapsed_time(end):.1f} ms")
