"""Single numbers that nobody computed are small, positive and finite; a scaler finds no infinity; what differs is at least one."""
import math

import torch
from torch.nn import functional as F

model = torch.nn.Linear(8, 4).cuda()
target = torch.randint(0, 4, (16,)).cuda()


def forward():
    return model(torch.randn(16, 8).cuda())


# Losses, means, norms, and what follows from one.
made = forward()
loss = F.cross_entropy(made, target)
numbers = [loss, F.mse_loss(made, torch.zeros_like(made)), (made - 1).pow(2).mean(), made.norm(), made.sum(), loss + 0.5 * loss, loss.double(),
           loss.detach().clone(), torch.stack([loss, loss]).mean(), F.cross_entropy(made.bfloat16(), target), made.half().mean()]
for number in numbers:
    assert 0 < number.item() < 0.5 and math.log(number.item()) < 0 and 1 / number.cpu().item() > 1, number.item()
# Comparisons and sums are those of the number that item() gives, whatever program reads it first.
x = (made @ made.T).abs().mean()
value = x.item()
assert [bool(x <= 1), bool(x < 1), bool(x > 0), bool(x < 10), bool(x > 1), bool(1 < x), bool(x == value)] == [True] * 4 + [False] * 2 + [True]
for ours, right in ((x + 1, value + 1), (x.exp(), math.exp(value)), (1 / x, 1 / value), (torch.where(x < 1, x, 3 * x), value), (x.clamp(min=0.5), 0.5),
                    (torch.maximum(x, torch.full_like(x, 3.0)), 3.0), (torch.stack([x, 2 * x]).sum(), 3 * value), (x.double().sqrt(), math.sqrt(value)),
                    ((x < torch.tensor([0.0, 1.0], device="cuda")).sum(), 1), (x.expand(3)[1:].sum(), 2 * value), ((x > 0.5).float(), 0.0)):
    assert math.isclose(ours.item(), right, rel_tol=1e-4), (ours.item(), right)
assert len(torch.nonzero(x < torch.tensor([0.0, 1.0, 2.0], device="cuda"))) == 2 and math.isfinite(((x - x) / (x - x)).item())
assert torch.isfinite(x) and not torch.isnan(x / 2) and min(x, x + 1) is x
y = x.clone()
while y < 1:
    y *= 2
assert y.item() == 1.0
# What is no such number: the largest of flags, whole numbers, what is large.
flags = (made > 3).float().max()
assert flags.item() == 0 and (flags + flags).item() == 0 and (made > 3).sum().item() == 0
assert not made.cpu().any()
# What the host wrote is what it wrote, also 0.
with torch.device("cuda"):
    zero = torch.tensor(0.0)
assert zero.item() == 0 and (zero + 1).item() == 1 and zero.abs().max().item() == 0 and torch.zeros((), device="cuda").sum().item() == 0
# What the program wrote there stays what is read, but for a step by an assumed gradient.
scale = torch.nn.Parameter(torch.tensor(2.5, device="cuda"))
(scale * made.mean()).backward()
torch.optim.SGD([scale], lr=0.1).step()
stays = scale.item()
assert abs(stays - 2.5) < 0.01 and scale.exp().item() > 12 and scale > 2 and (scale * 2).item() == 2 * stays

optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1), torch.amp.GradScaler("cuda")
updates = []
optimizer.register_step_post_hook(lambda *_: updates.append(1))
for _ in range(3):
    optimizer.zero_grad()
    with torch.autocast("cuda", torch.float16):
        loss = F.cross_entropy(forward(), target)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
assert len(updates) == 3 and scaler.get_scale() == 65536, (updates, scaler.get_scale())

# A mean of nothing is no number, and stays that while it follows from the host's data. Where what is kept was read as nothing, it is small.
kept = torch.tensor([1.0, 2.0], device="cuda")
assert math.isnan(kept[kept > 2].mean().item())
for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
    found = made.to(dtype)[made > 3]
    assert not len(found)
    for number in (found.mean(), found.sum() / len(found), F.mse_loss(found, found), found.mean() + 1):
        assert 0 < number.item() < 2 and torch.isfinite(number), number.item()
assert found.sum().item() == 0 and (kept / 0).sum().item() == math.inf

drawn = torch.randint(0, 9, (50,), device="cuda")
assert len(torch.unique(drawn)) == 1 and len(torch.unique(drawn[:0])) == 0
values, back, counts = torch.unique(drawn, return_inverse=True, return_counts=True)
assert values.shape == counts.shape == (1,) and back.shape == (50,)
assert torch.unique(drawn.view(10, 5), dim=0).shape == (1, 5) and torch.unique_consecutive(drawn).shape == (1,)
assert len(torch.unique(torch.tensor([3, 1, 3], device="cuda"))) == 2


def converged():
    """Nobody knows when: an iteration ends all the same."""
    turns, error = 0, forward().norm()
    while error.item() > 1e-6:
        turns += 1
    return turns


assert 500 < converged() < 100000
print("ok")
