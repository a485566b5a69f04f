"""Multilayer perceptrons, as workloads/mlp.py trains them: samples from pageable memory, a pass of two samples before, the loss read twice."""
import torch
from torch import nn

import mlp as workload


class Family:
    branches = huge = False

    def __init__(self, row):
        self.row, self.batch = row, int(row["batch"])
        self.width, self.outputs = int(row["input"]), int(row["output"])
        self.batches = {}  # by samples: pages of the host that were touched once need not be touched again
        self.criterion = nn.CrossEntropyLoss() if self.outputs > 1 else nn.BCEWithLogitsLoss()

    def build(self):
        return workload.build(self.row)

    def inputs(self, samples):
        return torch.empty(samples, self.width)

    def before(self, model):
        model(self.inputs(2).cuda())

    def data(self, samples):
        if samples not in self.batches:
            self.batches[samples] = self.inputs(samples), torch.zeros(samples, dtype=torch.int64)
        return self.batches[samples]

    def refuses(self, samples):
        """One sample cannot be normalized over a batch: the job ends there with an error."""
        return samples == 1 and self.row["batchnorm"] != "0"

    def labels(self, labels):
        return labels.view(-1, 1).float() if self.outputs == 1 else labels

    def after(self, outputs, labels, loss):
        loss.item()
        loss.item()
