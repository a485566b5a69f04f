"""Parts of PyTorch that most networks leave alone, each in a short training."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


def train(parameters, loss_of, steps=6):
    optimizer = torch.optim.Adam(list(parameters), lr=1e-3)
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


def nested():
    """Sequences of different lengths without padding, through attention."""
    inputs, out = nn.Linear(64, 192).cuda(), nn.Linear(64, 64).cuda()

    def loss_of():
        batch = torch.nested.nested_tensor([torch.randn(n, 64) for n in (5, 17, 9, 30)], layout=torch.jagged, device="cuda", requires_grad=False)
        q, k, v = (part.unflatten(-1, [4, 16]).transpose(1, 2) for part in inputs(batch).chunk(3, dim=-1))
        made = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(-2)
        return out(made).values().square().mean()

    train([*inputs.parameters(), *out.parameters()], loss_of)


def sparse():
    weight = nn.Parameter(torch.randn(512, 64, device="cuda"))
    matrix = torch.sparse_coo_tensor(torch.randint(0, 512, (2, 2000)), torch.randn(2000), (512, 512)).coalesce().cuda()
    rows = matrix.to_sparse_csr()
    train([weight], lambda: (torch.sparse.mm(matrix, weight) + rows @ weight).square().mean())


def complex_numbers():
    layer, real = nn.Linear(64, 64, dtype=torch.complex64).cuda(), nn.Linear(64, 1).cuda()

    def loss_of():
        wave = torch.fft.fft(torch.randn(32, 64, device="cuda"))
        return real(torch.fft.ifft(layer(wave)).abs()).square().mean()

    train([*layer.parameters(), *real.parameters()], loss_of)


def fp64():
    layer = nn.Sequential(nn.Linear(64, 128), nn.Softplus(), nn.Linear(128, 8)).double().cuda()

    def loss_of():
        made = layer(torch.randn(32, 64, dtype=torch.float64, device="cuda"))
        spread = made.T @ made + torch.eye(8, dtype=torch.float64, device="cuda")
        return -torch.linalg.cholesky(spread).diagonal().log().sum() + torch.linalg.solve(spread, made.T).square().sum()

    train(layer.parameters(), loss_of)


def vmap():
    """A gradient for each sample, as differential privacy wants it."""
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 5)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def loss_of(values, sample, label):
        return F.cross_entropy(torch.func.functional_call(model, values, (sample[None],)), label[None])

    for step in range(6):
        values = {name: value.detach() for name, value in model.named_parameters()}
        each = torch.func.vmap(torch.func.grad(loss_of), in_dims=(None, 0, 0))(values, torch.randn(64, 32).cuda(), torch.randint(0, 5, (64,)).cuda())
        norms = torch.stack([gradient.flatten(1).norm(dim=1) for gradient in each.values()]).norm(dim=0)
        factor = (1 / (norms + 1e-6)).clamp(max=1.0)
        for name, value in model.named_parameters():
            value.grad = torch.einsum("b,b...->...", factor, each[name]) + torch.randn_like(value)
        optimizer.step()
        print(step, norms.mean().item())


def hessian():
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1)).cuda()

    def loss_of():
        point = torch.randn(16, 8, device="cuda")
        curved = torch.func.vmap(torch.func.hessian(lambda x: model(x).squeeze()))(point)
        return curved.diagonal(dim1=1, dim2=2).sum(1).square().mean() + torch.func.vmap(torch.func.jacrev(lambda x: model(x)))(point).square().mean()

    train(model.parameters(), loss_of)


def penalty():
    """WGAN-GP's critic: the gradient of a gradient."""
    critic = nn.Sequential(nn.Conv2d(1, 16, 3, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(16 * 14 * 14, 1)).cuda()

    def loss_of():
        real, made = torch.randn(16, 1, 28, 28).cuda(), torch.randn(16, 1, 28, 28, device="cuda")
        share = torch.rand(16, 1, 1, 1, device="cuda")
        between = (share * real + (1 - share) * made).requires_grad_()
        slope, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
        return critic(made).mean() - critic(real).mean() + 10 * (slope.flatten(1).norm(dim=1) - 1).square().mean()

    train(critic.parameters(), loss_of)


def custom_function():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            x, = ctx.saved_tensors
            return 2 * x * gradient

    layer = nn.Linear(64, 64).cuda()
    train(layer.parameters(), lambda: Square.apply(layer(torch.randn(32, 64).cuda())).mean())


def offload():
    """Activations kept on the host."""
    layers = nn.Sequential(*[nn.Sequential(nn.Linear(256, 256), nn.GELU()) for _ in range(4)]).cuda()

    def loss_of():
        with torch.autograd.graph.save_on_cpu(pin_memory=True):
            return layers(torch.randn(512, 256).cuda()).square().mean()

    train(layers.parameters(), loss_of)


def ctc_decode():
    """CTC with lengths of the host, and greedy decoding of what came out."""
    net = nn.LSTM(40, 64, 2, bidirectional=True).cuda()
    head = nn.Linear(128, 29).cuda()

    def loss_of():
        lengths = torch.randint(30, 60, (8,))
        packed = nn.utils.rnn.pack_padded_sequence(torch.randn(60, 8, 40).cuda(), lengths, enforce_sorted=False)
        out, sizes = nn.utils.rnn.pad_packed_sequence(net(packed)[0])
        logs = head(out).log_softmax(-1)
        decoded = [torch.unique_consecutive(row).tolist() for row in logs.argmax(-1).T]
        print("decoded", len(decoded))
        return F.ctc_loss(logs, torch.randint(1, 29, (8, 12)).cuda(), sizes, torch.full((8,), 12))

    train([*net.parameters(), *head.parameters()], loss_of)


def flow():
    """Two models, an ODE by Euler's rule, a rejected step when it is too coarse."""
    field = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 2)).cuda()

    def loss_of():
        x, t = torch.randn(128, 2).cuda(), 0.0
        while t < 1.0:
            x = x + 0.25 * field(torch.cat([x, torch.full_like(x[:, :1], t)], 1))
            t += 0.25
        return x.square().mean()

    train(field.parameters(), loss_of)


