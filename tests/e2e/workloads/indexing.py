"""Operations whose result depends on values: unique, sort, topk, sampling, masks; run-time compiled operators."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=512)
parser.add_argument("--classes", type=int, default=1000)
parser.add_argument("--width", type=int, default=256)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--checked", action="store_true", help="add operations whose values PyTorch checks on the host")
parser.add_argument("--optimizer", default="Adam", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

device = torch.device(args.device)
SPECIAL = (
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "digamma", "entr", "erfcx", "i0e", "i1", "i1e",
    "log_ndtr", "modified_bessel_i0", "modified_bessel_k0", "ndtri", "scaled_modified_bessel_k0", "spherical_bessel_j0",
)


if device.type == "cuda":
    bump = torch.cuda.jiterator._create_jit_fn("template <typename T> T bump(T x) { return T(1) / (T(1) + x * x); }")
else:
    def bump(x):
        return 1 / (1 + x * x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(args.classes, args.width)
        self.body = nn.Sequential(nn.Linear(args.width, args.width), nn.ReLU())
        self.head = nn.Linear(args.width, args.classes)

    def forward(self, tokens):
        if not args.checked:
            return self.head(self.body(self.embedding(tokens)))
        distinct, inverse = torch.unique(tokens, return_inverse=True)
        return self.head(self.body(self.embedding(distinct))[inverse])


model = Net().to(device)
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-3)

for step in range(args.steps):
    tokens = torch.randint(0, args.classes, (args.batch,)).to(device)
    labels = torch.randint(0, args.classes, (args.batch,)).to(device)
    logits = model(tokens)
    losses = F.cross_entropy(logits, labels, reduction="none")

    hardest, _ = torch.topk(losses, args.batch // 2)
    above = losses[losses > losses.mean()]
    loss = hardest.mean() + above.sum() / args.batch
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    with torch.no_grad():
        probabilities = logits.float().softmax(dim=-1)
        sampled = torch.multinomial(probabilities, num_samples=4, replacement=not args.checked)
        ordered, order = torch.sort(probabilities, dim=-1, descending=True, stable=True)
        kept = (ordered.cumsum(-1) < 0.9).nonzero()
        winners, votes = torch.unique(order[:, 0], return_counts=True)
        runs = torch.unique_consecutive(tokens.sort().values)
        histogram = torch.bincount(tokens, minlength=args.classes)
        median = probabilities.kthvalue(args.classes // 2, dim=-1).values
        chosen = probabilities.masked_select(probabilities > median[:, None])
        shuffled = tokens[torch.randperm(args.batch, device=device)]
        bump(probabilities)
        for name in SPECIAL:
            getattr(torch.special, name)(median)
        torch.special.zeta(median + 2, median + 1)
        torch.special.polygamma(2, median + 1)
        torch.special.chebyshev_polynomial_t(median, 3)
        torch.gcd(tokens, shuffled)
    print(
        f"step {step}: sampled {tuple(sampled.shape)}, kept {len(kept)}, winners {len(winners)}, "
        f"votes {votes.sum()}, runs {len(runs)}, used {histogram.count_nonzero()}, chosen {len(chosen)}"
    )
