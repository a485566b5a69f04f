"""Programs check what they are given by its values. What depends on weights is taken to be finite, and valid where PyTorch's distributions
check it; what is known is checked as it is."""
import torch
from torch import distributions as d

net = torch.nn.Linear(16, 8).cuda()


def made(rows=4):
    return net(torch.randn(rows, 16).cuda())


x = made()
for answer, tensor in ((True, torch.isfinite(x)), (True, x == x), (False, torch.isnan(x)), (False, torch.isinf(x)), (False, x != x)):
    assert tensor.tolist() == [[answer] * 8] * 4, tensor
assert torch.isfinite(x.mean()) and torch.isfinite(x).all() and not torch.isnan(x).any() and not (x == float("inf")).any()
known = torch.tensor([1.0, float("nan"), float("inf")], device="cuda")
assert torch.isfinite(known).tolist() == [True, False, False] and torch.isnan(known).any()

# A text of a tensor looks for its largest and smallest numbers; nothing else follows from that.
print(x, x.mean(), made(2000))
assert str(x.detach().mean()) == "tensor(0.0010, device='cuda:0')" and str(x.topk(2).indices[1]) == "tensor([2, 3], device='cuda:0')"
assert str(known[:1]) == "tensor([1.], device='cuda:0')"

positive = torch.nn.functional.softplus(x)
for one in (d.Normal(x, positive), d.Beta(positive, positive), d.Gamma(positive, positive), d.Dirichlet(positive), d.Categorical(logits=x),
            d.Categorical(probs=x.softmax(-1)), d.Bernoulli(probs=x.sigmoid()), d.Independent(d.Normal(x, positive), 1),
            d.MultivariateNormal(x, covariance_matrix=torch.diag_embed(positive))):
    one.log_prob(one.sample())
d.Normal(made(20000), 1.0).rsample()  # more than is followed
d.kl_divergence(d.Normal(x, positive), d.Normal(0.0, 1.0))
try:
    d.Normal(torch.zeros(3, device="cuda"), torch.tensor([1.0, -1.0, 1.0], device="cuda"))
except ValueError:
    print("ok")
if (x > 0).all():
    print("outside of a check all() finds what it found before")


# What a program makes sure of is so; where it goes on with either answer, it reads what was there.
def boxes(corners):
    assert (corners[:, 2:] >= corners[:, :2]).all()
    if not (corners >= 0).all():
        raise ValueError(f"boxes must be positive, but got {corners}")
    if (corners > 1).any() or corners.max() > 1:
        raise ValueError("outside")
    assert corners.sum() > 0, "empty"
    assert torch.allclose(corners, corners.clone())
    return 1 if corners.min() > 0.5 else 2


assert boxes(x[:, :4]) == 2
try:
    boxes(torch.tensor([[1.0, 1.0, 0.0, 0.0]], device="cuda"))
except AssertionError:
    print("known")


def sampled():
    """By rejection: nobody knows when all are accepted."""
    tries, accepted = 0, made()[:, 0] > 0
    while not accepted.all():
        tries += 1
    return tries


assert 500 < sampled() < 100000
