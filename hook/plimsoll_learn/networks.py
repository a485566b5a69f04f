"""The networks. `tensors()` of each gives its weights by the names that C knows (docs/network.md); src/study/learn has the
same networks for one question at a time. `alone` says that every sample is asked by itself, as C does: then attention, which
the published code lets run over the batch, is the identity on its values."""
import torch
from torch import nn
from torch.nn import functional as F

EPSILON = 1e-5  # of BatchNorm and LayerNorm
MOMENTUM = 0.1
DEPTHS = {
    "mlp": [1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6],
    "transformer": [1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6],
    "cnn": [1, 2, 3, 4, 5, 6, 7, 8, 4, 5, 6, 7, 8, 4, 5, 6],
}
WIDEST, NARROWEST = 8, 4
ENCODERS = [(6, 3, 4), (4, 2, 4)]  # width, layers, hidden width


def _xavier(shape, generator):
    """Of stacked matrices, each as xavier_uniform_ makes it."""
    bound = (6 / (shape[-1] + shape[-2])) ** 0.5
    return nn.Parameter((torch.rand(shape, generator=generator) * 2 - 1) * bound)


def _zeros(*shape):
    return nn.Parameter(torch.zeros(shape))


class Norm(nn.Module):
    """BatchNorm over the first dimension of (samples, channels) and, of three dimensions, over the last one too."""

    def __init__(self, channels):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(channels)), _zeros(channels)
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("variance", torch.ones(channels))

    def forward(self, x):
        return F.batch_norm(x, self.mean, self.variance, self.scale, self.shift, self.training, MOMENTUM, EPSILON)


class Ensemble(nn.Module):
    """Small MLPs of several depths; all members that have a level go through it at once."""

    def __init__(self, depths, inputs, outputs, generator):
        super().__init__()
        self.depths, self.outputs = depths, outputs
        self.levels = nn.ModuleList()
        self.alive = []  # per level: where its members are among those of the level before
        width, before = inputs, list(range(len(depths)))
        for level in range(max(depths)):
            after = max(NARROWEST, int(WIDEST * 0.5**level))
            members = [m for m in before if depths[m] > level]
            self.alive.append(torch.tensor([before.index(m) for m in members]))
            part = nn.Module()
            part.weight = _xavier((len(members), after, width), generator)
            part.bias = _zeros(len(members), 1, after)
            part.norm = Norm(len(members) * after)
            part.members, part.width = members, after
            self.levels.append(part)
            width, before = after, members
        self.ends = nn.ModuleList()
        for level, part in enumerate(self.levels):
            end = nn.Module()
            end.members = [m for m in part.members if depths[m] == level + 1]
            end.places = torch.tensor([part.members.index(m) for m in end.members], dtype=torch.long)
            if end.members:
                end.weight = _xavier((len(end.members), outputs, part.width), generator)
                end.bias = _zeros(len(end.members), 1, outputs)
            self.ends.append(end)

    def forward(self, x):
        samples = len(x)
        x = x.unsqueeze(0).expand(len(self.depths), -1, -1)
        total = 0
        for part, alive, end in zip(self.levels, self.alive, self.ends):
            if len(alive) != len(x):
                x = x.index_select(0, alive)
            x = torch.baddbmm(part.bias, x, part.weight.transpose(1, 2))
            flat = part.norm(x.transpose(0, 1).reshape(samples, -1))
            x = flat.relu().view(samples, len(part.members), part.width).transpose(0, 1)
            if end.members:
                last = x if len(end.places) == len(x) else x.index_select(0, end.places)
                total = total + torch.baddbmm(end.bias, last, end.weight.transpose(1, 2)).sum(0)
        return total / len(self.depths)

    def tensors(self, prefix=""):
        found = {}
        for member, depth in enumerate(self.depths):
            name = f"{prefix}mlp.{member}"
            for level in range(depth):
                part = self.levels[level]
                at = part.members.index(member)
                channels = slice(at * part.width, (at + 1) * part.width)
                found[f"{name}.{level}.weight"] = part.weight[at]
                found[f"{name}.{level}.bias"] = part.bias[at, 0]
                for key in ("scale", "shift", "mean", "variance"):
                    found[f"{name}.{level}.{key}"] = getattr(part.norm, key)[channels]
            end = self.ends[depth - 1]
            at = end.members.index(member)
            found[f"{name}.out.weight"] = end.weight[at]
            found[f"{name}.out.bias"] = end.bias[at, 0]
        return found


