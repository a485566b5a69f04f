#!/usr/bin/env python3
"""Networks with random weights, and what PyTorch answers: tests/unit/network.c holds C against it.

    make.py FOLDER [SEED]    METHOD.net, weights in the format of docs/network.md, and METHOD.cases, questions with outputs

The answers come from torch.nn's own layers, put together as the published code puts them together, one sample at a time;
the networks that hook/plimsoll_learn trains are held against the same. Without arguments nothing is written: only that.
"""
import pathlib
import sys

import torch
from torch import nn

HOOK = pathlib.Path(__file__).resolve().parents[3] / "hook" / "plimsoll_learn"
sys.path.insert(0, str(HOOK))
import matrix
import networks

CASES = 4


def head(family, features, outputs, length, kind):
    first, width = {"classes": (1000, 1000), "log": (7.5, 0.25)}[kind]
    lines = [f"family {family}", "target device_used", "rows 100", "seed 0",
             f"answer {kind} {outputs} {first} {width}", f"length {length}", f"features {len(features)}"]
    return lines + [f"feature {name} 0 1000 0" for name in features]


def make(method, family, features, outputs, length=0, kind="classes", token=4):
    data = matrix.Matrix(head(family, features, outputs, length, kind), {"method": method, "folds": 0, "all": 0, "token": token, "node": 16})
    return data


def scramble(model, generator):
    """No weight, no statistic stays what it is at the start."""
    with torch.no_grad():
        for tensor in list(model.parameters()) + list(model.buffers()):
            if tensor.dtype.is_floating_point:
                tensor.copy_(torch.randn(tensor.shape, generator=generator) * 0.5)
        for norm in (module for module in model.modules() if isinstance(module, networks.Norm)):
            norm.variance.abs_().add_(0.1)
    return model.eval()


class Question:
    """One sample, as a batch of one."""

    def __init__(self, data, generator):
        rand = lambda *shape: torch.rand(shape, generator=generator)
        self.x = rand(1, data.features) * 1000
        self.tokens = torch.zeros(1, max(data.length, 1), data.token_width)
        self.count = int(torch.randint(1, data.length + 1, (1,), generator=generator)) if data.length else 0
        self.tokens[0, : self.count] = rand(self.count, data.token_width) * 10
        nodes = 6
        self.nodes, self.owner = rand(nodes, data.node_width), torch.zeros(nodes, dtype=torch.long)
        self.edges = torch.tensor([(0, 1), (1, 2), (0, 3), (2, 3), (3, 4), (1, 5), (3, 5), (4, 5)])
        self.sizes = rand(len(self.edges), 1)


# ---- the same networks of torch.nn's layers ----


def norm_of(tensors, name, channels):
    norm = nn.BatchNorm1d(channels)
    norm.load_state_dict({"weight": tensors[f"{name}.scale"], "bias": tensors[f"{name}.shift"],
                          "running_mean": tensors[f"{name}.mean"], "running_var": tensors[f"{name}.variance"],
                          "num_batches_tracked": torch.tensor(0)})
    return norm


def linear_of(tensors, name):
    weight = tensors[f"{name}.weight"]
    linear = nn.Linear(weight.shape[1], weight.shape[0])
    linear.load_state_dict({"weight": weight, "bias": tensors[f"{name}.bias"]})
    return linear


def member_of(tensors, name, depth):
    layers = []
    for level in range(depth):
        linear = linear_of(tensors, f"{name}.{level}")
        layers += [linear, norm_of(tensors, f"{name}.{level}", linear.out_features), nn.ReLU()]
    return nn.Sequential(*layers, linear_of(tensors, f"{name}.out")).eval()


def ensemble(tensors, prefix, depths, x):
    members = [member_of(tensors, f"{prefix}mlp.{number}", depth) for number, depth in enumerate(depths)]
    return torch.stack([member(x) for member in members]).mean(dim=0)


