"""LoRA fine-tuning of GPT-2 with PEFT: only the adapters have gradients and optimizer state."""
import argparse

import torch
from peft import LoraConfig, TaskType, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--length", type=int, default=128)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--rank", type=int, default=8)
parser.add_argument("--layers", type=int, default=12)
parser.add_argument("--optimizer", default="AdamW", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

device = torch.device(args.device)
config = GPT2Config(n_layer=args.layers)
lora = LoraConfig(
    task_type=TaskType.CAUSAL_LM, r=args.rank, lora_alpha=16, lora_dropout=0.05,
    target_modules=["c_attn"], fan_in_fan_out=True,
)
model = get_peft_model(GPT2LMHeadModel(config), lora).to(device)
model.print_trainable_parameters()
trainable = [p for p in model.parameters() if p.requires_grad]
optimizer = getattr(torch.optim, args.optimizer)(trainable, lr=1e-4)

model.train()
for step in range(args.steps):
    input_ids = torch.randint(0, config.vocab_size, (args.batch, args.length)).to(device)
    loss = model(input_ids=input_ids, labels=input_ids).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
