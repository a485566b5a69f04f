"""Activation checkpointing of a model's layers, full or selective."""
import torch
from torch.utils import checkpoint

KEPT = {  # what selective checkpointing does not compute again; of matrix products every second
    torch.ops.aten._scaled_dot_product_efficient_attention.default,
    torch.ops.aten._scaled_dot_product_flash_attention.default,
    torch.ops.aten._scaled_dot_product_cudnn_attention.default,
    torch.ops._c10d_functional.reduce_scatter_tensor.default,
}


def selective():
    counts = {False: 0, True: 0}

    def policy(context, op, *args, **kwargs):
        keep = op in KEPT
        if op == torch.ops.aten.mm.default:
            counts[context.is_recompute] += 1
            keep = counts[context.is_recompute] % 2 == 1
        return checkpoint.CheckpointPolicy.MUST_SAVE if keep else checkpoint.CheckpointPolicy.PREFER_RECOMPUTE

    return checkpoint.create_selective_checkpoint_contexts(policy)


def checkpoint_layers(model, mode):
    """Each layer's forward keeps only its input ("full") or the results of some operators ("selective")."""
    options = {"use_reentrant": False, "preserve_rng_state": False}
    if mode == "selective":
        options["context_fn"] = selective
    for layer in model.layers.values():
        forward = layer.forward
        layer.forward = lambda *args, forward=forward: checkpoint.checkpoint(forward, *args, **options)
