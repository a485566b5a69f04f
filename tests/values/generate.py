"""generate() ends: its length criterion is a tensor of the device. Prints what PyTorch says of the memory."""
import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel

ways = {"greedy": {}, "sample": {"do_sample": True, "top_k": 5}, "beams": {"num_beams": 3}, "short": {"max_length": 9}}
config = GPT2Config(n_layer=2, n_embd=64, n_head=2, vocab_size=500, n_positions=64, bos_token_id=0, eos_token_id=1, pad_token_id=2)
model = GPT2LMHeadModel(config).cuda().eval()
ids = torch.randint(3, 500, (3, 6)).cuda()
mask = torch.ones_like(ids)
mask[0, :2] = 0
for name in sys.argv[1:] or ways:
    given = {"max_new_tokens": 8} if name != "short" else {}
    made = model.generate(ids, attention_mask=mask, **given, **ways[name])
    assert made.shape == (3, 9 if name == "short" else 14), (name, made.shape)
    if name != "beams":  # which beams go on depends on the weights
        assert made[:, :6].tolist() == ids.tolist(), name
    print("ended", name, flush=True)
print("peak", torch.cuda.max_memory_allocated())
