"""Allocates until the GPU is full, and shows what PyTorch says then."""
import argparse

import torch

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--block", type=int, default=256, help="MiB per allocation")
parser.add_argument("--limit", type=int, default=256, help="give up after this many GiB")
args = parser.parse_args()

held = []
try:
    while len(held) * args.block < args.limit * 1024:
        held.append(torch.empty(args.block * 2**20, dtype=torch.uint8, device="cuda"))
except torch.cuda.OutOfMemoryError as error:
    print(f"full after {len(held)} blocks of {args.block} MiB")
    print(error)
else:
    print(f"{args.limit} GiB fit")
