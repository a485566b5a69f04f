"""DeepSpeed's engine with one of its ZeRO stages: deepspeed_zero.py STAGE [--offload]. Its own kernels are not compiled: AdamW is PyTorch's."""
import sys

import deepspeed
import torch

stage = {"stage": int(sys.argv[1])}
if "--offload" in sys.argv:
    stage["offload_optimizer"] = {"device": "cpu"}
config = {"train_micro_batch_size_per_gpu": 4, "bf16": {"enabled": True}, "zero_optimization": stage, "zero_allow_untested_optimizer": True,
          "zero_force_ds_cpu_optimizer": False}
model = torch.nn.Sequential(*(torch.nn.Linear(512, 512) for _ in range(6)))
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
engine, _, _, _ = deepspeed.initialize(model=model, optimizer=optimizer, config=config)
for _ in range(6):
    loss = engine(torch.randn(4, 512, device=engine.device, dtype=torch.bfloat16)).float().square().mean()
    engine.backward(loss)
    engine.step()
