"""Models of Hugging Face from small configurations with random weights, in the plainest loop."""
import argparse

import torch
import transformers as hf

VOCABULARY, LENGTH, BATCH = 512, 48, 4
small = dict(vocab_size=VOCABULARY, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4)


def ids(length=LENGTH):
    return torch.randint(3, VOCABULARY, (BATCH, length))


def text():
    made = ids()
    return {"input_ids": made, "attention_mask": torch.ones_like(made), "labels": made.clone()}


def mixtral():
    return hf.MixtralForCausalLM(hf.MixtralConfig(**small, num_key_value_heads=2, num_local_experts=4, num_experts_per_tok=2,
                                                  output_router_logits=True)), text


def mamba():
    return hf.MambaForCausalLM(hf.MambaConfig(vocab_size=VOCABULARY, hidden_size=64, num_hidden_layers=2, state_size=8)), \
        lambda: {name: value for name, value in text().items() if name != "attention_mask"}


def bert():
    """Masked words, with a mask of padding that the host made."""
    def batch():
        made = text()
        made["attention_mask"][:, 30:] = 0
        made["labels"][:, ::2] = -100
        return made
    return hf.BertForMaskedLM(hf.BertConfig(**small)), batch


def whisper():
    config = hf.WhisperConfig(vocab_size=VOCABULARY, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                              decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128, max_source_positions=100,
                              max_target_positions=64, num_mel_bins=40, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                              decoder_start_token_id=1, suppress_tokens=None, begin_suppress_tokens=None)
    return hf.WhisperForConditionalGeneration(config), lambda: {"input_features": torch.randn(BATCH, 40, 200), "labels": ids(24)}


def llava():
    vision = hf.CLIPVisionConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, image_size=56, patch_size=14)
    config = hf.LlavaConfig(vision, hf.LlamaConfig(**small, num_key_value_heads=2), image_token_index=1)

    def batch():
        made = ids(64)
        made[:, 4:20] = 1
        return {"input_ids": made, "attention_mask": torch.ones_like(made), "pixel_values": torch.randn(BATCH, 3, 56, 56),
                "labels": made.masked_fill(made == 1, -100)}
    return hf.LlavaForConditionalGeneration(config), batch


def wav2vec2():
    """CTC, with masks of time that are drawn on the host."""
    config = hf.Wav2Vec2Config(vocab_size=32, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
                               conv_dim=(32,) * 3, conv_kernel=(10, 3, 3), conv_stride=(5, 2, 2), num_conv_pos_embeddings=16,
                               num_conv_pos_embedding_groups=4, num_feat_extract_layers=3, mask_time_length=4, pad_token_id=0)

    def batch():
        labels = torch.randint(1, 32, (BATCH, 12))
        labels[:, 8:] = -100
        return {"input_values": torch.randn(BATCH, 4000), "labels": labels}
    return hf.Wav2Vec2ForCTC(config), batch


def detr():
    """Detection with Hungarian matching on the host: what it picks depends on weights, how many does not."""
    config = hf.DetrConfig(use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, d_model=64, encoder_layers=1, decoder_layers=1,
                           encoder_ffn_dim=128, decoder_ffn_dim=128, encoder_attention_heads=4, decoder_attention_heads=4, num_queries=20,
                           num_labels=5, backbone_config=hf.ResNetConfig(embedding_size=16, hidden_sizes=[16, 32, 32, 32], depths=[1, 1, 1, 1],
                                                                         out_features=["stage4"]))

    def batch():
        return {"pixel_values": torch.randn(BATCH, 3, 128, 128), "pixel_mask": torch.ones(BATCH, 128, 128, dtype=torch.long),
                "labels": [{"class_labels": torch.randint(0, 5, (n + 1,)), "boxes": torch.rand(n + 1, 4) * 0.4 + 0.1} for n in range(BATCH)]}
    return hf.DetrForObjectDetection(config), batch


def segformer():
    config = hf.SegformerConfig(num_encoder_blocks=2, depths=[1, 1], sr_ratios=[4, 2], hidden_sizes=[16, 32], patch_sizes=[7, 3], strides=[4, 2],
                                num_attention_heads=[1, 2], mlp_ratios=[2, 2], decoder_hidden_size=32, num_labels=6)
    return hf.SegformerForSemanticSegmentation(config), lambda: {"pixel_values": torch.randn(BATCH, 3, 64, 64),
                                                                 "labels": torch.randint(0, 6, (BATCH, 64, 64))}


def clip():
    config = hf.CLIPConfig.from_text_vision_configs(
        hf.CLIPTextConfig(**small, max_position_embeddings=LENGTH, eos_token_id=2),
        hf.CLIPVisionConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, image_size=56, patch_size=14))

    class WithLoss(hf.CLIPModel):
        def forward(self, **inputs):
            return super().forward(**inputs, return_loss=True)

    def batch():
        made = ids()
        made[:, -1] = 2
        return {"input_ids": made, "attention_mask": torch.ones_like(made), "pixel_values": torch.randn(BATCH, 3, 56, 56)}
    return WithLoss(config), batch


def to_card(value):
    if isinstance(value, list):
        return [{name: tensor.cuda() for name, tensor in item.items()} for item in value]
    return value.cuda()


parser = argparse.ArgumentParser()
parser.add_argument("model", choices=("mixtral", "mamba", "bert", "whisper", "llava", "wav2vec2", "detr", "segformer", "clip"))
parser.add_argument("--generate", action="store_true")
arguments = parser.parse_args()
model, batch = globals()[arguments.model]()
model.cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(6):
    inputs = {name: to_card(value) for name, value in batch().items()}
    if arguments.generate:
        made = model.generate(inputs["input_features" if "input_features" in inputs else "input_ids"], max_new_tokens=6)
        print("generated", tuple(made.shape))
    loss = model(**inputs).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step}: loss {loss.item():.3f}")
