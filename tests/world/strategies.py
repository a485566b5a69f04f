"""strategies.py NAME: a small model trained by one strategy, for ranks of tests/world/forked.py. Each rank prints "peak RANK
ALLOCATED RESERVED" as PyTorch counts them, after each step.

What needs a value of another rank is in it on purpose: a mesh of two dimensions, a pipeline that is not told its shapes, hooks that compare, a
flag of rank 0 that decides whether there is anything to train."""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh

NAME = sys.argv[1]
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
WIDTH, BATCH = 256, 32


def blocks(count=2):
    return nn.Sequential(*[nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)) for _ in range(count)])


def hybrid():
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cuda", (2, world // 2), mesh_dim_names=("replicate", "shard"))
    model = blocks().cuda()
    for block in model:
        fully_shard(block, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def two_dimensions():
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    mesh = init_device_mesh("cuda", (2, world // 2), mesh_dim_names=("dp", "tp"))
    model = blocks().cuda()
    for block in model:
        parallelize_module(block, mesh["tp"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
        fully_shard(block, mesh=mesh["dp"])
    return fully_shard(model, mesh=mesh["dp"])


def fsdp1(policy, **more):
    from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy

    if policy == "HYBRID_SHARD":
        more["device_mesh"] = init_device_mesh("cuda", (2, world // 2), mesh_dim_names=("replicate", "shard"))
    return FullyShardedDataParallel(blocks(), device_id=rank, sharding_strategy=getattr(ShardingStrategy, policy), sync_module_states=True,
                                    auto_wrap_policy=ModuleWrapPolicy({nn.Linear}), **more)


def offloaded():
    from torch.distributed.fsdp import CPUOffload

    return fsdp1("FULL_SHARD", cpu_offload=CPUOffload(offload_params=True))


def hooked(hook):
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook

    model = nn.parallel.DistributedDataParallel(blocks().cuda())
    if hook == "power":
        model.register_comm_hook(powerSGD_hook.PowerSGDState(None, start_powerSGD_iter=2), powerSGD_hook.powerSGD_hook)
    else:
        model.register_comm_hook(None, getattr(default_hooks, f"{hook}_compress_hook"))
    return model


def local_sgd():
    from torch.distributed.algorithms.ddp_comm_hooks.post_localSGD_hook import PostLocalSGDState, post_localSGD_hook

    model = nn.parallel.DistributedDataParallel(blocks().cuda())
    model.register_comm_hook(PostLocalSGDState(None, dist.new_subgroups(2)[0], start_localSGD_iter=2), post_localSGD_hook)
    return model


def flag():
    """As Megatron does: rank 0 of the group alone knows whether to train."""
    found = torch.tensor([1, 1, 0] if rank == 0 else [0, 0, 0], dtype=torch.long, device="cuda")
    dist.broadcast(found, 0)
    if not found[0].item():
        sys.exit()
    return nn.parallel.DistributedDataParallel(blocks().cuda())


def pipeline():
    """The shapes go from stage to stage as objects."""
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B

    model = blocks(1).cuda()
    stage = PipelineStage(model, rank, world, torch.device("cuda", rank))
    schedule = Schedule1F1B(stage, n_microbatches=4, loss_fn=lambda y, target: (y - target).pow(2).mean())

    def step():
        x, target = torch.randn(BATCH, WIDTH, device="cuda"), torch.randn(BATCH, WIDTH, device="cuda")
        if rank == 0:
            schedule.step(x)
        elif rank == world - 1:
            schedule.step(target=target)
        else:
            schedule.step()

    return model, step


WAYS = {"hybrid": hybrid, "two_dimensions": two_dimensions, "offloaded": offloaded, "local_sgd": local_sgd, "flag": flag,
        "pipeline": pipeline, "fp16": lambda: hooked("fp16"), "bf16": lambda: hooked("bf16"), "power": lambda: hooked("power"),
        **{policy: lambda policy=policy: fsdp1(policy) for policy in ("FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD")}}

made = WAYS[NAME]()
model, step = made if isinstance(made, tuple) else (made, None)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    if step:
        step()
    else:
        model(torch.randn(BATCH, WIDTH, device="cuda")).sum().backward()
    sys.stdout.write(f"peak {rank} {torch.cuda.max_memory_allocated()} {torch.cuda.max_memory_reserved()}\n")  # in one piece
    sys.stdout.flush()
    optimizer.step()
    optimizer.zero_grad()
