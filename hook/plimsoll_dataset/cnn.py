"""Convolutional networks of seven architectures, by the published distributions (docs/dataset.md).

In all but two of them `depth` blocks follow one another, a convolution of 3x3 with normalization, activation and dropout as the row says,
and the architecture says how many filters each has. A residual network has half as many pairs of blocks with a shortcut around each; a dense
one a quarter as many groups of four blocks, each of which sees what all before it in its group gave, with transitions between groups.
"""
import torch
from torch import nn

from .common import ACTIVATIONS, Pinned

MOST_FILTERS = 2048
GROWTH = 32   # filters of each block in a dense group
SMALLEST = 7  # a residual network shrinks its images no further


def block(row, inputs, outputs, kernel=3, stride=1, padding=1):
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, padding)]
    layers += [nn.BatchNorm2d(outputs)] * (row["batchnorm"] != "0")
    layers.append(ACTIVATIONS[row["activation"]]())
    layers += [nn.Dropout(float(row["dropout"]))] if row["dropout"] else []
    return nn.Sequential(*layers)


class Residual(nn.Module):
    def __init__(self, row, inputs, outputs, stride):
        super().__init__()
        self.first = block(row, inputs, outputs, stride=stride)
        self.second = block(row, outputs, outputs)
        normalized = nn.BatchNorm2d if row["batchnorm"] != "0" else nn.Identity
        same = inputs == outputs and stride == 1
        self.shortcut = nn.Identity() if same else nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride), normalized(outputs))

    def forward(self, x):
        around = self.shortcut(x)
        x = self.first(x)
        x = self.second(x)
        return x + around


class Dense(nn.Module):
    def __init__(self, row, inputs):
        super().__init__()
        self.blocks = nn.ModuleList(block(row, inputs + i * GROWTH, GROWTH) for i in range(4))

    def forward(self, x):
        found = [x]
        for each in self.blocks:
            new = each(torch.cat(found, 1))
            found.append(new)
        return torch.cat(found, 1)


class Transition(nn.Module):
    """Its activation is always ReLU, and it has no dropout."""

    def __init__(self, row, inputs, size):
        super().__init__()
        self.narrow = block({**row, "activation": "relu", "dropout": ""}, inputs, inputs // 2, 1, 1, 0)
        self.pool = nn.AvgPool2d(2, stride=2) if size > 1 else None

    def forward(self, x):
        x = self.narrow(x)
        return self.pool(x) if self.pool else x


def _grown(filters, factor, i):
    return min(int(filters * factor ** i), MOST_FILTERS)


def filters_of(arch, filters, depth):
    """Of each block of a network that is a chain."""
    ratio = MOST_FILTERS / filters
    if arch == "pyramid":
        return [_grown(filters, ratio ** (1 / depth), i) for i in range(depth)]
    if arch == "uniform":
        return [filters] * depth
    if arch == "bottleneck":
        factor = 2 if depth <= 2 else ratio ** (1 / (depth - 1))
        return [2 * filters] + [_grown(filters, factor, i) for i in range(depth - 1)]
    if arch == "gradual":
        return [_grown(filters, ratio ** (1 / (2 * depth)), i) for i in range(depth)]
    if arch == "hourglass":
        half = depth // 2
        back = ratio ** (1 / (depth - half))
        return [_grown(filters, ratio ** (1 / half), i) for i in range(half)] + \
            [max(int(filters * back ** (depth - i - 1)), filters) for i in range(half, depth)]
    raise SystemExit(f"there is no architecture {arch}")


class Network(nn.Module):
    def __init__(self, row):
        super().__init__()
        self.blocks = nn.ModuleList()
        arch, depth = row["arch"], int(row["depth"])
        make = {"residual": self._residual, "dense": self._dense}.get(arch, self._chain)
        last = make(row, arch, int(row["channels"]), int(row["filters"]), depth)
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(last, int(row["output"]))
        self.activation = nn.Softmax(dim=1) if int(row["output"]) > 1 else nn.Sigmoid()

    def _chain(self, row, arch, before, filters, depth):
        for outputs in filters_of(arch, filters, depth):
            self.blocks.append(block(row, before, outputs))
            before = outputs
        return before

    def _residual(self, row, arch, before, filters, depth):
        size, factor = int(row["input"]), (MOST_FILTERS / filters) ** (1 / depth)
        for i in range(depth // 2):
            outputs, stride = _grown(filters, factor, i), 2 if i % 2 == 1 and size > SMALLEST else 1
            self.blocks.append(Residual(row, before, outputs, stride))
            before, size = outputs, size // stride
            if size <= SMALLEST:
                break
        return before

    def _dense(self, row, arch, before, filters, depth):
        groups, size = depth // 4, int(row["input"])
        for i in range(groups):
            self.blocks.append(Dense(row, before))
            before += 4 * GROWTH
            if i % int(row["transition"]) == 0 and i != groups - 1:
                self.blocks.append(Transition(row, before, size))
                before, size = before // 2, max(1, size // 2)
        return before

    def forward(self, x):
        for each in self.blocks:
            x = each(x)
        x = self.pool(x)
        x = torch.flatten(x, 1)
        x = self.fc(x)
        return self.activation(x)


class Family(Pinned):
    def __init__(self, row):
        super().__init__(row)
        self.branches = row["arch"] in ("residual", "dense")
        self.criterion = nn.CrossEntropyLoss() if int(row["output"]) > 1 else nn.BCELoss()

    def build(self):
        return Network(self.row)

    def inputs(self, samples, **how):
        size = int(self.row["input"])
        return torch.empty(samples, int(self.row["channels"]), size, size, **how)

    def before(self, model):
        """The script prints a summary by a pass of a whole batch, which stays on the device."""
        batch = self.inputs(self.batch).cuda()
        model(batch)
        return batch

    def after(self, outputs, labels, loss):
        loss.item()
