"""Composer's Trainer: a small classifier, its metrics, two epochs."""
import torch
from composer import Trainer
from composer.models import ComposerClassifier

data = torch.utils.data.TensorDataset(torch.randn(64, 3, 32, 32), torch.randint(0, 10, (64,)))
net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 30 * 30, 10))
model = ComposerClassifier(net, num_classes=10)
Trainer(model=model, train_dataloader=torch.utils.data.DataLoader(data, 16), max_duration="2ep", device="gpu", progress_bar=False,
        optimizers=torch.optim.AdamW(model.parameters())).fit()
