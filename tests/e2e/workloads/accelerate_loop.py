"""A BERT classifier in a hand-written loop with Hugging Face Accelerate."""
import argparse

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
from transformers import BertConfig, BertForSequenceClassification, get_linear_schedule_with_warmup

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--length", type=int, default=128)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--layers", type=int, default=4)
parser.add_argument("--accumulate", type=int, default=2)
parser.add_argument("--precision", choices=["no", "bf16", "fp16"], default="bf16")
parser.add_argument("--optimizer", default="AdamW", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

accelerator = Accelerator(
    mixed_precision=args.precision,
    gradient_accumulation_steps=args.accumulate,
    cpu=args.device == "cpu",
)
config = BertConfig(num_hidden_layers=args.layers, hidden_size=512, num_attention_heads=8, intermediate_size=2048)
model = BertForSequenceClassification(config)
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=5e-5)

samples = args.batch * args.accumulate * args.steps
tokens = torch.randint(1, config.vocab_size, (samples, args.length))
labels = torch.randint(0, config.num_labels, (samples,))
loader = DataLoader(TensorDataset(tokens, labels), batch_size=args.batch, shuffle=True)
scheduler = get_linear_schedule_with_warmup(optimizer, 1, args.steps)
model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)

model.train()
for tokens, labels in loader:
    with accelerator.accumulate(model):
        loss = model(input_ids=tokens, labels=labels).loss
        accelerator.backward(loss)
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
accelerator.end_training()
