"""Trains a synthetic MLP as its truth was measured: 4,096 samples on the host, shuffled, the last batch smaller, Adam, cross entropy
over a softmax, the loss read back twice in each step, and a forward pass of two samples before.

    mlp.py --rows FILE           columns input, output, depth, arch, batch, activation, dropout (empty: none) and batchnorm (0 or 1)
    mlp.py --model INPUT,OUTPUT,DEPTH,ACTIVATION,DROPOUT,BATCHNORM[,ARCH] --batch N

The four architectures are those of the public generator (GPUMemNet, NeuroNetGen_scripts/MLP): uniform keeps the width; pyramid halves it
in each layer, down to that of the output; bottleneck is a pyramid with one layer more; gradual takes off the same number in each.
"""
import argparse
import itertools

import torch
from torch import nn

import rows

ACTIVATIONS = {"elu": nn.ELU, "gelu": nn.GELU, "identity": nn.Identity, "leaky_relu": nn.LeakyReLU, "mish": nn.Mish, "prelu": nn.PReLU,
               "relu": nn.ReLU, "selu": nn.SELU, "softplus": nn.Softplus, "swish": nn.SiLU, "tanh": nn.Tanh}
MODEL = ("input", "output", "depth", "activation", "dropout", "batchnorm", "arch")
SAMPLES = 4096
# As many whole epochs are recorded as have so many steps, with their smaller batches; of a longer epoch so many full batches. Where the
# host's time is the measured one, it is the least of what steps that are alike took, so a few of them are wanted.
STEPS = 8


def widths(arch, inputs, outputs, depth):
    """Of the hidden layers."""
    if arch == "uniform":
        return [inputs] * depth
    if arch == "gradual":
        less = (inputs - outputs) // depth
        return [max(inputs - less * (i + 1), outputs) for i in range(depth)]
    if arch not in ("pyramid", "bottleneck"):
        raise SystemExit(f"there is no architecture {arch}")
    halves = itertools.accumulate(range(depth + (arch == "bottleneck")), lambda width, _: max(width // 2, outputs), initial=inputs)
    return list(halves)[1:]


def build(row):
    inputs, outputs = int(row["input"]), int(row["output"])
    layers, before = [], inputs
    for width in widths(row.get("arch") or "uniform", inputs, outputs, int(row["depth"])):
        layers.append(nn.Linear(before, width))
        layers += [nn.BatchNorm1d(width)] * (row["batchnorm"] != "0")
        layers.append(ACTIVATIONS[row["activation"]]())
        layers += [nn.Dropout(float(row["dropout"]))] if row["dropout"] else []
        before = width
    layers.append(nn.Linear(before, outputs))
    return nn.Sequential(*layers, nn.Softmax(dim=1) if outputs > 1 else nn.Sigmoid())


class Training:
    def __init__(self, row):
        self.width, self.outputs = int(row["input"]), int(row["output"])
        # On the device from the start: drawing weights on the host takes longer than all steps, and the same is allocated.
        with torch.device("meta"):
            model = build(row)
        self.model = model.to_empty(device="cuda")
        self.model(torch.randn(2, self.width).cuda())
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.criterion = nn.CrossEntropyLoss() if self.outputs > 1 else nn.BCEWithLogitsLoss()
        data = torch.utils.data.TensorDataset(torch.empty(SAMPLES, self.width), torch.zeros(SAMPLES, dtype=torch.int64))
        self.loader = torch.utils.data.DataLoader(data, batch_size=int(row["batch"]), shuffle=True)

    def run(self, steps):
        """What a step leaves behind, its outputs and its loss, is there until the next one has its own."""
        for inputs, labels in itertools.islice(self.loader, steps):
            inputs, labels = inputs.cuda(), labels.cuda()
            self.optimizer.zero_grad()
            output = self.model(inputs)
            if self.outputs == 1:
                labels = labels.view(-1, 1).float()
            loss = self.criterion(output, labels)
            loss.backward()
            self.optimizer.step()
            loss.item()
            loss.item()


def few_steps(row):
    """Enough to know how long a step takes on average. The first one, which makes the optimizer's state, is not looked at: after whole
    epochs one more step of the next has the smaller batch and the full ones in their proportion."""
    training = Training(row)
    batch = int(row["batch"])
    if SAMPLES % batch == 1 and row["batchnorm"] != "0":
        training.model(torch.randn(1, training.width).cuda())  # the last batch of the first epoch, which ends the real job with an error
    epochs = STEPS // -(-SAMPLES // batch)
    for _ in range(epochs):
        training.run(None)
    training.run(1 if epochs else STEPS)


def import_all():
    """What PyTorch imports when it is first needed, before rows are forked. Nothing here may wake CUDA."""
    torch.optim.Adam(nn.Linear(2, 2).parameters())
    with torch.device("meta"):
        nn.BatchNorm1d(2).to_empty(device="cpu")


def two_epochs(row):
    training = Training(row)
    training.run(None)
    training.run(None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--rows", "--model", "--batch", "--optimizer", "--zero-grad"):
        parser.add_argument(name)
    args = parser.parse_args()
    if args.rows:
        import_all()
        rows.serve(args.rows, few_steps)
    elif args.model:
        two_epochs({**dict(zip(MODEL, args.model.split(","))), "batch": args.batch})
    else:
        parser.error("--rows or --model is needed")


if __name__ == "__main__":
    main()
