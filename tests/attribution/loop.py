"""A small training in many styles, told by flags. Before its last step it prints what the memory of its tensors is for,
from PyTorch's own objects: the test compares that with the report. All tensors are small, so the allocator gives every
one a block of its own, rounded up to 512 bytes."""
import argparse
import copy
import json

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--optimizer", default="Adam")
parser.add_argument("--amp", action="store_true")
parser.add_argument("--accumulate", type=int, default=1)
parser.add_argument("--checkpoint", choices=("reentrant", "plain"))
parser.add_argument("--ema", action="store_true")
parser.add_argument("--two", action="store_true", help="two models, two optimizers")
parser.add_argument("--parts", action="store_true", help="the parts of the model are called, never the model")
parser.add_argument("--closure", action="store_true", help="the whole step inside optimizer.step()")
parser.add_argument("--frozen", action="store_true", help="half of the parameters do not train")
args = parser.parse_args()


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.norm = nn.BatchNorm1d(width)
        self.second = nn.Linear(width, width)

    def forward(self, x):
        return x + self.second(torch.relu(self.norm(self.first(x))))


class Net(nn.Module):
    def __init__(self, width=96, depth=3):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        for block in self.blocks:
            if args.checkpoint:
                x = checkpoint(block, x, use_reentrant=args.checkpoint == "reentrant")
            else:
                x = block(x)
        return self.head(x)


def rounded(tensors):
    return sum(-(-tensor.untyped_storage().nbytes() // 512) * 512 for tensor in tensors if tensor.is_cuda)


models = [Net().cuda()] + ([Net(depth=2).cuda()] if args.two else [])
if args.frozen:
    for parameter in models[0].blocks[0].parameters():
        parameter.requires_grad_(False)
average = copy.deepcopy(models[0]) if args.ema else None
optimizers = [getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-3) for model in models]
criterion = nn.CrossEntropyLoss()


def call(model, x):
    if not args.parts:
        return model(x)
    for block in model.blocks:
        x = block(x)
    return model.head(x)


def forward_and_backward(model):
    for _ in range(args.accumulate):
        x = torch.randn(64, 96).cuda()
        x.requires_grad_(args.checkpoint == "reentrant")
        y = torch.randint(0, 10, (64,)).cuda()
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=args.amp):
            loss = criterion(call(model, x), y)
        loss.backward()
        if args.closure:
            return loss


def expect():
    every = models + ([average] if average else [])
    states = [value for optimizer in optimizers for state in optimizer.state.values() for value in state.values()
              if isinstance(value, torch.Tensor)]
    print("EXPECT", json.dumps({
        "parameters": rounded(p for model in every for p in model.parameters()),
        "gradients": rounded(p for model in models for p in model.parameters() if p.requires_grad),
        "optimizer": rounded(states),
        "buffers": rounded(b for model in every for b in model.buffers()),
        "allocated": torch.cuda.memory_allocated(),
    }), flush=True)


for step in range(4):
    for model, optimizer in zip(models, optimizers):
        optimizer.zero_grad()
        if args.closure:
            if step == 3:
                expect()
            optimizer.step(lambda: forward_and_backward(model))
            continue
        forward_and_backward(model)
        if step == 3 and model is models[-1]:
            expect()
        optimizer.step()
