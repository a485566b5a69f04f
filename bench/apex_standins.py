"""Runs a script as if NVIDIA's Apex and Transformer Engine were there: python3 apex_standins.py SCRIPT [ARGUMENT...]

Megatron-LM takes layer norms, softmaxes and gradients of weights from Apex where it finds it, and they keep other
memory than PyTorch's own. Also with `--transformer-impl local` it asks Transformer Engine, where that is installed,
for the product of the router, a layer norm and tensors that stand for gradients which were added elsewhere. The ones
here allocate what the public sources allocate, and compute nothing that matters: they are for the virtual GPU.
"""
import functools
import importlib
import importlib.machinery
import importlib.util
import os
import runpy
import sys

import torch
from torch.nn import functional as F


class LayerNorm:
    """Keeps input, weights, mean and deviation: what PyTorch's keeps too."""

    @staticmethod
    def forward(inputs, weight, bias, shape, eps, memory_efficient=False):
        return F.layer_norm(inputs, shape, weight, bias, eps)

    apply = forward


def batch_per_block(queries, keys, batches, heads):
    power = 1 << (keys - 1).bit_length()
    return 128 // min(power, 32) * (2 if power <= 128 else 1)


SOFTMAX = {  # one new tensor forward; the gradient takes the place of what comes in
    "forward": lambda inputs, *_: torch.empty_like(inputs),
    "backward": lambda gradients, *_: gradients,
    "get_batch_per_block": batch_per_block,
}
GRADIENT = {  # is added to what is there
    "wgrad_gemm_accum_fp32": lambda inputs, gradients, total: None,
    "wgrad_gemm_accum_fp16": lambda inputs, gradients, total: None,
}
MODULES = {
    "apex": {},
    "apex.normalization": {},
    "apex.normalization.fused_layer_norm": {"FusedLayerNormAffineFunction": LayerNorm},
    "fused_weight_gradient_mlp_cuda": GRADIENT,
    "scaled_masked_softmax_cuda": SOFTMAX,
    "scaled_softmax_cuda": SOFTMAX,
    "scaled_upper_triang_masked_softmax_cuda": SOFTMAX,
}


@functools.cache
def product_workspace(device):
    """What Transformer Engine hands to cuBLAS, taken once: 32 MiB since Hopper, 4 MiB before."""
    size = (32 if torch.cuda.get_device_capability(device)[0] >= 9 else 4) << 20
    return torch.empty(size, dtype=torch.uint8, device=device)


def general_product(a, b, out_dtype=None, layout="TN", out=None, bias=None, grad=False):
    """Each letter of the layout says whether a matrix, a or b, is transposed as columns are counted first."""
    product_workspace(a.device)
    shape = (b.shape[layout[1] == "T"], a.shape[layout[0] == "N"])
    return [torch.empty(shape, dtype=out_dtype or a.dtype, device=a.device) if out is None else out]


@functools.cache
def gradient_elsewhere(rows, columns, dtype):
    return torch.empty(rows, columns, dtype=dtype, device="cuda")


class TransformerEngineNorm:
    """Keeps what PyTorch's keeps. A class, since Megatron-LM takes a function for a module that is made already."""

    def __new__(cls, config, hidden_size, eps=1e-5):
        return importlib.import_module("megatron.core.transformer.torch_norm").WrappedTorchNorm(config, hidden_size, eps)


TRANSFORMER_ENGINE = {  # what Megatron-LM imported from it, or would have, by the module that did
    "megatron.core.tensor_parallel.layers": {
        "HAVE_TE": True,
        "get_dummy_wgrad": lambda shape, dtype, zero=False: gradient_elsewhere(*shape, dtype).detach(),
    },
    "megatron.core.models.T5.t5_spec": {"TENorm": TransformerEngineNorm},
    "megatron.core.transformer.moe.moe_utils": {"te_general_gemm": general_product},
}


def main():
    for name, contents in MODULES.items():
        module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec(name, None, is_package=True))
        module.__dict__.update(contents)
        sys.modules[name] = module
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    for name, contents in TRANSFORMER_ENGINE.items():
        importlib.import_module(name).__dict__.update(contents)
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
