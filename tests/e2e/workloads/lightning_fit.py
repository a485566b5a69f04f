"""A convolutional classifier fitted by Lightning's Trainer."""
import argparse

import lightning.pytorch as pl
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class Classifier(pl.LightningModule):
    def __init__(self, width, optimizer):
        super().__init__()
        self.optimizer = optimizer
        self.net = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(2 * width, 4 * width, 3, padding=1), nn.BatchNorm2d(4 * width), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * width, 10),
        )

    def training_step(self, batch, _):
        images, labels = batch
        loss = F.cross_entropy(self.net(images), labels)
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return getattr(torch.optim, self.optimizer)(self.parameters(), lr=1e-3)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--precision", default="32-true", help="32-true, 16-mixed or bf16-mixed")
    parser.add_argument("--optimizer", default="AdamW", help="a class of torch.optim")
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()

    samples = args.batch * args.steps
    dataset = TensorDataset(torch.randn(samples, 3, 32, 32), torch.randint(0, 10, (samples,)))
    trainer = pl.Trainer(
        accelerator="gpu" if args.device == "cuda" else args.device,
        devices=1,
        max_steps=args.steps,
        precision=args.precision,
        gradient_clip_val=1.0,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Classifier(args.width, args.optimizer), DataLoader(dataset, batch_size=args.batch))


if __name__ == "__main__":
    main()
