"""Trains one of torchvision's networks on random images: the CNN workload of `plimsoll evaluate`.

The protocol of the published comparison (xMem): fp32, no pretrained weights, cross entropy, the model is moved to the GPU
before the optimizer is made, StepLR, torch.max over the outputs after the step. MobileNetV3 and MNASNet have 10 classes there,
all others 1000.
"""
import argparse
import re

import torch
import torchvision

TEN_CLASSES = ("mobilenet_v3_", "mnasnet")


def compact(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


def build_names():
    """Compact spellings of torchvision's classification networks, to their names: ResNet101, resnet-101, resnet_101."""
    names = {}
    for name in torchvision.models.list_models(module=torchvision.models):
        names[compact(name)] = name
    # Published spellings that are not torchvision's.
    for spelling, name in (("mobenetv3large", "mobilenet_v3_large"), ("mobenetv3small", "mobilenet_v3_small"),
                           ("mnasnet", "mnasnet1_0"), ("inceptionv3", "inception_v3")):
        names[spelling] = name
    return names


def build_model(name):
    known = build_names().get(compact(name))
    if not known:
        raise SystemExit(f"torchvision has no network called {name}")
    classes = 10 if known.startswith(TEN_CLASSES) else 1000
    return torchvision.models.get_model(known, weights=None, num_classes=classes), classes


def batches(args, classes):
    """What a DataLoader would give: tensors on the host."""
    images = torch.rand(args.batch, 3, args.image, args.image)
    labels = torch.randint(0, classes, (args.batch,))
    for _ in range(args.iterations):
        yield images, labels


def train(args):
    device = torch.device("cuda")
    model, classes = build_model(args.model)
    model.to(device)
    model.train()
    optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-3)
    criterion = torch.nn.CrossEntropyLoss()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=7, gamma=0.1)
    for inputs, labels in batches(args, classes):
        if args.zero_grad == 0:
            optimizer.zero_grad()
        inputs, labels = inputs.to(device), labels.to(device)
        outputs = model(inputs)
        if isinstance(outputs, tuple):  # GoogLeNet and Inception give their auxiliary outputs too
            outputs = outputs[0]
        loss = criterion(outputs, labels)
        if args.zero_grad == 1:
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        _, predictions = torch.max(outputs, 1)
        if args.zero_grad == 2:
            optimizer.zero_grad()
        scheduler.step()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--optimizer", default="SGD")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--zero-grad", type=int, choices=(0, 1, 2), default=1,
                        help="0: first in the loop, 1: between loss and backward (default), 2: after the step")
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--image", type=int, default=86, help="width and height")
    train(parser.parse_args())


main()
