"""T5-small from its config with random weights, fp32: encoder and decoder."""
import argparse

import torch
from transformers import T5Config, T5ForConditionalGeneration

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--length", type=int, default=128)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--layers", type=int, default=6)
parser.add_argument("--optimizer", default="AdamW", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

device = torch.device(args.device)
config = T5Config(
    d_model=512, d_kv=64, d_ff=2048, num_layers=args.layers, num_heads=8,
    vocab_size=32128, pad_token_id=0, decoder_start_token_id=0,
)
model = T5ForConditionalGeneration(config).to(device)
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-3)

model.train()
for step in range(args.steps):
    input_ids = torch.randint(1, config.vocab_size, (args.batch, args.length)).to(device)
    optimizer.zero_grad()
    loss = model(input_ids=input_ids, labels=input_ids).loss
    loss.backward()
    optimizer.step()