def encoder_layer_of(tensors, name, width):
    layer = nn.TransformerEncoderLayer(width, 1, dim_feedforward=len(tensors[f"{name}.first.bias"]), dropout=0.0)
    layer.load_state_dict({
        "self_attn.in_proj_weight": tensors[f"{name}.in.weight"], "self_attn.in_proj_bias": tensors[f"{name}.in.bias"],
        "self_attn.out_proj.weight": tensors[f"{name}.out.weight"], "self_attn.out_proj.bias": tensors[f"{name}.out.bias"],
        "linear1.weight": tensors[f"{name}.first.weight"], "linear1.bias": tensors[f"{name}.first.bias"],
        "linear2.weight": tensors[f"{name}.second.weight"], "linear2.bias": tensors[f"{name}.second.bias"],
        "norm1.weight": tensors[f"{name}.norm1.scale"], "norm1.bias": tensors[f"{name}.norm1.shift"],
        "norm2.weight": tensors[f"{name}.norm2.scale"], "norm2.bias": tensors[f"{name}.norm2.shift"]})
    return layer.eval()


def encoder(tensors, number, depths, layers, question):
    first = linear_of(tensors, f"{number}.embed.0")
    length, width = tensors[f"{number}.position"].shape
    embed = nn.Sequential(first, norm_of(tensors, f"{number}.embed.0", length), nn.ReLU(),
                          linear_of(tensors, f"{number}.embed.1"), norm_of(tensors, f"{number}.embed.1", length), nn.ReLU())
    x = embed.eval()(question.tokens) + tensors[f"{number}.position"]
    for layer in range(layers):
        x = encoder_layer_of(tensors, f"{number}.layer.{layer}", width)(x)
    return ensemble(tensors, f"{number}.", depths, torch.cat((x.sum(dim=1), question.x), dim=1))


def reference(data, tensors, question):
    """None: there is no published code to hold against."""
    if data.method == "gpumemnet-mlp":
        return ensemble(tensors, "", networks.DEPTHS[data.family], question.x)
    if data.method == "gpumemnet-transformer":
        return torch.stack([encoder(tensors, number, networks.DEPTHS["transformer"], layers, question)
                            for number, (_, layers, _) in enumerate(networks.ENCODERS)]).mean(dim=0)
    return None


def near(a, b):
    assert torch.allclose(a, b, rtol=1e-4, atol=1e-4), (a, b)


# ---- files ----


def case_lines(data, question, output):
    join = lambda tensor: " ".join(f"{value:.9g}" for value in tensor.double().reshape(-1).tolist())
    yield f"x {join(question.x)}"
    if data.length:
        yield f"tokens {join(question.tokens[0, : question.count])}"
    if data.method == "dnnperf":
        yield f"nodes {join(question.nodes)}"
        yield "edges " + " ".join(f"{a} {b} {s:.9g}" for (a, b), s in zip(question.edges.tolist(), question.sizes[:, 0].tolist()))
    yield f"output {join(output)}"


def one(name, data, folder, seed):
    generator = torch.Generator().manual_seed(seed)
    model = scramble(networks.NETWORKS[data.method](data, generator), generator)
    tensors, lines = model.tensors(), []
    with torch.no_grad():
        for _ in range(CASES):
            question = Question(data, generator)
            output = model(question, True)
            published = reference(data, tensors, question)
            if published is not None:
                near(output, published)
                near(model(question, False), published)  # attention over a batch of one is the identity on its values
            lines += case_lines(data, question, output if published is None else published)
    if folder:
        matrix.write(str(folder / f"{name}.net"), data, {}, tensors)
        (folder / f"{name}.cases").write_text("\n".join(lines) + "\n")


MLP = ["layers", "batch", "parameters", "activations", "batchnorms", "dropouts", "activation_sin", "activation_cos"]
CNN = ["depth", "activations", "activations_batch", "parameters", "batch", "convolutions", "batchnorms", "dropouts",
       "activation_sin", "activation_cos"]
SEQUENCE = ["batch", "parameters", "activations", "activations_batch"]
GRAPH = ["batch", "parameters", "activations", "flops", "largest", "input"]


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    one("gpumemnet-mlp", make("gpumemnet-mlp", "mlp", MLP, 4), folder, seed)
    one("gpumemnet-mlp-cnn", make("gpumemnet-mlp", "cnn", CNN, 6), folder, seed)
    one("gpumemnet-transformer", make("gpumemnet-transformer", "mlp", SEQUENCE, 3, length=9), folder, seed)
    one("dnnperf", make("dnnperf", "mlp", GRAPH, 1, kind="log"), folder, seed)


main()
