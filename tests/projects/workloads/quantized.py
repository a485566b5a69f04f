"""Few bits: adapters on weights of four (bitsandbytes' NF4), optimizers with states of eight, products of eight (torchao)."""
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("which", choices=("nf4", "adam8", "paged", "fp8"))
which = parser.parse_args().which
torch.manual_seed(0)


def network():
    layers = [layer for _ in range(3) for layer in (torch.nn.Linear(256, 256, bias=False), torch.nn.GELU())]
    return torch.nn.Sequential(*layers, torch.nn.Linear(256, 256, bias=False))


def adapters():
    """A Llama of which all but the head is kept in four bits, and LoRA."""
    import bitsandbytes
    import peft
    from transformers import LlamaConfig, LlamaForCausalLM

    model = LlamaForCausalLM(LlamaConfig(vocab_size=512, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4))
    for name, layer in list(model.named_modules()):
        if isinstance(layer, torch.nn.Linear) and name != "lm_head":
            small = bitsandbytes.nn.Linear4bit(layer.in_features, layer.out_features, bias=False, compute_dtype=torch.bfloat16, quant_type="nf4",
                                               compress_statistics=True)
            small.weight = bitsandbytes.nn.Params4bit(layer.weight.data, requires_grad=False, quant_type="nf4")
            model.set_submodule(name, small)
    model = peft.get_peft_model(model.cuda(), peft.LoraConfig(r=8, task_type="CAUSAL_LM"))
    return model, torch.optim.AdamW([value for value in model.parameters() if value.requires_grad], 1e-3)


def plain():
    model = network()
    if which == "fp8":
        from torchao.float8 import convert_to_float8_training

        convert_to_float8_training(model.bfloat16())
        return model.cuda(), torch.optim.AdamW(model.parameters(), 1e-3)
    import bitsandbytes

    return model.cuda(), (bitsandbytes.optim.AdamW8bit if which == "adam8" else bitsandbytes.optim.PagedAdamW8bit)(model.parameters(), 1e-3)


model, optimizer = adapters() if which == "nf4" else plain()
for step in range(6):
    if which == "nf4":
        ids = torch.randint(3, 512, (4, 48)).cuda()
        loss = model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=ids).loss
    else:
        loss = model(torch.randn(64, 256, dtype=next(model.parameters()).dtype).cuda()).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
