"""Train a mixture of experts on random tokens with FSDP and expert parallelism. Needs nothing but PyTorch.

    torchrun --nproc-per-node 8 train_moe.py --model 8x7b --ep 8
    torchrun --nnodes 8 --nproc-per-node 8 train_moe.py --model 64x3b --ep 16
"""
import argparse
import os

import torch
import torch.distributed as dist
from checkpointing import checkpoint_layers
from llama import MODELS, Llama
from torch import nn
from torch.distributed._functional_collectives import all_to_all_single_autograd
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn import functional as F


class Experts(nn.Module):
    """This rank's experts, each with the tokens that all ranks of the group sent."""

    def __init__(self, config, count):
        super().__init__()
        self.w1 = nn.Parameter(torch.empty(count, config.width, config.hidden))
        self.w2 = nn.Parameter(torch.empty(count, config.hidden, config.width))
        self.w3 = nn.Parameter(torch.empty(count, config.width, config.hidden))

    def forward(self, x):
        return torch.bmm(F.silu(torch.bmm(x, self.w1)) * torch.bmm(x, self.w3), self.w2)


class Mixture(nn.Module):
    """Each token goes to its best experts; what is more than an expert's capacity is dropped."""

    def __init__(self, config, group, capacity):
        super().__init__()
        self.config, self.group, self.capacity = config, group, capacity
        self.router = nn.Linear(config.width, config.experts, bias=False)
        self.experts = Experts(config, config.experts // group.size())

    def exchange(self, x):
        """[experts of all ranks, capacity] to [all ranks, own experts, capacity], and back."""
        return all_to_all_single_autograd(x.flatten(0, 1), None, None, self.group).view_as(x)

    def forward(self, x):
        tokens = x.flatten(0, 1)
        count, experts, ranks = len(tokens), self.config.experts, self.group.size()
        scores = F.softmax(self.router(tokens).float(), dim=-1)
        weights, chosen = scores.topk(self.config.top_k, dim=-1)
        capacity = int(self.capacity * count * self.config.top_k / experts)
        taken = F.one_hot(chosen.flatten(), experts).cumsum(0)
        place = taken.gather(1, chosen.view(-1, 1)).squeeze(1) - 1
        slot = torch.where(place < capacity, chosen.flatten() * capacity + place, experts * capacity)  # last: dropped

        source = tokens.repeat_interleave(self.config.top_k, dim=0)
        sent = tokens.new_zeros(experts * capacity + 1, tokens.shape[1]).index_copy(0, slot, source)
        own = self.exchange(sent[:-1].view(experts, capacity, -1)).view(ranks, -1, capacity, tokens.shape[1])
        done = self.experts(own.transpose(0, 1).flatten(1, 2)).view(-1, ranks, capacity, tokens.shape[1])
        back = self.exchange(done.transpose(0, 1).reshape(experts, capacity, -1)).flatten(0, 1)

        back = torch.cat([back, back.new_zeros(1, back.shape[1])]).index_select(0, slot)
        return (back.view(count, -1, back.shape[1]) * weights.unsqueeze(-1).type_as(back)).sum(1).view_as(x)


def build(args, config, mesh):
    with torch.device("meta"):
        model = Llama(config, feed_forward=lambda c: Mixture(c, mesh.get_group("ep"), args.capacity))
    if args.checkpoint != "none":
        checkpoint_layers(model, args.checkpoint)
    policy = MixedPrecisionPolicy(torch.bfloat16, torch.float32)
    everyone = mesh._flatten("dp_ep")
    for layer in model.layers.values():
        fully_shard(layer.feed_forward.experts, mesh=mesh["dp"], mp_policy=policy)
        fully_shard(layer, mesh=everyone, mp_policy=policy)
    fully_shard(model, mesh=everyone, mp_policy=policy)
    model.to_empty(device="cuda")
    with torch.no_grad():
        model.init_weights()
    return model.train()


def clip(dense, experts, mesh):
    """Clips to a norm of 1. Gradients of experts are sums over the ranks of their group, not yet means."""
    for parameter in experts:
        parameter.grad.div_(mesh["ep"].size())
    squares = nn.utils.get_total_norm([p.grad for p in experts]).full_tensor() ** 2
    dist.all_reduce(squares, group=mesh.get_group("ep"))
    norm = (squares + nn.utils.get_total_norm([p.grad for p in dense]).full_tensor() ** 2) ** 0.5
    for parameters in (dense, experts):
        nn.utils.clip_grads_with_norm_(parameters, 1.0, norm)


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=[m for m in MODELS if MODELS[m].experts], default="8x7b")
    parser.add_argument("--batch", type=int, default=1, help="sequences of a rank and step")
    parser.add_argument("--length", type=int, default=4096)
    parser.add_argument("--ep", type=int, default=8, help="ranks that share the experts out")
    parser.add_argument("--capacity", type=float, default=1.25, help="of an expert, as a factor of its even share")
    parser.add_argument("--checkpoint", choices=["none", "full"], default="full")
    parser.add_argument("--steps", type=int, default=10)
    return parser.parse_args()


def main():
    args = options()
    config = MODELS[args.model]
    config.length = args.length
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    mesh = init_device_mesh("cuda", (dist.get_world_size() // args.ep, args.ep), mesh_dim_names=("dp", "ep"))

    model = build(args, config, mesh)
    experts = [p for name, p in model.named_parameters() if ".experts." in name]
    dense = [p for name, p in model.named_parameters() if ".experts." not in name]
    groups = [{"params": dense}, {"params": experts}]
    optimizer = torch.optim.AdamW(groups, lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1)

    for step in range(args.steps):
        text = torch.randint(0, config.vocabulary, (args.batch, args.length + 1)).to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(text[:, :-1]).flatten(0, 1).float(), text[:, 1:].flatten())
        loss.backward()
        clip(dense, experts, mesh)
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step}: loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
