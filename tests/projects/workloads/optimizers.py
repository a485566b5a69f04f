"""A small network with the optimizers that people bring: packages, written by hand, in the backward pass, with copies of the weights."""
import argparse
import copy

import torch

parser = argparse.ArgumentParser()
parser.add_argument("which", choices=("schedulefree", "lion", "adafactor", "by-hand", "in-backward", "ema", "sam", "lbfgs", "muon", "swa", "fused",
                                      "capturable", "rprop", "functional"))
which = parser.parse_args().which
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.LayerNorm(512), torch.nn.GELU(), torch.nn.Linear(512, 512), torch.nn.GELU(),
                            torch.nn.Linear(512, 10)).cuda()


class Sam(torch.optim.Optimizer):
    """Sharpness-aware minimization: two passes a step."""

    def __init__(self, parameters, base, rho=0.05, **how):
        super().__init__(parameters, dict(rho=rho, **how))
        self.base = base(self.param_groups, **how)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def first_step(self):
        norm = torch.norm(torch.stack([value.grad.norm() for group in self.param_groups for value in group["params"]]))
        for group in self.param_groups:
            for value in group["params"]:
                self.state[value]["old"] = value.data.clone()
                value.add_(value.grad * (group["rho"] / (norm + 1e-12)))
        self.zero_grad()

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for value in group["params"]:
                value.data = self.state[value]["old"]
        self.base.step()
        self.zero_grad()


class Muon(torch.optim.Optimizer):
    """Momentum made orthogonal by Newton and Schulz's iteration."""

    def __init__(self, parameters, lr=0.02, momentum=0.95):
        super().__init__(parameters, dict(lr=lr, momentum=momentum))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for value in group["params"]:
                kept = self.state[value].setdefault("momentum", torch.zeros_like(value))
                kept.lerp_(value.grad, 1 - group["momentum"])
                made = kept.bfloat16() / (kept.norm() + 1e-7) if value.ndim == 2 else kept
                if value.ndim == 2:
                    for _ in range(5):
                        square = made @ made.mT
                        made = 3.4445 * made + (-4.7750 * square + 2.0315 * square @ square) @ made
                value.add_(made.to(value.dtype), alpha=-group["lr"])


def data():
    return torch.randn(64, 256).cuda(), torch.randint(0, 10, (64,)).cuda()


def loss_of(network=model):
    inputs, labels = data()
    return torch.nn.functional.cross_entropy(network(inputs), labels)


def plain(optimizer, after=lambda: None):
    for step in range(6):
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        after()
        print(step, loss.item())


if which == "schedulefree":
    from schedulefree import AdamWScheduleFree
    made = AdamWScheduleFree(model.parameters(), lr=1e-3, warmup_steps=2)
    made.train()
    plain(made)
    made.eval()
elif which == "lion":
    from lion_pytorch import Lion
    plain(Lion(model.parameters(), lr=1e-4))
elif which == "adafactor":
    from transformers import Adafactor
    plain(Adafactor(model.parameters(), scale_parameter=True, relative_step=True, warmup_init=True, lr=None))
elif which == "by-hand":
    for step in range(6):
        loss = loss_of()
        loss.backward()
        with torch.no_grad():
            for value in model.parameters():
                value -= 0.01 * value.grad
                value.grad = None
        print(step, loss.item())
elif which == "in-backward":
    made = {value: torch.optim.AdamW([value], lr=1e-3) for value in model.parameters()}

    def update(value):
        made[value].step()
        made[value].zero_grad()

    for value in model.parameters():
        value.register_post_accumulate_grad_hook(update)
    for step in range(6):
        loss = loss_of()
        loss.backward()
        print(step, loss.item())
elif which == "ema":
    average = copy.deepcopy(model).requires_grad_(False)

    @torch.no_grad()
    def follow():
        for mine, theirs in zip(average.parameters(), model.parameters()):
            mine.lerp_(theirs, 0.001)

    plain(torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, nesterov=True), follow)
elif which == "swa":
    from torch.optim.swa_utils import SWALR, AveragedModel
    average, optimizer = AveragedModel(model), torch.optim.SGD(model.parameters(), 0.1)
    schedule = SWALR(optimizer, swa_lr=0.05)
    plain(optimizer, lambda: (average.update_parameters(model), schedule.step()))
elif which == "sam":
    optimizer = Sam(model.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)
    for step in range(6):
        inputs, labels = data()
        torch.nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.first_step()
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        print(step, loss.item())
elif which == "lbfgs":
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4, line_search_fn="strong_wolfe")
    for step in range(5):
        inputs, labels = data()

        def closure():
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(inputs), labels)
            loss.backward()
            return loss

        print(step, optimizer.step(closure).item())
elif which == "functional":
    values = dict(model.named_parameters())
    for step in range(6):
        inputs, labels = data()
        gradients = torch.func.grad(lambda given: torch.nn.functional.cross_entropy(torch.func.functional_call(model, given, (inputs,)), labels))(values)
        values = {name: (value - 0.1 * gradients[name]).detach() for name, value in values.items()}
        print(step, sum(float(value.norm()) for value in gradients.values()))
else:
    plain({"muon": lambda: Muon(model.parameters()), "fused": lambda: torch.optim.AdamW(model.parameters(), fused=True),
           "capturable": lambda: torch.optim.Adam(model.parameters(), capturable=True), "rprop": lambda: torch.optim.Rprop(model.parameters())}[which]())
