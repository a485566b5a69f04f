"""Llama 3 by its configuration: made on the meta device, no weights. Needs nothing but PyTorch."""
import dataclasses

import torch
from torch import nn
from torch.nn import functional as F


@dataclasses.dataclass
class Config:
    width: int
    layers: int
    heads: int
    kv_heads: int
    hidden: int  # of the feed-forward network, or of one expert
    experts: int = 0
    top_k: int = 2
    vocabulary: int = 128256
    length: int = 8192
    theta: float = 500000.0


MODELS = {
    "tiny": Config(256, 4, 8, 8, 768, vocabulary=2048),
    "8b": Config(4096, 32, 32, 8, 14336),
    "70b": Config(8192, 80, 64, 8, 28672),
    "405b": Config(16384, 126, 128, 8, 53248),
    "tiny-moe": Config(256, 4, 8, 8, 384, experts=16, vocabulary=2048),
    "8x7b": Config(4096, 32, 32, 8, 14336, experts=8, vocabulary=32000, length=4096, theta=1e6),
    "64x3b": Config(4096, 48, 32, 8, 4096, experts=64, top_k=6),
}


def rotations(config):
    """The complex numbers that a position's queries and keys are turned by."""
    head = config.width // config.heads
    speeds = 1.0 / config.theta ** (torch.arange(0, head, 2).float() / head)
    angles = torch.outer(torch.arange(config.length), speeds)
    return torch.polar(torch.ones_like(angles), angles)


def rotate(x, turns):
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turns[: x.shape[1], None]).flatten(3).type_as(x)


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.head = config.width // config.heads
        self.repeat = config.heads // config.kv_heads
        self.wq = nn.Linear(config.width, config.width, bias=False)
        self.wk = nn.Linear(config.width, config.kv_heads * self.head, bias=False)
        self.wv = nn.Linear(config.width, config.kv_heads * self.head, bias=False)
        self.wo = nn.Linear(config.width, config.width, bias=False)

    def forward(self, x, turns):
        batch, length, _ = x.shape
        # -1: how many heads this rank has of them
        q, k, v = (w(x).view(batch, length, -1, self.head) for w in (self.wq, self.wk, self.wv))
        q, k = rotate(q, turns), rotate(k, turns)
        k, v = (t.repeat_interleave(self.repeat, dim=2) for t in (k, v))
        y = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(batch, length, -1))


class FeedForward(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.w1 = nn.Linear(config.width, config.hidden, bias=False)
        self.w2 = nn.Linear(config.hidden, config.width, bias=False)
        self.w3 = nn.Linear(config.width, config.hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, config, feed_forward):
        super().__init__()
        self.attention_norm = nn.RMSNorm(config.width, eps=1e-5)
        self.attention = Attention(config)
        self.ffn_norm = nn.RMSNorm(config.width, eps=1e-5)
        self.feed_forward = feed_forward

    def forward(self, x, turns):
        x = x + self.attention(self.attention_norm(x), turns)
        return x + self.feed_forward(self.ffn_norm(x))


class Llama(nn.Module):
    """A stage of a pipeline has some of the layers; only the first one embeds, only the last one has an output."""

    def __init__(self, config, layers=None, first=True, last=True, feed_forward=FeedForward):
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.width) if first else None
        layers = range(config.layers) if layers is None else layers
        self.layers = nn.ModuleDict({str(i): Block(config, feed_forward(config)) for i in layers})
        self.norm = nn.RMSNorm(config.width, eps=1e-5) if last else None
        self.output = nn.Linear(config.width, config.vocabulary, bias=False) if last else None
        self.register_buffer("turns", rotations(config), persistent=False)

    def init_weights(self):
        """What to_empty() left: small random weights, norms of one."""
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)
            else:
                nn.init.ones_(parameter)
        with torch.device(self.turns.device):
            self.turns = rotations(self.config)

    def forward(self, x):
        if self.embedding is not None:
            x = self.embedding(x)
        for layer in self.layers.values():
            x = layer(x, self.turns)
        return x if self.output is None else self.output(self.norm(x))
