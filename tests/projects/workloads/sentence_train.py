"""Sentence embeddings by sentence-transformers' trainer, with negatives of the batch."""
import tempfile

from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments, losses, models
from transformers import BertConfig, BertModel

from words import sentences, tokenizer

place = tempfile.mkdtemp()
tokenizer().save_pretrained(place)
BertModel(BertConfig(vocab_size=512, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4)).save_pretrained(place)
model = SentenceTransformer(modules=[models.Transformer(place, max_seq_length=64), models.Pooling(64)], device="cuda")
arguments = SentenceTransformerTrainingArguments(tempfile.mkdtemp(), per_device_train_batch_size=8, max_steps=6, report_to="none",
                                                 save_strategy="no", logging_steps=1)
SentenceTransformerTrainer(model, arguments, train_dataset=Dataset.from_dict({"anchor": sentences(64), "positive": sentences(64, seed=1)}),
                           loss=losses.MultipleNegativesRankingLoss(model)).train()
print(model.encode(sentences(16, seed=3)).shape)
