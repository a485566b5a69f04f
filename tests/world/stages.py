"""A pipeline by hand, with known shapes, times data parallel: python stages.py STAGES. The first stage has an embedding, the last a head.
Prints what PyTorch counts: rank, allocated and reserved."""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh

WIDTH, BATCH, WORDS = 512, 64, 8192
stages = int(sys.argv[1])
world = int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
if world % stages:
    sys.exit(f"{stages} stages do not divide {world} ranks")
mesh = init_device_mesh("cuda", (stages, world // stages), mesh_dim_names=("pp", "dp"))
stage, group = mesh.get_local_rank("pp"), mesh.get_group("pp")
members = dist.get_process_group_ranks(group)
layers = [nn.Embedding(WORDS, WIDTH)] if not stage else []
layers += [nn.Linear(WIDTH, WIDTH) for _ in range(2)]
layers += [nn.Linear(WIDTH, WORDS)] if stage == stages - 1 else []
model = nn.parallel.DistributedDataParallel(nn.Sequential(*layers).cuda(), process_group=mesh.get_group("dp"))
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(10):
    if stage:
        x = torch.empty(BATCH, WIDTH, device="cuda", requires_grad=True)
        dist.recv(x.detach(), members[stage - 1], group=group)
    else:
        x = torch.zeros(BATCH, dtype=torch.long, device="cuda")
    y = model(x)
    if stage < stages - 1:
        dist.send(y.detach(), members[stage + 1], group=group)
        gradient = torch.empty_like(y)
        dist.recv(gradient, members[stage + 1], group=group)
        y.backward(gradient)
    else:
        y.sum().backward()
    if stage:
        dist.send(x.grad, members[stage - 1], group=group)
    optimizer.step()
    optimizer.zero_grad()
    print("counted:", dist.get_rank(), torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved(), flush=True)
dist.destroy_process_group()
