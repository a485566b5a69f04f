"""Train a Llama 3 on random tokens with FSDP, tensor, context and pipeline parallelism. Needs nothing but PyTorch.

    torchrun --nproc-per-node 8 train_llama.py --model 8b
    torchrun --nnodes 32 --nproc-per-node 8 train_llama.py --model 70b --tp 8 --checkpoint full --batch 16
    torchrun --nnodes 128 --nproc-per-node 8 train_llama.py --model 405b --tp 8 --pp 16 --batch 32
"""
import argparse
import contextlib
import os

import torch
import torch.distributed as dist
from checkpointing import checkpoint_layers
from llama import MODELS, Llama
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe, ScheduleInterleaved1F1B
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor import parallel as tensor_parallel
from torch.nn import functional as F

SCHEDULES = {"gpipe": ScheduleGPipe, "1f1b": Schedule1F1B, "interleaved": ScheduleInterleaved1F1B}


def shard_tensors(model, mesh):
    """Tensor parallelism with sequence parallelism between the blocks (and a loss on sharded logits)."""
    column, row = tensor_parallel.ColwiseParallel, tensor_parallel.RowwiseParallel
    sequence, split = tensor_parallel.SequenceParallel, Shard(1)
    ends = {}
    if model.embedding is not None:
        ends["embedding"] = row(input_layouts=Replicate(), output_layouts=split)
    if model.output is not None:
        ends["norm"] = sequence()
        ends["output"] = column(input_layouts=split, output_layouts=Shard(-1), use_local_output=False)
    tensor_parallel.parallelize_module(model, mesh, ends)
    plan = {
        "attention_norm": sequence(),
        "attention": tensor_parallel.PrepareModuleInput(
            input_layouts=(split, None), desired_input_layouts=(Replicate(), None)
        ),
        "attention.wq": column(),
        "attention.wk": column(),
        "attention.wv": column(),
        "attention.wo": row(output_layouts=split),
        "ffn_norm": sequence(),
        "feed_forward": tensor_parallel.PrepareModuleInput(
            input_layouts=(split,), desired_input_layouts=(Replicate(),)
        ),
        "feed_forward.w1": column(),
        "feed_forward.w2": row(output_layouts=split),
        "feed_forward.w3": column(),
    }
    for layer in model.layers.values():
        tensor_parallel.parallelize_module(layer, mesh, plan)


def shard_fully(model, mesh, reshard):
    """FSDP2: one unit a layer, computed with in bfloat16, gradients reduced in float32."""
    options = {"mesh": mesh, "mp_policy": MixedPrecisionPolicy(torch.bfloat16, torch.float32)}
    layers = list(model.layers.values())
    for layer in layers:
        fully_shard(layer, reshard_after_forward=reshard and layer is not layers[-1], **options)
    fully_shard(model, reshard_after_forward=reshard, **options)


