"""Public hyper-parameters of language models, for building them without a network: name to (model type, changes).

What is not named has the default of the transformers class, which is the published value of the family's first model. Names are compared
without their owner ("EleutherAI/"), case and punctuation.
"""
import re

GPT2 = "gpt2"
GPT2_SIZES = {"gpt2": (768, 12, 12), "gpt2-medium": (1024, 24, 16), "gpt2-large": (1280, 36, 20), "gpt2-xl": (1600, 48, 25),
              "distilgpt2": (768, 6, 12), "dialogpt-small": (768, 12, 12), "dialogpt-medium": (1024, 24, 16)}
# Cerebras-GPT: GPT-2 with its own width and depth, 2048 positions, the plain GELU, and trained without dropout.
CEREBRAS_SIZES = {"111m": (768, 10, 12), "256m": (1088, 14, 17), "590m": (1536, 18, 12), "1.3b": (2048, 24, 16),
                  "2.7b": (2560, 32, 32), "6.7b": (4096, 32, 32)}
NEO_SIZES = {"125m": (768, 12, 12), "1.3b": (2048, 24, 16), "2.7b": (2560, 32, 20)}
PYTHIA_SIZES = {"14m": (128, 6, 4), "31m": (256, 6, 8), "70m": (512, 6, 8), "160m": (768, 12, 12), "410m": (1024, 24, 16),
                "1b": (2048, 16, 8), "1.4b": (2048, 24, 16), "2.8b": (2560, 32, 32), "6.9b": (4096, 32, 32)}
OPT_SIZES = {"125m": (768, 12, 12), "1.3b": (2048, 24, 32), "2.7b": (2560, 32, 32), "6.7b": (4096, 32, 32)}
BLOOM_SIZES = {"560m": (1024, 24, 16), "1b1": (1536, 24, 16), "1b7": (2048, 24, 16), "3b": (2560, 30, 32),
               "7b1": (4096, 30, 32)}
# width, feed-forward, layers, heads, width of a head
T5_SIZES = {"small": (512, 2048, 6, 8, 64), "base": (768, 3072, 12, 12, 64), "large": (1024, 4096, 24, 16, 64),
            "3b": (1024, 16384, 24, 32, 128)}
T5_V11_SIZES = {"small": (512, 1024, 8, 6, 64), "base": (768, 2048, 12, 12, 64), "large": (1024, 2816, 24, 16, 64),
                "xl": (2048, 5120, 24, 32, 64)}
# width, layers, heads, key-value heads, feed-forward
QWEN2_SIZES = {"0.5b": (896, 24, 14, 2, 4864), "1.5b": (1536, 28, 12, 2, 8960), "3b": (2048, 36, 16, 2, 11008),
               "7b": (3584, 28, 28, 4, 18944)}
QWEN3_SIZES = {"0.6b": (1024, 28, 16, 8, 3072), "1.7b": (2048, 28, 16, 8, 6144), "4b": (2560, 36, 32, 8, 9728)}
# width, layers, heads, key-value heads, feed-forward, vocabulary, tied
LLAMA_SIZES = {"tinyllama-1.1b-chat-v1.0": (2048, 22, 32, 4, 5632, 32000, False), "llama-3.2-1b": (2048, 16, 32, 8, 8192, 128256, True),
               "llama-3.2-3b": (3072, 28, 24, 8, 8192, 128256, True), "llama-2-7b-hf": (4096, 32, 32, 32, 11008, 32000, False),
               "smollm-135m": (576, 30, 9, 3, 1536, 49152, True), "smollm-360m": (960, 32, 15, 5, 2560, 49152, True),
               "smollm2-135m": (576, 30, 9, 3, 1536, 49152, True), "smollm2-360m": (960, 32, 15, 5, 2560, 49152, True)}
# width, layers, heads, feed-forward
BERT_SIZES = {"base": (768, 12, 12, 3072), "large": (1024, 24, 16, 4096), "tiny": (128, 2, 2, 512), "mini": (256, 4, 4, 1024),
              "small": (512, 4, 8, 2048), "medium": (512, 8, 8, 2048)}


def compact(name):
    return re.sub(r"[^a-z0-9]", "", name.lower().rsplit("/", 1)[-1])


def gpt2(size, **more):
    width, layers, heads = size
    return GPT2, dict(n_embd=width, n_layer=layers, n_head=heads, **more)