class MLP(nn.Module):
    def __init__(self, data, generator):
        super().__init__()
        self.ensemble = Ensemble(DEPTHS[data.family], data.features, data.outputs, generator)

    def forward(self, batch, alone):
        return self.ensemble(batch.x)

    def tensors(self):
        return self.ensemble.tensors()


class EncoderLayer(nn.Module):
    """As nn.TransformerEncoderLayer without batch_first: the first dimension, of samples, is what attention runs over."""

    def __init__(self, width, hidden, generator):
        super().__init__()
        self.into, self.into_bias = _xavier((3 * width, width), generator), _zeros(3 * width)
        # PyTorch starts these as its Linear does; the published code leaves it so.
        bound = width**-0.5
        uniform = lambda shape, b: nn.Parameter((torch.rand(shape, generator=generator) * 2 - 1) * b)
        self.out, self.out_bias = uniform((width, width), bound), _zeros(width)
        self.first, self.first_bias = uniform((hidden, width), bound), uniform((hidden,), bound)
        self.second, self.second_bias = uniform((width, hidden), hidden**-0.5), uniform((width,), hidden**-0.5)
        self.norms = nn.ModuleList(nn.LayerNorm(width, eps=EPSILON) for _ in range(2))
        self.width = width

    def attend(self, x, alone):
        if alone:
            return F.linear(x, self.into[2 * self.width :], self.into_bias[2 * self.width :])
        query, key, value = F.linear(x, self.into, self.into_bias).transpose(0, 1).unsqueeze(1).chunk(3, dim=-1)
        return F.scaled_dot_product_attention(query, key, value).squeeze(1).transpose(0, 1)

    def forward(self, x, alone):
        x = self.norms[0](x + F.linear(self.attend(x, alone), self.out, self.out_bias))
        hidden = F.linear(x, self.first, self.first_bias).relu()
        return self.norms[1](x + F.linear(hidden, self.second, self.second_bias))

    def tensors(self, name):
        return {
            f"{name}.in.weight": self.into,
            f"{name}.in.bias": self.into_bias,
            f"{name}.first.weight": self.first,
            f"{name}.out.weight": self.out,
            f"{name}.out.bias": self.out_bias,
            f"{name}.first.bias": self.first_bias,
            f"{name}.second.weight": self.second,
            f"{name}.second.bias": self.second_bias,
            f"{name}.norm1.scale": self.norms[0].weight,
            f"{name}.norm1.shift": self.norms[0].bias,
            f"{name}.norm2.scale": self.norms[1].weight,
            f"{name}.norm2.shift": self.norms[1].bias,
        }


def _positions(length, width):
    at = torch.arange(length, dtype=torch.float).unsqueeze(1)
    rate = torch.exp(torch.arange(0, width, 2).float() * (-torch.log(torch.tensor(10000.0)) / width))
    table = torch.zeros(length, width)
    table[:, 0::2], table[:, 1::2] = torch.sin(at * rate), torch.cos(at * rate)
    return table


class Encoder(nn.Module):
    def __init__(self, data, width, layers, hidden, generator):
        super().__init__()
        uniform = lambda shape, b: nn.Parameter((torch.rand(shape, generator=generator) * 2 - 1) * b)
        inputs = [data.token_width, width]
        self.weights = nn.ParameterList(uniform((width, n), n**-0.5) for n in inputs)
        self.biases = nn.ParameterList(uniform((width,), n**-0.5) for n in inputs)
        self.norms = nn.ModuleList(Norm(data.length) for _ in inputs)
        self.register_buffer("position", _positions(data.length, width))
        self.layers = nn.ModuleList(EncoderLayer(width, hidden, generator) for _ in range(layers))
        self.ensemble = Ensemble(DEPTHS["transformer"], width + data.features, data.outputs, generator)

    def forward(self, batch, alone):
        x = batch.tokens
        for weight, bias, norm in zip(self.weights, self.biases, self.norms):
            x = norm(F.linear(x, weight, bias)).relu()
        x = x + self.position
        for layer in self.layers:
            x = layer(x, alone)
        return self.ensemble(torch.cat((x.sum(dim=1), batch.x), dim=1))

    def tensors(self, number):
        found = {}
        for i, (weight, bias, norm) in enumerate(zip(self.weights, self.biases, self.norms)):
            found[f"{number}.embed.{i}.weight"], found[f"{number}.embed.{i}.bias"] = weight, bias
            for key in ("scale", "shift", "mean", "variance"):
                found[f"{number}.embed.{i}.{key}"] = getattr(norm, key)
        found[f"{number}.position"] = self.position
        for i, layer in enumerate(self.layers):
            found |= layer.tensors(f"{number}.layer.{i}")
        return found | self.ensemble.tensors(f"{number}.")