def stages_of(args, config, rank):
    """(index, layers) of the stages that a pipeline rank has; layers are shared out as evenly as they can be."""
    count = args.pp * (2 if args.schedule == "interleaved" else 1)
    bounds = [config.layers * i // count for i in range(count + 1)]
    return count, [(i, range(bounds[i], bounds[i + 1])) for i in range(rank, count, args.pp)]


def build(args, config, mesh, layers=None, first=True, last=True):
    with torch.device("meta"):
        model = Llama(config, layers, first, last)
    if args.tp > 1:
        shard_tensors(model, mesh["tp"])
    if args.checkpoint != "none":
        checkpoint_layers(model, args.checkpoint)
    if args.compile:
        for layer in model.layers.values():
            layer.compile(fullgraph=True)
    shard_fully(model, mesh["dp", "cp"]._flatten("dp_cp") if args.cp > 1 else mesh["dp"], reshard=args.pp == 1)
    model.to_empty(device="cuda")
    with torch.no_grad():
        model.init_weights()
    return model.train()


def loss_of(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten(0, 1))


def clip(parameters, mesh):
    """Clips to a norm of 1 over all ranks; a pipeline's stages have different parameters."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    norm = nn.utils.get_total_norm(gradients)
    norm = norm.full_tensor() if isinstance(norm, DTensor) else norm
    if mesh["pp"].size() > 1:
        norm = norm**2
        dist.all_reduce(norm, group=mesh.get_group("pp"))
        norm = norm**0.5
    nn.utils.clip_grads_with_norm_(parameters, 1.0, norm)


def split_sequences(mesh, models, tokens, targets):
    """Context parallelism: within it, this rank's part of each sequence."""
    from torch.distributed.tensor.experimental import context_parallel

    turns = [model.turns for model in models]
    return context_parallel(
        mesh["cp"], buffers=[tokens, targets, *turns], buffer_seq_dims=[1, 1] + [0] * len(turns),
        no_restore_buffers={tokens, targets},
    )


def pipeline(args, config, mesh, device):
    """The schedule, the models of this rank's stages, and whether they have the first and the last stage."""
    count, stages = stages_of(args, config, mesh.get_local_rank("pp"))
    microbatches = args.microbatches or args.batch
    shapes = {}
    models, parts = [], []
    for index, layers in stages:
        first, last = index == 0, index == count - 1
        model = build(args, config, mesh, layers, first, last)
        if not args.infer_shapes:
            size, length = args.batch // microbatches, args.length // args.cp
            computed = {"dtype": torch.bfloat16, "device": "meta", "requires_grad": True}
            tokens = torch.empty(size, length, dtype=torch.long, device="meta")
            hidden = torch.empty(size, length // args.tp, config.width, **computed)
            logits = torch.empty(size, length, config.vocabulary // args.tp, **computed)
            shapes = {"input_args": (tokens if first else hidden,), "output_args": (logits if last else hidden,)}
        parts.append(PipelineStage(model, index, count, device, group=mesh.get_group("pp"), **shapes))
        models.append(model)
    several = args.schedule == "interleaved"
    schedule = SCHEDULES[args.schedule](parts if several else parts[0], n_microbatches=microbatches, loss_fn=loss_of)
    return schedule, models, stages[0][0] == 0, stages[-1][0] == count - 1


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=[m for m in MODELS if not MODELS[m].experts], default="8b")
    parser.add_argument("--layers", type=int, help="fewer of the model's layers")
    parser.add_argument("--batch", type=int, default=2, help="sequences of a replica and step")
    parser.add_argument("--length", type=int, default=8192)
    parser.add_argument("--tp", type=int, default=1, help="tensor parallel ranks")
    parser.add_argument("--cp", type=int, default=1, help="context parallel ranks")
    parser.add_argument("--pp", type=int, default=1, help="stages of the pipeline")
    parser.add_argument("--microbatches", type=int, help="of a batch in the pipeline (default: one a sequence)")
    parser.add_argument("--schedule", choices=SCHEDULES, default="1f1b")
    parser.add_argument("--infer-shapes", action="store_true", help="stages ask their neighbours for shapes")
    parser.add_argument("--checkpoint", choices=["none", "selective", "full"], default="selective")
    parser.add_argument("--compile", action="store_true", help="torch.compile each layer")
    parser.add_argument("--steps", type=int, default=10)
    return parser.parse_args()


def main():
    args = options()
    config = MODELS[args.model]
    config.length = args.length
    config.layers = args.layers or config.layers
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    replicas = dist.get_world_size() // (args.pp * args.cp * args.tp)
    mesh = init_device_mesh("cuda", (args.pp, replicas, args.cp, args.tp), mesh_dim_names=("pp", "dp", "cp", "tp"))

    if args.pp > 1:
        schedule, models, first, last = pipeline(args, config, mesh, device)
    else:
        models, first, last = [build(args, config, mesh)], True, True
    parameters = [p for model in models for p in model.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1)

    for step in range(args.steps):
        text = torch.randint(0, config.vocabulary, (args.batch, args.length + 1)).to(device)
        tokens, targets = text[:, :-1].contiguous(), text[:, 1:].contiguous()
        optimizer.zero_grad()
        with contextlib.ExitStack() as stack:
            if args.cp > 1:
                stack.enter_context(split_sequences(mesh, models, tokens, targets))
            if args.tp > 1:
                stack.enter_context(tensor_parallel.loss_parallel())
            if args.pp > 1:
                losses = []
                schedule.step(*([tokens] if first else []), **({"target": targets, "losses": losses} if last else {}))
                loss = torch.stack(losses).mean() if last else None
            else:
                logits = models[0](tokens)
                loss = loss_of(logits, targets)
                del logits
                loss.backward()
        clip(parameters, mesh)
        optimizer.step()
        if last and step % 10 == 0:
            print(f"step {step}: loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
