"""A small GPT-2 trained by Hugging Face's Trainer."""
import argparse
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

MODES = {
    "fp32": {},
    "bf16": {"bf16": True},
    "fp16": {"fp16": True},
    "checkpointing": {
        "gradient_checkpointing": True,
        "gradient_checkpointing_kwargs": {"use_reentrant": False},
    },
    "accumulation": {"gradient_accumulation_steps": 4},
    "workers": {"dataloader_num_workers": 2},
}


class RandomText(Dataset):
    def __init__(self, samples, length, vocabulary):
        self.tokens = torch.randint(0, vocabulary, (samples, length))

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        tokens = self.tokens[index]
        return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": tokens}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=MODES, default="fp32")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()

    config = GPT2Config(n_layer=args.layers, n_embd=args.width, n_head=4)
    model = GPT2LMHeadModel(config)
    dataset = RandomText(512, args.length, config.vocab_size)
    with tempfile.TemporaryDirectory() as directory:
        trainer = Trainer(
            model=model,
            args=TrainingArguments(
                output_dir=directory,
                per_device_train_batch_size=args.batch,
                max_steps=args.steps,
                learning_rate=5e-4,
                logging_steps=1,
                save_strategy="no",
                report_to="none",
                use_cpu=args.device == "cpu",
                **MODES[args.mode],
            ),
            train_dataset=dataset,
        )
        trainer.train()


if __name__ == "__main__":
    main()
