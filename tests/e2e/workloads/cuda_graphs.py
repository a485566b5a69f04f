"""CUDA graphs: a captured step, a captured forward and backward, and make_graphed_callables."""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--mode", choices=["step", "backward", "callables"], default="backward")
parser.add_argument("--batch", type=int, default=128)
parser.add_argument("--width", type=int, default=1024)
parser.add_argument("--steps", type=int, default=4)
args = parser.parse_args()

device = torch.device("cuda")
model = nn.Sequential(
    nn.Linear(args.width, 4 * args.width), nn.ReLU(), nn.Dropout(0.1),
    nn.Linear(4 * args.width, args.width), nn.ReLU(),
    nn.Linear(args.width, 10),
).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, capturable=args.mode == "step")


def batch():
    return torch.randn(args.batch, args.width), torch.randint(0, 10, (args.batch,))


def forward_backward(inputs, labels):
    loss = criterion(model(inputs), labels)
    loss.backward()
    return loss


def warm_up(function, times=3):
    """Run on a side stream first, as capture requires."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(times):
            optimizer.zero_grad(set_to_none=True)
            function()
    torch.cuda.current_stream().wait_stream(stream)


if args.mode == "callables":
    sample = torch.randn(args.batch, args.width, device=device)
    model = torch.cuda.make_graphed_callables(model, (sample,))
    for step in range(args.steps):
        inputs, labels = (t.to(device) for t in batch())
        optimizer.zero_grad(set_to_none=True)
        forward_backward(inputs, labels)
        optimizer.step()
else:
    static_inputs, static_labels = (t.to(device) for t in batch())

    def captured():
        loss = forward_backward(static_inputs, static_labels)
        if args.mode == "step":
            optimizer.step()
        return loss

    warm_up(captured)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        static_loss = captured()
    for step in range(args.steps):
        inputs, labels = batch()
        static_inputs.copy_(inputs)
        static_labels.copy_(labels)
        graph.replay()
        if args.mode == "backward":
            optimizer.step()
    print(f"loss {static_loss.item():.4f}")
