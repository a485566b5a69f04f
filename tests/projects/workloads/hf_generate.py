"""Hugging Face's generate() between training steps: greedy, sampled and with beams, on prompts of different lengths."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from words import sentences, tokenizer

words = tokenizer()
model = GPT2LMHeadModel(GPT2Config(vocab_size=512, n_embd=128, n_layer=3, n_head=4, n_positions=128, bos_token_id=1, eos_token_id=2,
                                   pad_token_id=0)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
texts = sentences(64)
for step in range(6):
    batch = words(texts[step * 8:step * 8 + 8], return_tensors="pt", padding=True).to("cuda")
    model.eval()
    for how in ({"do_sample": False}, {"do_sample": True, "top_k": 20}, {"num_beams": 3}):
        made = model.generate(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], max_new_tokens=8, **how)
        print(step, made.shape)
    model.train()
    loss = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"],
                 labels=batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step}: loss {loss.item():.3f}")
