"""A network of timm in mixed precision, as timm's own benchmark runs it: fp16 autocast, NCHW, a synchronization after each step.

    timm_bench.py --rows FILE        columns model, infer_batch_size and infer_img_size, or train_batch_size and train_img_size
"""
import argparse

import timm
import timm.layers
import torch

import rows

STEPS = 3


def infer(row):
    """Normalisations stay in the lower precision (the benchmark's --fast-norm): the published times of networks with group or channel
    norms, on two cards, are those of this option and far from those without it."""
    timm.layers.set_fast_norm()
    size = int(row["infer_img_size"])
    with torch.device("cuda"):
        model = build(row["model"], size).eval()
        inputs = torch.randn(int(row["infer_batch_size"]), 3, size, size)
    with torch.no_grad():
        for _ in range(STEPS):
            with torch.autocast("cuda", dtype=torch.float16):
                model(inputs)
            torch.cuda.synchronize()


def train(row):
    timm.layers.set_fused_attn(False)
    torch.backends.cudnn.benchmark = True
    size, batch = int(row["train_img_size"]), int(row["train_batch_size"])
    with torch.device("cuda"):
        model = build(row["model"], size).train()
        inputs, targets = torch.randn(batch, 3, size, size), torch.randint(0, 1000, (batch,))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9, nesterov=True, foreach=False)
    criterion = torch.nn.CrossEntropyLoss()
    for _ in range(STEPS):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            output = model(inputs)
        criterion(output, targets).backward()
        optimizer.step()
        torch.cuda.synchronize()


def build(name, size):
    """The image size is an argument of some networks; others take any."""
    try:
        return timm.create_model(name, img_size=size)
    except TypeError:
        return timm.create_model(name)


def run(row):
    (train if "train_batch_size" in row else infer)(row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", required=True)
    rows.serve(parser.parse_args().rows, run)


if __name__ == "__main__":
    main()
