"""A small transformer, trained by one rank in each way that PyTorch distributes a training; prints a line for each with PyTorch's own
counters. By the environment that torchrun gives a rank.

    train.py WAY...           the ways one after the other, in one process and one world
"""
import gc
import os
import sys

import torch
import torch.distributed as dist
from torch import nn

WIDTH, LAYERS, ROWS, TOKENS, STEPS = 96, 4, 4, 24, 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH + 8)  # a size that few worlds divide
        self.down = nn.Linear(4 * WIDTH + 8, WIDTH)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


def blocks(count=LAYERS):
    torch.manual_seed(0)
    return nn.Sequential(*(Block() for _ in range(count))).cuda()


def optimize(parameters, step):
    parameters = list(parameters)
    # Plain tensors and distributed ones, or those of two meshes, cannot stand in one list.
    mixed = len({(type(parameter.data), getattr(parameter.data, "device_mesh", None)) for parameter in parameters}) > 1
    optimizer = torch.optim.AdamW(parameters, foreach=False if mixed else None)
    for _ in range(STEPS):
        step()
        optimizer.step()
        optimizer.zero_grad()


def train(model):
    optimize(model.parameters(), lambda: model(torch.randn(ROWS, TOKENS, WIDTH, device="cuda")).square().mean().backward())


def mesh(*shape, names):
    return dist.device_mesh.init_device_mesh("cuda", shape, mesh_dim_names=names)


