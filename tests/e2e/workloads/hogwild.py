"""Hogwild: the parent makes a model on the GPU, children train it without locks, and tensors go back through a queue."""
import argparse

import torch
import torch.multiprocessing as mp
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--children", type=int, default=2)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--width", type=int, default=1024)
parser.add_argument("--device", default="cuda")


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(784, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))

    def forward(self, x):
        return self.layers(x)


def train(rank, args, model, queue, done):
    torch.manual_seed(rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.5)
    for _ in range(args.steps):
        images, labels = torch.randn(64, 784).to(args.device), torch.randint(0, 10, (64,)).to(args.device)
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    used = torch.cuda.max_memory_allocated() if args.device == "cuda" else 0
    print(f"child {rank} counted {used}", flush=True)
    queue.put((rank, loss.detach()))
    done.wait()  # who sends a tensor of the GPU keeps it until it was received


def main():
    args = parser.parse_args()
    mp.set_start_method("spawn")
    model = Net(args.width).to(args.device)
    model.share_memory()
    queue, done = mp.Queue(), mp.Event()
    children = [mp.Process(target=train, args=(rank, args, model, queue, done)) for rank in range(args.children)]
    for child in children:
        child.start()
    for _ in children:
        rank, loss = queue.get()
        print(f"child {rank} sent a {tuple(loss.shape)} of {loss.device}")
        del loss
    done.set()
    for child in children:
        child.join()
    assert all(child.exitcode == 0 for child in children), [child.exitcode for child in children]
    print(f"parent counted {torch.cuda.max_memory_allocated()}")


if __name__ == "__main__":
    main()
