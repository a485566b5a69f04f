"""GPT-2 small from its config with random weights, fp32."""
import argparse

import torch
from transformers import GPT2Config, GPT2LMHeadModel

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--length", type=int, default=128)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--layers", type=int, default=12)
parser.add_argument("--width", type=int, default=768)
parser.add_argument("--optimizer", default="AdamW", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

device = torch.device(args.device)
config = GPT2Config(n_layer=args.layers, n_embd=args.width)
model = GPT2LMHeadModel(config).to(device)
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-3)

model.train()
for step in range(args.steps):
    input_ids = torch.randint(0, config.vocab_size, (args.batch, args.length)).to(device)
    optimizer.zero_grad()
    loss = model(input_ids=input_ids, labels=input_ids).loss
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
