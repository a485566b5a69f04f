"""Texts that are sampled token by token, as minGPT (top-k, no cache), GPT-2 of transformers (with and without cache) and x-transformers
(top-p) do it. Prints the processor's time as bench/run reads it: `generate.py WAY --tokens N`."""
import argparse
import json
import time

import torch
from torch.nn import functional as F


class Block(torch.nn.Module):
    def __init__(self, width, heads, context):
        super().__init__()
        self.heads, self.width = heads, width
        self.first, self.second = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.attention, self.projection = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.mlp = torch.nn.Sequential(torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width))
        self.register_buffer("mask", torch.tril(torch.ones(context, context)).view(1, 1, context, context))

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.attention(self.first(x)).split(self.width, 2))
        scores = (q @ k.transpose(-2, -1)) * k.shape[-1] ** -0.5
        scores = scores.masked_fill(self.mask[:, :, :length, :length] == 0, float("-inf"))
        x = x + self.projection((F.softmax(scores, -1) @ v).transpose(1, 2).reshape(x.shape))
        return x + self.mlp(self.second(x))


class Model(torch.nn.Module):
    def __init__(self, words, width=192, heads=6, layers=6, context=256):
        super().__init__()
        self.context = context
        self.words, self.places = torch.nn.Embedding(words, width), torch.nn.Embedding(context, width)
        self.blocks = torch.nn.Sequential(*(Block(width, heads, context) for _ in range(layers)))
        self.head = torch.nn.Linear(width, words, bias=False)

    def forward(self, text):
        places = torch.arange(text.shape[1], device=text.device)[None]
        return self.head(self.blocks(self.words(text) + self.places(places)))


def top_k(logits, k=40):
    least, _ = torch.topk(logits, k)
    logits[logits < least[:, [-1]]] = -float("inf")
    return logits


def top_p(logits, share=0.9):
    ordered, order = torch.sort(logits, descending=True)
    beyond = F.pad(torch.cumsum(F.softmax(ordered, -1), -1) > share, (1, -1), value=False)
    return ordered.masked_fill(beyond, -float("inf")).scatter(1, order, ordered.masked_fill(beyond, -float("inf")))


def own(choose, words):
    model = Model(words).cuda().eval()

    def write(tokens):
        text = torch.tensor([[1, 2, 3, 4]]).cuda()
        for _ in range(tokens):
            logits = choose(model(text[:, -model.context:])[:, -1] / 0.8)
            text = torch.cat([text, torch.multinomial(F.softmax(logits, -1), 1)], 1)
        return text.tolist()

    return write


class Enough(Exception):
    pass


class Counter:
    """Ends a text where its length criterion, a tensor of the card, reads as zero: without values."""

    def __init__(self, tokens):
        self.left = tokens

    def __call__(self, text, scores):
        if not self.left:
            raise Enough
        self.left -= 1
        return scores


def library(cache):
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(n_layer=6, n_embd=192, n_head=6)).cuda().eval()
    text = torch.tensor([[1, 2, 3, 4]]).cuda()

    def write(tokens):
        try:
            return model.generate(text, do_sample=True, top_k=50, max_new_tokens=tokens, use_cache=cache, pad_token_id=0,
                                  logits_processor=[Counter(tokens)]).tolist()
        except Enough:
            return None

    return write


WAYS = {"top-k": lambda: own(top_k, 65), "top-k-words": lambda: own(top_k, 50257), "top-p": lambda: own(top_p, 256),
        "cache": lambda: library(True), "no-cache": lambda: library(False)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("--tokens", type=int, default=100)
    options = parser.parse_args()
    with torch.no_grad():
        write = WAYS[options.way]()
        write(3)
        begin, cpu = time.perf_counter(), time.process_time()
        write(options.tokens)
        print("bench " + json.dumps({"step": time.perf_counter() - begin, "cpu": time.process_time() - cpu}), flush=True)


main()
