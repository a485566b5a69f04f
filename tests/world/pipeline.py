"""torch.distributed.pipelining without shapes: each stage learns them from the one before. Prints what PyTorch counts."""
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

WIDTH, BATCH, PARTS = 512, 64, 4
world, rank = int(os.environ["WORLD_SIZE"]), int(os.environ["RANK"])
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(device)
dist.init_process_group("nccl")
first, last = rank == 0, rank == world - 1
module = nn.Sequential(*(nn.Linear(WIDTH, WIDTH) for _ in range(2 + 2 * last))).to(device)
stage = PipelineStage(module, rank, world, device)
schedule = Schedule1F1B(stage, PARTS, loss_fn=lambda output, target: (output - target).square().mean())
optimizer = torch.optim.AdamW(module.parameters())
x = torch.zeros(BATCH, WIDTH, device=device)
for _ in range(4):
    schedule.step(*([x] if first else []), **({"target": x} if last else {}))
    optimizer.step()
    optimizer.zero_grad()
    print("counted:", rank, torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved(), flush=True)
dist.destroy_process_group()
