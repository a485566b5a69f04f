"""Adapters of PEFT on a small Llama."""
import argparse

import peft
import torch
from transformers import LlamaConfig, LlamaForCausalLM

KINDS = {"lora": lambda: peft.LoraConfig(r=8, task_type="CAUSAL_LM"), "dora": lambda: peft.LoraConfig(r=8, use_dora=True, task_type="CAUSAL_LM"),
         "ia3": lambda: peft.IA3Config(task_type="CAUSAL_LM"), "prefix": lambda: peft.PrefixTuningConfig(num_virtual_tokens=8, task_type="CAUSAL_LM"),
         "prompt": lambda: peft.PromptTuningConfig(num_virtual_tokens=8, task_type="CAUSAL_LM"),
         "adalora": lambda: peft.AdaLoraConfig(init_r=8, target_r=4, total_step=10, tinit=1, tfinal=2, task_type="CAUSAL_LM"),
         "oft": lambda: peft.OFTConfig(r=8, target_modules=["q_proj"], task_type="CAUSAL_LM")}
parser = argparse.ArgumentParser()
parser.add_argument("kind", choices=KINDS)
parser.add_argument("--checkpointing", action="store_true")
arguments = parser.parse_args()
model = peft.get_peft_model(LlamaForCausalLM(LlamaConfig(vocab_size=512, hidden_size=128, intermediate_size=256, num_hidden_layers=2,
                                                         num_attention_heads=4)), KINDS[arguments.kind]())
if arguments.checkpointing:
    model.enable_input_require_grads()
    model.gradient_checkpointing_enable({"use_reentrant": False})
model.cuda().print_trainable_parameters()
optimizer = torch.optim.AdamW(filter(lambda value: value.requires_grad, model.parameters()), 1e-3)
for step in range(6):
    ids = torch.randint(3, 512, (4, 48)).cuda()
    loss = model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=ids).loss
    loss.backward()
    optimizer.step()
    if arguments.kind == "adalora":
        model.base_model.update_and_allocate(step)
    optimizer.zero_grad()
    print(step, loss.item())
