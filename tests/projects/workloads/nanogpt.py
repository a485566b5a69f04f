"""A loop as nanoGPT has it: evaluation first and now and then, micro-batches, a scaler, gradient clipping, a cosine rate, pinned batches of a
file of tokens, weights tied, decay for matrices only."""
import argparse
import math
import os
import tempfile
from contextlib import nullcontext

import numpy
import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--eval-iters", type=int, default=20)
parser.add_argument("--compile", action="store_true")
parser.add_argument("--dtype", default="bfloat16")
options = parser.parse_args()
LAYERS, HEADS, WIDTH, LENGTH, VOCABULARY, BATCH, MICRO = 3, 4, 128, 128, 512, 8, 2
path = os.path.join(tempfile.mkdtemp(), "train.bin")
numpy.random.randint(0, VOCABULARY, 20000).astype(numpy.uint16).tofile(path)
torch.backends.cuda.matmul.allow_tf32 = True


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        q, k, v = (part.unflatten(-1, [HEADS, -1]).transpose(1, 2) for part in self.qkv(self.ln_1(x)).chunk(3, -1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.mlp(self.ln_2(x))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks, self.norm = nn.ModuleList(Block() for _ in range(LAYERS)), nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.wte.weight = self.head.weight

    def forward(self, ids, targets=None):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return logits, F.cross_entropy(logits.view(-1, VOCABULARY), targets.view(-1), ignore_index=-1)


def batch():
    data = numpy.memmap(path, dtype=numpy.uint16, mode="r")
    starts = torch.randint(len(data) - LENGTH, (BATCH,))
    x, y = (torch.stack([torch.from_numpy(data[i + d:i + d + LENGTH].astype(numpy.int64)) for i in starts]) for d in (0, 1))
    return x.pin_memory().to("cuda", non_blocking=True), y.pin_memory().to("cuda", non_blocking=True)


model = Gpt().to("cuda")
plain = model
decayed = [value for value in model.parameters() if value.dim() >= 2]
others = [value for value in model.parameters() if value.dim() < 2]
optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}], lr=6e-4, betas=(0.9, 0.95), fused=True)
if options.compile:
    model = torch.compile(model)
scaler = torch.amp.GradScaler("cuda", enabled=options.dtype == "float16")
context = nullcontext() if options.dtype == "float32" else torch.autocast("cuda", getattr(torch, options.dtype))


@torch.no_grad()
def estimate():
    model.eval()
    losses = torch.zeros(options.eval_iters)
    for number in range(options.eval_iters):
        with context:
            losses[number] = model(*batch())[1].item()
    model.train()
    return losses.mean()


x, y = batch()
best = 1e9
for step in range(20):
    for group in optimizer.param_groups:
        group["lr"] = 6e-4 * 0.5 * (1 + math.cos(math.pi * step / 20))
    if step % 10 == 0:
        loss = estimate()
        if loss < best:
            best = loss
            torch.save({"model": plain.state_dict(), "optimizer": optimizer.state_dict()}, path + ".pt")
    for micro in range(MICRO):
        with context:
            loss = model(x, y)[1] / MICRO
        x, y = batch()
        scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    print(f"iter {step}: loss {loss.item() * MICRO:.4f}")
