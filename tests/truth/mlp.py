"""Trains a synthetic MLP of equal widths, as its truth was measured: 4,096 samples on the host, shuffled, the last batch smaller, Adam,
cross entropy over a softmax, two values read back in each step, and a forward pass of two samples before.

--model INPUT,OUTPUT,DEPTH,ACTIVATION,DROPOUT,BATCHNORM: DROPOUT is empty for none, BATCHNORM 0 or 1.
"""
import argparse

import torch
from torch import nn

ACTIVATIONS = {"elu": nn.ELU, "gelu": nn.GELU, "identity": nn.Identity, "leaky_relu": nn.LeakyReLU, "mish": nn.Mish, "prelu": nn.PReLU,
               "relu": nn.ReLU, "selu": nn.SELU, "softplus": nn.Softplus, "swish": nn.SiLU, "tanh": nn.Tanh}
SAMPLES = 4096


def build(width, outputs, depth, activation, dropout, batchnorm):
    layers = []
    for _ in range(depth):
        layers.append(nn.Linear(width, width))
        layers += [nn.BatchNorm1d(width)] * (batchnorm != "0")
        layers.append(ACTIVATIONS[activation]())
        layers += [nn.Dropout(float(dropout))] if dropout else []
    return nn.Sequential(*layers, nn.Linear(width, outputs), nn.Softmax(dim=1))


def main():
    parser = argparse.ArgumentParser()
    for name in ("--model", "--batch", "--optimizer", "--zero-grad"):
        parser.add_argument(name)
    args = parser.parse_args()
    width, outputs, depth, *rest = args.model.split(",")
    model = build(int(width), int(outputs), int(depth), *rest).cuda()
    model(torch.randn(2, int(width)).cuda())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    data = torch.utils.data.TensorDataset(torch.randn(SAMPLES, int(width)), torch.randint(0, int(outputs), (SAMPLES,)))
    for _ in range(2):
        for inputs, labels in torch.utils.data.DataLoader(data, batch_size=int(args.batch), shuffle=True):
            inputs, labels = inputs.cuda(), labels.cuda()
            optimizer.zero_grad()
            output = model(inputs)
            loss = criterion(output, labels)
            loss.backward()
            optimizer.step()
            loss.item()
            (output.argmax(1) == labels).sum().item()


main()