def neo(size):
    width, layers, heads = size
    return "gpt_neo", dict(hidden_size=width, num_layers=layers, num_heads=heads, window_size=256,
                           attention_types=[[["global", "local"], layers // 2]], max_position_embeddings=2048)


def pythia(size):
    width, layers, heads = size
    vocabulary = 50432 if width >= 4096 else 50304
    return "gpt_neox", dict(hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads, intermediate_size=4 * width,
                            vocab_size=vocabulary, rotary_pct=0.25, max_position_embeddings=2048)


def opt(size, **more):
    width, layers, heads = size
    return "opt", dict(hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads, ffn_dim=4 * width,
                       word_embed_proj_dim=width, dropout=0.1) | more


def bloom(size):
    width, layers, heads = size
    return "bloom", dict(hidden_size=width, n_layer=layers, n_head=heads, vocab_size=250880)


def t5(size, **more):
    width, inner, layers, heads, head = size
    return "t5", dict(d_model=width, d_ff=inner, num_layers=layers, num_heads=heads, d_kv=head, vocab_size=32128,
                      decoder_start_token_id=0, pad_token_id=0, **more)


def grouped(model_type, size, **more):
    width, layers, heads, shared, inner = size
    return model_type, dict(hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=shared,
                            intermediate_size=inner, **more)


def bert(size, model_type="bert", **more):
    width, layers, heads, inner = size
    return model_type, dict(hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads, intermediate_size=inner, **more)


def table():
    models = {name: gpt2(size) for name, size in GPT2_SIZES.items()}
    models |= {f"cerebras-gpt-{name}": gpt2(size, n_inner=4 * size[0], n_positions=2048, activation_function="gelu",
                                            attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0) for name, size in CEREBRAS_SIZES.items()}
    models |= {f"gpt-neo-{name}": neo(size) for name, size in NEO_SIZES.items()}
    models |= {f"pythia-{name}{kind}": pythia(size) for name, size in PYTHIA_SIZES.items() for kind in ("", "-deduped")}
    models |= {f"opt-{name}": opt(size) for name, size in OPT_SIZES.items()}
    # The one OPT that normalizes after the blocks and has a narrower embedding.
    models["opt-350m"] = opt((1024, 24, 16), word_embed_proj_dim=512, do_layer_norm_before=False)
    models |= {f"bloom{kind}-{name}": bloom(size) for name, size in BLOOM_SIZES.items() for kind in ("", "z")}
    models |= {f"t5-{name}": t5(size) for name, size in T5_SIZES.items()}
    for name, size in T5_V11_SIZES.items():
        for family in (f"t5-v1_1-{name}", f"flan-t5-{name}"):
            models[family] = t5(size, feed_forward_proj="gated-gelu", tie_word_embeddings=False)
    for name, size in QWEN2_SIZES.items():
        tied = name in ("0.5b", "1.5b", "3b")
        vocabulary = 152064 if name == "7b" else 151936
        for family in ("qwen2", "qwen2.5"):
            for kind in ("", "-instruct"):
                models[f"{family}-{name}{kind}"] = grouped("qwen2", size, vocab_size=vocabulary, tie_word_embeddings=tied)
    models["deepseek-r1-distill-qwen-1.5b"] = grouped("qwen2", QWEN2_SIZES["1.5b"], vocab_size=151936, tie_word_embeddings=False)
    models |= {f"qwen3-{name}": grouped("qwen3", size, vocab_size=151936, head_dim=128, tie_word_embeddings=True)
               for name, size in QWEN3_SIZES.items()}
    models |= {name: grouped("llama", size[:5], vocab_size=size[5], tie_word_embeddings=size[6])
               for name, size in LLAMA_SIZES.items()}
    models |= {f"bert-{name}-{kind}": bert(size, vocab_size=vocabulary) for name, size in BERT_SIZES.items()
               for kind, vocabulary in (("uncased", 30522), ("cased", 28996))}
    models |= {f"roberta-{name}": bert(BERT_SIZES[name], "roberta", vocab_size=50265, max_position_embeddings=514,
                                       type_vocab_size=1) for name in ("base", "large")}
    for kind, vocabulary in (("uncased", 30522), ("cased", 28996)):
        models[f"distilbert-base-{kind}"] = ("distilbert", dict(vocab_size=vocabulary))
    return {compact(name): value for name, value in models.items()}


def look_up(name):
    models = table()
    found = models.get(compact(name))
    if not found:
        raise SystemExit(f"the hyper-parameters of {name} are not in configs.py")
    return found
