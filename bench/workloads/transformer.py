"""Trains a language model from its configuration, with random weights: the transformer workload of `plimsoll evaluate`.

The protocol of the published comparison (xMem): fp32, sequences of 128 tokens, labels equal to the inputs, lr 1e-3 (Adafactor with
relative_step=False), StepLR. Nothing is downloaded: configs.py holds the hyper-parameters.

Runs whose place of zero_grad is not recorded come from an earlier version of the published scripts. It calls zero_grad first in the
loop, and PyTorch has no workspaces for cuBLAS in it (docs/accuracy.md says how this is known).
"""
import argparse
import os

import torch
import transformers
from configs import look_up

SEQ2SEQ = {"t5", "bart"}
MASKED = {"bert", "roberta", "distilbert"}


def build_model(name):
    model_type, changes = look_up(name)
    try:
        config = transformers.AutoConfig.for_model(model_type, **changes)
    except (KeyError, ValueError):
        raise SystemExit(f"transformers {transformers.__version__} has no model type {model_type}, which {name} is")
    if model_type in SEQ2SEQ:
        kind = transformers.AutoModelForSeq2SeqLM
    elif model_type in MASKED:
        kind = transformers.AutoModelForMaskedLM
    else:
        kind = transformers.AutoModelForCausalLM
    return kind.from_config(config)


def build_optimizer(name, model):
    if name == "Adafactor":
        return transformers.Adafactor(model.parameters(), lr=1e-3, relative_step=False)
    return getattr(torch.optim, name)(model.parameters(), lr=1e-3)


def batches(args, vocabulary):
    """What a DataLoader with a collator for language models would give: tensors on the host."""
    tokens = torch.randint(0, vocabulary, (args.batch, args.tokens))
    for _ in range(args.iterations):
        yield {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": tokens.clone()}


def train(args):
    device = torch.device("cuda")
    if args.zero_grad is None:
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":0:0"
        args.zero_grad = 0
    model = build_model(args.model)
    model.train()
    optimizer = build_optimizer(args.optimizer, model)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=7, gamma=0.1)
    model.to(device)
    for batch in batches(args, model.config.vocab_size):
        if args.zero_grad == 0:
            optimizer.zero_grad()
        batch = {name: tensor.to(device) for name, tensor in batch.items()}
        outputs = model(**batch)
        if args.zero_grad == 1:
            optimizer.zero_grad()
        loss = outputs.loss
        loss.backward()
        optimizer.step()
        if args.zero_grad == 2:
            optimizer.zero_grad()
        scheduler.step()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--optimizer", default="AdamW")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--zero-grad", type=int, choices=(0, 1, 2),
                        help="0: first in the loop, 1: between loss and backward, 2: after the step; default: as the runs that do not tell")
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=128)
    train(parser.parse_args())


main()
