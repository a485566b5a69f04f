"""MONAI's 3-D UNet with its Dice loss and its inference by sliding windows."""
import torch
from monai.inferers import sliding_window_inference
from monai.losses import DiceCELoss
from monai.networks.nets import UNet

model = UNet(spatial_dims=3, in_channels=1, out_channels=3, channels=(8, 16, 32), strides=(2, 2), num_res_units=1, norm="instance").cuda()
loss_of = DiceCELoss(to_onehot_y=True, softmax=True)
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
scaler = torch.amp.GradScaler("cuda")
for step in range(5):
    volume, label = torch.randn(2, 1, 32, 32, 32).cuda(), torch.randint(0, 3, (2, 1, 32, 32, 32)).cuda()
    with torch.autocast("cuda"):
        loss = loss_of(model(volume), label)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    with torch.no_grad():
        whole = sliding_window_inference(torch.randn(1, 1, 48, 48, 48).cuda(), (32, 32, 32), 2, model)
    print(step, loss.item(), tuple(whole.shape))
