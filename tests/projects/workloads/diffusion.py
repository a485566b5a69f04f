"""Diffusion as the examples of diffusers train it: UNet, noise scheduler, EMA of the weights, dropped conditions for classifier-free
guidance, and pictures sampled in between."""
import argparse

import torch
from diffusers import DDPMScheduler, UNet2DConditionModel
from diffusers.training_utils import EMAModel

parser = argparse.ArgumentParser()
parser.add_argument("--guidance", action="store_true", help="sample with classifier-free guidance before each step")
guided = parser.parse_args().guidance
unet = UNet2DConditionModel(sample_size=16, in_channels=4, out_channels=4, layers_per_block=1, block_out_channels=(32, 64), norm_num_groups=8,
                            cross_attention_dim=32, attention_head_dim=8, down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
                            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D")).cuda()
ema = EMAModel(unet.parameters(), decay=0.999)
ema.to("cuda")
scheduler = DDPMScheduler(num_train_timesteps=100)
optimizer = torch.optim.AdamW(unet.parameters(), lr=1e-4)


@torch.no_grad()
def sample(text):
    scheduler.set_timesteps(4)
    picture, empty = torch.randn(2, 4, 16, 16, device="cuda"), torch.zeros_like(text[:2])
    for moment in scheduler.timesteps:
        both = unet(torch.cat([picture, picture]), moment, torch.cat([empty, text[:2]])).sample
        without, given = both.chunk(2)
        picture = scheduler.step(without + 7.5 * (given - without), moment, picture).prev_sample
    return picture


for step in range(6):
    latent, text = torch.randn(4, 4, 16, 16).cuda(), torch.randn(4, 8, 32).cuda()
    if guided:
        sample(text)
    noise = torch.randn_like(latent)
    moments = torch.randint(0, 100, (4,), device="cuda").long()
    dropped = torch.rand(4, 1, 1, device="cuda") < 0.1
    with torch.autocast("cuda", torch.bfloat16):
        predicted = unet(scheduler.add_noise(latent, noise, moments), moments, text.masked_fill(dropped, 0)).sample
    loss = torch.nn.functional.mse_loss(predicted.float(), noise)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(unet.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    ema.step(unet.parameters())
    print(f"step {step}: {loss.item():.3f}")
