"""GPT-2 small from its config with random weights, 8 sequences of 128 tokens, AdamW, fp32."""
import torch
from clock import arguments, measure
from transformers import GPT2Config, GPT2LMHeadModel

args = arguments(__doc__)


def build():
    config = GPT2Config()
    model = GPT2LMHeadModel(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    tokens = torch.randint(0, config.vocab_size, (args.batch or 8, 128))
    return model, optimizer, lambda: model(input_ids=tokens, labels=tokens).loss


measure(build, args)
