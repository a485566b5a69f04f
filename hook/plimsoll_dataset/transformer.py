"""Transformers that classify token sequences, by the published distributions (docs/dataset.md)."""
import torch
from torch import nn

from .common import Pinned


class Network(nn.Module):
    def __init__(self, row):
        super().__init__()
        width = int(row["width"])
        self.embedding = nn.Embedding(int(row["vocabulary"]), width)
        self.positions = nn.Parameter(torch.zeros(1, int(row["sequence"]), width))
        layer = nn.TransformerEncoderLayer(width, int(row["heads"]), int(row["ff"]), float(row["dropout"]), batch_first=True)
        self.model = nn.TransformerEncoder(layer, int(row["depth"]))
        self.fc = nn.Linear(width, int(row["output"]))

    def forward(self, x):
        x = self.embedding(x) + self.positions
        x = self.model(x)
        x = x.mean(dim=1)
        return self.fc(x)


class Family(Pinned):
    huge = True  # a host may not have room for its parameters, even if nobody writes to them

    def __init__(self, row):
        super().__init__(row)
        self.criterion = nn.CrossEntropyLoss()

    def build(self):
        return Network(self.row)

    def inputs(self, samples, **how):
        return torch.zeros(samples, int(self.row["sequence"]), dtype=torch.int64, **how)

    def before(self, model):
        """The script tries a whole batch, then prints a summary by a second pass; the batch stays on the device."""
        batch = self.inputs(self.batch).cuda()
        model(batch)
        model(batch)
        return batch

    def after(self, outputs, labels, loss):
        loss.item()
        _, predicted = torch.max(outputs, 1)
        (predicted == labels).sum().item()
        return predicted
