"""Training on several cards in the ways that large trainers have: ZeRO as DeepSpeed's stages cut it, tensor parallelism as in Megatron,
FSDP2 with torch.compile and activation checkpointing as in torchtitan's debug model."""
import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("how", choices=("zero1", "zero3", "tensor", "titan", "ddp-hook"))
parser.add_argument("--compile", action="store_true")
options = parser.parse_args()
WIDTH, HEADS, LAYERS, VOCABULARY = 128, 4, 2, 512
dist.init_process_group("nccl")
rank, world = dist.get_rank(), dist.get_world_size()
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
torch.manual_seed(0)


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return F.rms_norm(x, (WIDTH,), self.weight)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))

    def forward(self, x):
        q, k, v = (layer(x).unflatten(-1, [-1, WIDTH // HEADS]).transpose(1, 2) for layer in (self.wq, self.wk, self.wv))
        return self.wo(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))


class Feed(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.w2, self.w3 = nn.Linear(WIDTH, 256, bias=False), nn.Linear(256, WIDTH, bias=False), nn.Linear(WIDTH, 256, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.feed, self.before, self.behind = Attention(), Feed(), Norm(), Norm()

    def forward(self, x):
        x = x + self.attention(self.before(x))
        return x + self.feed(self.behind(x))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.layers = nn.Embedding(VOCABULARY, WIDTH), nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.out = Norm(), nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.out(self.norm(x))


def titan():
    from torch.distributed._composable.fsdp import MixedPrecisionPolicy, fully_shard
    from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
    with torch.device("meta"):
        model = Llama()
    mesh = init_device_mesh("cuda", (world,), mesh_dim_names=("dp",))
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for number, layer in enumerate(model.layers):
        layer = checkpoint_wrapper(layer)
        if options.compile:
            layer = torch.compile(layer)
        model.layers[number] = layer
        fully_shard(layer, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    model.to_empty(device="cuda")
    with torch.no_grad():
        for value in model.parameters():
            nn.init.trunc_normal_(value, std=0.02)
    return model, torch.optim.AdamW(model.parameters(), fused=True)


def tensor():
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, SequenceParallel, parallelize_module
    model = Llama().cuda()
    mesh = init_device_mesh("cuda", (world,), mesh_dim_names=("tp",))
    parallelize_module(model, mesh, {"embed": RowwiseParallel(input_layouts=Replicate()), "out": ColwiseParallel(output_layouts=Replicate())})
    for layer in model.layers:
        parallelize_module(layer, mesh, {f"attention.{name}": ColwiseParallel() for name in ("wq", "wk", "wv")}
                           | {"attention.wo": RowwiseParallel(), "feed.w1": ColwiseParallel(), "feed.w3": ColwiseParallel(), "feed.w2": RowwiseParallel()})
    return model, torch.optim.AdamW(model.parameters(), foreach=False)


def zero1():
    from torch.distributed.optim import ZeroRedundancyOptimizer
    model = nn.parallel.DistributedDataParallel(Llama().cuda())
    return model, ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.AdamW, lr=1e-3)


def zero3():
    from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy
    model = FullyShardedDataParallel(Llama().cuda(), auto_wrap_policy=ModuleWrapPolicy({Block}), sharding_strategy=ShardingStrategy.FULL_SHARD,
                                     device_id=torch.cuda.current_device(), use_orig_params=True)
    return model, torch.optim.AdamW(model.parameters())


def ddp_hook():
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook
    model = nn.parallel.DistributedDataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(
        nn.Sequential(nn.Embedding(VOCABULARY, WIDTH), nn.Conv1d(48, 48, 3, padding=1), nn.BatchNorm1d(48), nn.Linear(WIDTH, VOCABULARY))).cuda(),
        gradient_as_bucket_view=True)
    model.register_comm_hook(None, bf16_compress_hook)
    return model, torch.optim.SGD(model.parameters(), 0.1)


model, optimizer = {"titan": titan, "tensor": tensor, "zero1": zero1, "zero3": zero3, "ddp-hook": ddp_hook}[options.how]()
for step in range(5):
    ids = torch.randint(0, VOCABULARY, (4, 48)).cuda()
    loss = F.cross_entropy(model(ids).flatten(0, 1).float(), ids.flatten())
    loss.backward()
    if options.how in ("titan", "zero1"):
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    seen = loss.detach().clone()
    dist.all_reduce(seen, dist.ReduceOp.AVG)
    if rank == 0:
        print(f"step {step}: {seen.item():.3f}", flush=True)
dist.destroy_process_group()
