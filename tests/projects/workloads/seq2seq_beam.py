"""A summarizer as Hugging Face's example trains it: Seq2SeqTrainer, evaluation by beam search, then training."""
import tempfile

import torch
from transformers import BartConfig, BartForConditionalGeneration, DataCollatorForSeq2Seq, Seq2SeqTrainer, Seq2SeqTrainingArguments

from words import sentences, tokenizer

words = tokenizer()
model = BartForConditionalGeneration(BartConfig(vocab_size=512, d_model=64, encoder_layers=2, decoder_layers=2, encoder_ffn_dim=128,
                                                decoder_ffn_dim=128, encoder_attention_heads=4, decoder_attention_heads=4,
                                                max_position_embeddings=96, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                                                decoder_start_token_id=2, forced_eos_token_id=2))
data = [{"input_ids": words(text)["input_ids"], "attention_mask": words(text)["attention_mask"], "labels": words(short)["input_ids"]}
        for text, short in zip(sentences(48), sentences(48, 4, 10, seed=5))]


def score(predicted):
    made, labels = predicted
    return {"length": float((made != 0).sum(1).mean())}


arguments = Seq2SeqTrainingArguments(tempfile.mkdtemp(), per_device_train_batch_size=4, per_device_eval_batch_size=8, max_steps=6, report_to="none",
                                     predict_with_generate=True, generation_num_beams=4, generation_max_length=12, save_strategy="no",
                                     logging_steps=1, eval_on_start=True, eval_strategy="steps", eval_steps=3)
torch.manual_seed(0)
Seq2SeqTrainer(model, arguments, train_dataset=data, eval_dataset=data[:16], data_collator=DataCollatorForSeq2Seq(words, model),
               processing_class=words, compute_metrics=score).train()
