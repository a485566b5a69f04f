"""TRL's trainers on a small Llama: SFT with packing, DPO, GRPO, reward model."""
import argparse
import tempfile

from datasets import Dataset
from transformers import LlamaConfig, LlamaForCausalLM, LlamaForSequenceClassification

from words import sentences, tokenizer

parser = argparse.ArgumentParser()
parser.add_argument("--trainer", choices=("sft", "dpo", "grpo", "reward"), default="sft")
trainer = parser.parse_args().trainer
words = tokenizer()
config = LlamaConfig(vocab_size=512, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4,
                     num_key_value_heads=2, max_position_embeddings=256, pad_token_id=0, bos_token_id=1, eos_token_id=2)
common = dict(output_dir=tempfile.mkdtemp(), per_device_train_batch_size=4, max_steps=6, report_to="none", logging_steps=1,
              save_strategy="no", gradient_checkpointing=False)
few, other = sentences(64, seed=1), sentences(64, seed=2)
if trainer == "sft":
    from trl import SFTConfig, SFTTrainer
    made = SFTTrainer(LlamaForCausalLM(config), args=SFTConfig(packing=True, max_length=64, **common),
                      train_dataset=Dataset.from_dict({"text": few}), processing_class=words)
elif trainer == "dpo":
    from trl import DPOConfig, DPOTrainer
    made = DPOTrainer(LlamaForCausalLM(config), args=DPOConfig(max_length=96, **common), processing_class=words,
                      train_dataset=Dataset.from_dict({"prompt": few, "chosen": sentences(64, seed=3), "rejected": other}))
elif trainer == "reward":
    from trl import RewardConfig, RewardTrainer
    config.num_labels = 1
    made = RewardTrainer(LlamaForSequenceClassification(config), args=RewardConfig(max_length=96, **common), processing_class=words,
                         train_dataset=Dataset.from_dict({"chosen": few, "rejected": other}))
else:
    from trl import GRPOConfig, GRPOTrainer
    made = GRPOTrainer(LlamaForCausalLM(config), args=GRPOConfig(num_generations=4, max_prompt_length=32, max_completion_length=16, **common),
                       reward_funcs=lambda completions, **_: [float(len(text)) for text in completions], processing_class=words,
                       train_dataset=Dataset.from_dict({"prompt": few}))
made.train()