def in_two(size):
    return (size // 2, 2)


# ---- the ways ----


def ddp(size):
    train(nn.parallel.DistributedDataParallel(blocks(), device_ids=[torch.cuda.current_device()], bucket_cap_mb=1))


def zero(size):
    from torch.distributed.optim import ZeroRedundancyOptimizer

    model = nn.parallel.DistributedDataParallel(blocks(), device_ids=[torch.cuda.current_device()])
    optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.AdamW)
    for _ in range(STEPS):
        model(torch.randn(ROWS, TOKENS, WIDTH, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def fsdp1(size):
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy

    train(FullyShardedDataParallel(blocks(), auto_wrap_policy=ModuleWrapPolicy({Block}), device_id=torch.cuda.current_device()))


def sharded(model, over):
    from torch.distributed.fsdp import fully_shard

    for block in model:
        fully_shard(block, mesh=over)
    return fully_shard(model, mesh=over)


def fsdp2(size):
    train(sharded(blocks(), mesh(size, names=("dp",))))


def hybrid(size):
    train(sharded(blocks(), mesh(*in_two(size), names=("replicate", "shard"))))


def split(model, over):
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    for block in model:
        parallelize_module(block, over, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    return model


def tp(size):
    train(split(blocks(), mesh(size, names=("tp",))))


def tp_fsdp2(size):
    both = mesh(*in_two(size), names=("dp", "tp"))
    train(sharded(split(blocks(), both["tp"]), both["dp"]))


def pipeline(model, index, stages, group=None):
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B

    micro = 2 * stages
    given, made = (torch.empty(1, TOKENS, WIDTH, device="meta", requires_grad=grad) for grad in (index > 0, True))
    stage = PipelineStage(model, index, stages, torch.device("cuda", torch.cuda.current_device()), input_args=(given,), output_args=(made,),
                          group=group)
    schedule = Schedule1F1B(stage, micro, loss_fn=lambda output, target: (output - target).square().mean())
    batch = torch.randn(micro, TOKENS, WIDTH, device="cuda")
    inputs, target = (batch,) if index == 0 else (), {"target": batch} if index == stages - 1 else {}
    optimize(model.parameters(), lambda: schedule.step(*inputs, **target))


def stage_of(index, stages):
    return blocks(1 + (index == stages - 1))  # the last stage is larger


def pp(size):
    pipeline(stage_of(dist.get_rank(), size), dist.get_rank(), size)


def three_axes(size):
    """Stages of two, in each of which tensors are split in two and shards are kept by the rest."""
    all_three = mesh(2, size // 4, 2, names=("pp", "dp", "tp"))
    index = all_three.get_local_rank("pp")
    model = sharded(split(stage_of(index, 2), all_three["tp"]), all_three["dp"])
    pipeline(model, index, 2, all_three.get_group("pp"))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.inward, self.outward = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (part.unflatten(2, (4, -1)).transpose(1, 2) for part in self.inward(x).chunk(3, dim=2))
        return x + self.outward(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))


def cp(size):
    """One sequence, whatever the world: the parts of activations become smaller with it."""
    from torch.distributed.tensor.experimental import context_parallel

    over = mesh(size, names=("cp",))
    model = nn.Sequential(Attention(), Attention()).cuda().bfloat16()

    def step():
        x = torch.randn(ROWS, 512, WIDTH, device="cuda", dtype=torch.bfloat16)
        with context_parallel(over, buffers=[x], buffer_seq_dims=[1], no_restore_buffers={x}):
            model(x).float().square().mean().backward()

    optimize(model.parameters(), step)


class Experts(nn.Module):
    """Two experts a rank. A token goes to the best one, and no more of them than an expert has room for."""

    def __init__(self, group, room=8):
        super().__init__()
        self.group, self.room, self.count = group, room, 2 * group.size()
        self.router = nn.Linear(WIDTH, self.count)
        self.up, self.down = (nn.Parameter(torch.randn(2, *shape, device="cuda")) for shape in ((WIDTH, 2 * WIDTH), (2 * WIDTH, WIDTH)))

    def exchange(self, x):
        from torch.distributed._functional_collectives import all_to_all_single_autograd

        return all_to_all_single_autograd(x.contiguous(), None, None, self.group)

    def forward(self, x):
        tokens = x.flatten(0, 1)
        weight, chosen = self.router(tokens).softmax(1).max(1)
        place = nn.functional.one_hot(chosen, self.count).cumsum(0).gather(1, chosen[:, None]).squeeze(1) - 1
        slot = torch.where(place < self.room, chosen * self.room + place, self.count * self.room)  # the last one: dropped
        sent = tokens.new_zeros(self.count * self.room + 1, WIDTH).index_copy(0, slot, tokens)[:-1]
        own = self.exchange(sent).view(self.group.size(), 2, self.room, WIDTH).transpose(0, 1).flatten(1, 2)
        done = torch.bmm(torch.relu(torch.bmm(own, self.up)), self.down)
        back = self.exchange(done.view(2, self.group.size(), self.room, WIDTH).transpose(0, 1).flatten(0, 2))
        back = torch.cat([back, back.new_zeros(1, WIDTH)]).index_select(0, slot)
        return x + (back * weight[:, None]).view_as(x)


def ep(size):
    group = mesh(size, names=("ep",)).get_group("ep")
    train(nn.Sequential(*(Experts(group) for _ in range(2))).cuda())


WAYS = {function.__name__: function for function in (ddp, zero, fsdp1, fsdp2, hybrid, tp, tp_fsdp2, pp, three_axes, cp, ep)}


def settle():
    """Until PyTorch has let go of the tensors of the last collectives: newer releases free them with the next one of the group."""
    gc.collect()
    dist.all_reduce(torch.zeros(1, device="cuda"))


def measured(way):
    """Peaks and ends of a way, after what the ones before have left."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    WAYS[way](dist.get_world_size())
    torch.cuda.synchronize()
    peaks = [torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()]
    settle()
    return [*peaks, torch.cuda.memory_allocated(), torch.cuda.memory_reserved()]


def main(ways):
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    for way in ways:
        row = ("counters", dist.get_world_size(), dist.get_rank(), way, *measured(way))
        os.write(1, (" ".join(map(str, row)) + "\n").encode())  # at once: other ranks write there as well


if __name__ == "__main__":
    main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)  # all ranks of a live world end alike, whoever is first
