"""A tokenizer and sentences made on the spot: the machine has no network."""
import random

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

NAMES = [f"w{number}" for number in range(500)]
TEMPLATE = "{% for m in messages %}{{ m['content'] }} {% endfor %}"


def tokenizer():
    vocabulary = {word: number for number, word in enumerate(["<pad>", "<s>", "</s>", "<unk>", *NAMES])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", bos_token="<s>", eos_token="</s>", unk_token="<unk>",
                                   chat_template=TEMPLATE, padding_side="left")


def sentences(count, shortest=8, longest=40, seed=0):
    draw = random.Random(seed)
    return [" ".join(draw.choices(NAMES, k=draw.randint(shortest, longest))) for _ in range(count)]
