"""L-BFGS and conjugate gradients go on as on the CPU: the loss falls within a step, a descent goes against the gradient, and the change of
the gradient along a step counts as curvature. So the history fills, which is what the optimizer's memory is. Prints `ok`."""
import sys

import torch


def train(device, how, steps=3):
    """Iterations and pairs in the history after each step, and how often the loss was asked for."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1)).to(device)
    inputs = torch.rand(256, 20)
    target = inputs.sin().sum(1, keepdim=True).to(device)
    inputs = inputs.to(device)
    optimizer = torch.optim.LBFGS(model.parameters(), **how)
    found, asked = [], 0

    def closure():
        nonlocal asked
        asked += 1
        optimizer.zero_grad()
        loss = (model(inputs) - target).square().mean()
        loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(closure)
        state = optimizer.state[next(iter(model.parameters()))]
        found.append((state["n_iter"], len(state["old_dirs"])))
    return found, asked


expected, found = (train(device, {"max_iter": 20, "history_size": 50})[0] for device in ("cpu", "cuda"))
assert found == expected == [(20, 19), (40, 39), (60, 50)], (found, expected)
how = {"max_iter": 20, "history_size": 30, "line_search_fn": "strong_wolfe"}
expected, found = (train(device, how)[0] for device in ("cpu", "cuda"))
assert found[-1][1] == expected[-1][1] == 30 and all(abs(a[0] - b[0]) <= 6 for a, b in zip(found, expected)), (found, expected)
# One step for all of the training: the history is full before it ends, and it ends.
found, asked = train("cuda", {"max_iter": 50000, "history_size": 40, "tolerance_grad": 1e-5, "line_search_fn": "strong_wolfe"}, steps=1)
assert 20 < found[0][1] <= 40 and asked < 200, (found, asked)

# Signs: of x with -x; what is added in place leaves a direction; a product turns with one of two.
layer = torch.nn.Linear(64, 64).cuda()
with torch.no_grad():
    x = layer(torch.randn(64, 64).cuda())[0].clone()
    y = torch.cat([x])
    for vector, sign in ((y, 1), (-y, -1), (-(-y), 1), (y - x, -1), ((-y).mul(3.0), -1), ((-y).mul(y), -1), ((-y) * (-y), 1), ((-y).add_(y), -1),
                         (torch.cat([-y]), 1), ((-y) / 2, -1), (y * -1, -1), (-0.5 * y, -1), (y / -2.0, -1), ((-y) * -3, 1), (y.clone().mul_(-1), -1),
                         (y * 2, 1), (y * torch.tensor(-1.0), -1)):
        dot = x.dot(vector)
        assert dot.item() * sign > 0 and bool(dot < 0) == (sign < 0) and vector.dot(vector) > 0, (dot.item(), sign)
    # Known ones have their own signs, and what was at the same place before leaves none.
    assert torch.arange(3.0).cuda().dot(-torch.arange(3.0).cuda()).item() == -5 and (-torch.ones(3)).cuda().dot((-torch.ones(3)).cuda()) == 3
    for _ in range(3):
        turned = -y
        del turned
        again = torch.cat([x])
        assert x.dot(again) > 0
        del again
print("ok", file=sys.stdout)