def flex():
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    layer = nn.Linear(64, 192).cuda()
    mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 128, 128, device="cuda")

    def loss_of():
        q, k, v = (part.unflatten(-1, [4, 16]).transpose(1, 2) for part in layer(torch.randn(2, 128, 64).cuda()).chunk(3, -1))
        return flex_attention(q, k, v, block_mask=mask).square().mean()

    train(layer.parameters(), loss_of)


def packing():
    """Sequences one after the other with cumulative lengths, as flash attention's interface for variable lengths has them."""
    layer = nn.Linear(64, 192).cuda()

    def loss_of():
        lengths = torch.randint(5, 40, (6,)).cuda()
        ends = F.pad(lengths.cumsum(0), (1, 0)).int()
        total, longest = int(ends[-1]), int(lengths.max())
        rows = layer(torch.randn(total, 64, device="cuda")).unflatten(-1, [3, 4, 16])
        padded = torch.zeros(6, longest, 3, 4, 16, device="cuda")
        mask = torch.arange(longest, device="cuda")[None] < lengths[:, None]
        padded[mask] = rows
        q, k, v = padded.permute(2, 0, 3, 1, 4)
        made = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None])
        return made.transpose(1, 2)[mask].square().mean()

    train(layer.parameters(), loss_of)


def quantile_head():
    """Losses on parts that masks of labels choose, class weights by counts, hard examples by top-k."""
    net = nn.Linear(32, 10).cuda()

    def loss_of():
        labels = torch.randint(-1, 10, (128,)).cuda()
        valid = labels >= 0
        counts = torch.bincount(labels[valid], minlength=10)
        if (counts == 0).all():
            raise SystemExit("no label at all")
        present = torch.unique(labels[valid])
        assert len(present) > 0 and present.min() >= 0
        each = F.cross_entropy(net(torch.randn(128, 32).cuda())[valid], labels[valid], weight=1.0 / counts.clamp(min=1), reduction="none")
        return each.topk(int(valid.sum() * 0.5)).values.mean()

    train(net.parameters(), loss_of)


KINDS = {"nested": nested, "sparse": sparse, "complex": complex_numbers, "fp64": fp64, "vmap": vmap, "hessian": hessian, "penalty": penalty,
         "custom-function": custom_function, "offload": offload, "ctc-decode": ctc_decode, "flow": flow, "flex": flex, "packing": packing,
         "label-masks": quantile_head}
parser = argparse.ArgumentParser()
parser.add_argument("kind", choices=KINDS)
KINDS[parser.parse_args().kind]()
