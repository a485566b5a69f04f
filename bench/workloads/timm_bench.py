"""A network of timm as timm's own benchmark runs it: a few steps with a synchronization after each.

    timm_bench.py --rows FILE

Columns: model; infer_batch_size and infer_img_size, train_batch_size and train_img_size, or batch_size, image_size and mode (infer,
train); if they are there, layout (nchw, nhwc or channels_last) and precision (amp, fp32, fp16, bf16; empty is amp, which is autocast to fp16).
"""
import argparse
import contextlib

import timm
import timm.layers
import torch

import rows

STEPS = 3
TYPES = {"amp": torch.float32, "fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
LAYOUTS = {"nchw": torch.contiguous_format, "nhwc": torch.channels_last, "channels_last": torch.channels_last}


class Job:
    """What a row asks for, on the card."""

    def __init__(self, row, mode):
        batch, size = (int(row.get(f"{mode}_{own}") or row[name]) for own, name in (("batch_size", "batch_size"), ("img_size", "image_size")))
        precision = row.get("precision") or "amp"
        layout = {"memory_format": LAYOUTS[(row.get("layout") or "nchw").lower()], "dtype": TYPES[precision]}
        # As the benchmark does: made on the host, where values are computed, then moved.
        self.model = build(row["model"], size).to(device="cuda", **layout)
        self.inputs = torch.randn(batch, 3, size, size, device="cuda").to(**layout)
        self.targets = torch.randint(0, 1000, (batch,), device="cuda") if mode == "train" else None
        self.mixed = precision == "amp"

    def forward(self):
        with torch.autocast("cuda", dtype=torch.float16) if self.mixed else contextlib.nullcontext():
            return self.model(self.inputs)


def infer(row):
    """Normalisations stay in the lower precision (the benchmark's --fast-norm): the published times of networks with group or channel
    norms, on two cards, are those of this option and far from those without it."""
    timm.layers.set_fast_norm()
    job = Job(row, "infer")
    job.model.eval()
    with torch.no_grad():
        for _ in range(STEPS):
            job.forward()
            torch.cuda.synchronize()


def train(row):
    timm.layers.set_fused_attn(False)
    torch.backends.cudnn.benchmark = True
    job = Job(row, "train")
    job.model.train()
    optimizer = torch.optim.SGD(job.model.parameters(), lr=1e-4, momentum=0.9, nesterov=True, foreach=False)
    criterion = torch.nn.CrossEntropyLoss()
    for _ in range(STEPS):
        optimizer.zero_grad()
        criterion(job.forward(), job.targets).backward()
        optimizer.step()
        torch.cuda.synchronize()


def build(name, size):
    """The image size is an argument of some networks; others take any."""
    try:
        return timm.create_model(name, img_size=size)
    except TypeError:
        return timm.create_model(name)


def run(row):
    mode = row.get("mode") or ("train" if "train_batch_size" in row else "infer")
    (train if mode == "train" else infer)(row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", required=True)
    rows.serve(parser.parse_args().rows, run)


if __name__ == "__main__":
    main()
