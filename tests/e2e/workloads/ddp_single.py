"""A small CNN in DistributedDataParallel; start it with torchrun."""
import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=64, help="per process")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--optimizer", default="AdamW", help="a class of torch.optim")
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()

    local_rank = int(os.environ["LOCAL_RANK"])
    if args.device == "cuda":
        device = torch.device("cuda", local_rank)
        torch.cuda.set_device(device)
        dist.init_process_group("nccl")
    else:
        device = torch.device(args.device)
        dist.init_process_group("gloo")

    w = args.width
    model = nn.Sequential(
        nn.Conv2d(3, w, 3, padding=1), nn.BatchNorm2d(w), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(w, 2 * w, 3, padding=1), nn.BatchNorm2d(2 * w), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(2 * w, 4 * w, 3, padding=1), nn.BatchNorm2d(4 * w), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * w, 10),
    ).to(device)
    model = DistributedDataParallel(model, device_ids=[local_rank] if device.type == "cuda" else None)
    optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-3)

    samples = args.batch * args.steps * dist.get_world_size()
    dataset = TensorDataset(torch.randn(samples, 3, 32, 32), torch.randint(0, 10, (samples,)))
    loader = DataLoader(dataset, batch_size=args.batch, sampler=DistributedSampler(dataset))
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    dist.all_reduce(loss.detach())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
