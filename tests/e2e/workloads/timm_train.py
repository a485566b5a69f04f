"""A timm model with channels_last, AMP, mixup and an exponential moving average of the weights."""
import argparse

import numpy as np
import timm
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.utils import ModelEmaV3, NativeScaler

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--model", default="efficientnet_b0")
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--size", type=int, default=224)
parser.add_argument("--optimizer", default="adamw", help="a name of timm's optimizer factory")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

np.random.seed(0)
device = torch.device(args.device)
half = torch.float16 if device.type == "cuda" else torch.bfloat16
model = timm.create_model(args.model, pretrained=False, num_classes=1000, drop_path_rate=0.1)
model = model.to(device, memory_format=torch.channels_last)
optimizer = create_optimizer_v2(model, opt=args.optimizer, lr=1e-3, weight_decay=0.05)
ema = ModelEmaV3(model, decay=0.999)
mixup = Mixup(mixup_alpha=0.2, cutmix_alpha=1.0, label_smoothing=0.1, num_classes=1000)
criterion = SoftTargetCrossEntropy().to(device)
scaler = NativeScaler(device=device.type)

model.train()
for step in range(args.steps):
    images = torch.randn(args.batch, 3, args.size, args.size).to(device)
    labels = torch.randint(0, 1000, (args.batch,)).to(device)
    images, labels = mixup(images, labels)
    images = images.contiguous(memory_format=torch.channels_last)
    with torch.autocast(device.type, dtype=half):
        loss = criterion(model(images), labels)
    scaler(loss, optimizer, clip_grad=1.0, parameters=model.parameters())
    optimizer.zero_grad()
    ema.update(model, step=step)