class Transformer(nn.Module):
    def __init__(self, data, generator):
        super().__init__()
        self.encoders = nn.ModuleList(Encoder(data, *sizes, generator) for sizes in ENCODERS)

    def forward(self, batch, alone):
        return torch.stack([encoder(batch, alone) for encoder in self.encoders]).mean(dim=0)

    def tensors(self):
        found = {}
        for number, encoder in enumerate(self.encoders):
            found |= encoder.tensors(number)
        return found


class Graph(nn.Module):
    """In the style of DNNPerf; src/study/learn/dnnperf.c says what it does."""

    WIDTH, EDGE, ROUNDS, READ = 24, 12, 2, 32
    LEAK, SHARE = 0.2, 1 / 32

    def __init__(self, data, generator):
        super().__init__()
        ends = self.EDGE + 2 * self.WIDTH
        shapes = {"node": (self.WIDTH, data.node_width), "edge": (self.EDGE, 1)}
        for number in range(self.ROUNDS):
            shapes[f"{number}.edge"] = (self.EDGE, ends)
            shapes[f"{number}.attention"] = (1, ends)
            shapes[f"{number}.node"] = (self.WIDTH, self.WIDTH + self.EDGE)
        shapes["read.0"] = (self.READ, self.WIDTH + data.features)
        shapes["read.1"] = (self.READ, self.READ)
        shapes["out"] = (data.outputs, self.READ)
        self.names = list(shapes)
        self.weights = nn.ParameterList(_xavier(shapes[name], generator) for name in self.names)
        self.biases = nn.ParameterList(_zeros(shapes[name][0]) for name in self.names)

    def dense(self, name, x):
        at = self.names.index(name)
        return F.linear(x, self.weights[at], self.biases[at])

    def forward(self, batch, alone):
        node, edge = self.dense("node", batch.nodes).relu(), self.dense("edge", batch.sizes).relu()
        start, end = batch.edges[:, 0], batch.edges[:, 1]
        for number in range(self.ROUNDS):
            ends = (node[start], node[end])
            edge = self.dense(f"{number}.edge", torch.cat((edge, *ends), 1)).relu()
            score = F.leaky_relu(self.dense(f"{number}.attention", torch.cat((edge, *ends), 1)), self.LEAK)
            most = torch.zeros(len(node), 1).scatter_reduce(0, end.unsqueeze(1), score.detach(), "amax", include_self=False)
            score = (score - most[end]).exp()
            total = torch.zeros(len(node), 1).index_add(0, end, score)
            message = torch.zeros(len(node), self.EDGE).index_add(0, end, edge * score / total[end])
            node = self.dense(f"{number}.node", torch.cat((node, message), 1)).relu()
        whole = torch.zeros(len(batch.x), self.WIDTH).index_add(0, batch.owner, node) * self.SHARE
        x = torch.cat((whole, torch.log1p(batch.x.clamp(min=0)) / 20), 1)
        x = self.dense("read.1", self.dense("read.0", x).relu()).relu()
        return self.dense("out", x)

    def tensors(self):
        found = {}
        for name, weight, bias in zip(self.names, self.weights, self.biases):
            found[f"{name}.weight"], found[f"{name}.bias"] = weight, bias
        return found


NETWORKS = {"gpumemnet-mlp": MLP, "gpumemnet-transformer": Transformer, "dnnperf": Graph}
