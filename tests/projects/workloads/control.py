"""Trainings whose next step depends on numbers of the card: solvers, line searches, routers, searches and samplers, in the manner of
torchdiffeq, PINNs, mixture-of-experts, TimesNet, minGPT, nerf-pytorch and hamiltorch."""
import argparse
import math

import torch
from torch import nn
from torch.nn import functional as F


def train(parameters, loss_of, steps=6, after=lambda step: None):
    optimizer = torch.optim.Adam(list(parameters), lr=1e-3)
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        after(step)
        print(step, loss.item(), flush=True)


def perceptron(*widths):
    parts = [part for a, b in zip(widths, widths[1:]) for part in (nn.Linear(a, b), nn.Tanh())]
    return nn.Sequential(*parts[:-1]).cuda()


def adaptive():
    """Heun's method inside Euler's: a step is refused if the two differ by too much."""
    field = perceptron(8, 64, 8)

    def solve(state, end=1.0):
        time, dt = torch.zeros((), device="cuda"), torch.tensor(0.05, device="cuda")
        tries = 0
        while time < end:
            first = field(state)
            second = field(state + dt * first)
            error = (dt * (second - first) / 2).abs().div(1e-3 + 1e-3 * state.abs()).square().mean().sqrt()
            tries += 1
            assert tries < 2000
            if error <= 1:
                state, time = state + dt * (first + second) / 2, time + dt
            dt = torch.minimum(dt * (0.9 / error.sqrt()).clamp(0.2, 10.0), end - time + 1e-6).detach()
        return state

    train(field.parameters(), lambda: solve(torch.randn(128, 8).cuda()).square().mean())


def physics():
    """Burgers' equation by a network: one step of L-BFGS is all of the training."""
    net = perceptron(2, 20, 20, 20, 1)
    x, t, u = (torch.rand(2000, 1).cuda().requires_grad_() for _ in range(3))
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=20000, max_eval=20000, history_size=50, tolerance_grad=1e-6, tolerance_change=1e-12,
                                  line_search_fn="strong_wolfe")

    def gradient(of, by):
        return torch.autograd.grad(of, by, torch.ones_like(of), create_graph=True)[0]

    def closure():
        optimizer.zero_grad()
        made = net(torch.cat([x, t], 1))
        slope = gradient(made, x)
        rest = gradient(made, t) + made * slope - 0.01 / math.pi * gradient(slope, x)
        loss = (made - u).square().mean() + rest.square().mean()
        loss.backward()
        return loss

    optimizer.step(closure)
    print("history", len(optimizer.state[next(net.parameters())]["old_dirs"]))
    assert len(optimizer.state[next(net.parameters())]["old_dirs"]) > 30


def router():
    """Two of eight experts for each token, of which two are switched off."""
    experts = nn.ModuleList(perceptron(64, 256, 64) for _ in range(8))
    gate = nn.Linear(64, 8).cuda()
    off = torch.tensor([0, 0, 1, 0, 0, 1, 0, 0], dtype=torch.bool).cuda()

    def loss_of():
        tokens = torch.randn(256, 64).cuda()
        weight, chosen = gate(tokens).masked_fill(off, -math.inf).softmax(-1).topk(2)
        made = torch.zeros_like(tokens)
        for number, expert in enumerate(experts):
            row, place = torch.where(chosen == number)
            assert len(row) == 0 or not off[number]
            made = made.index_add(0, row, expert(tokens[row]) * weight[row, place, None])
        return made.square().mean()

    train([*experts.parameters(), *gate.parameters()], loss_of)


def beams():
    """A decoder that searches with beams after each step, and may not choose padding."""
    words, cell, head = nn.Embedding(50, 64).cuda(), nn.GRUCell(64, 64).cuda(), nn.Linear(64, 50).cuda()

    def loss_of():
        text, state, loss = torch.randint(1, 50, (16, 12)).cuda(), torch.zeros(16, 64).cuda(), 0.0
        for now, following in zip(text.T, text.T[1:]):
            state = cell(words(now), state)
            loss = loss + F.cross_entropy(head(state), following)
        return loss

    @torch.no_grad()
    def search(step, width=4, longest=20):
        state, text, score = torch.zeros(width, 64).cuda(), torch.ones(width, 1, dtype=torch.long).cuda(), torch.zeros(width).cuda()
        while text.shape[1] < longest:
            state = cell(words(text[:, -1]), state)
            scores = head(state).log_softmax(-1) + score[:, None]
            scores[:, 0] = -math.inf
            score, best = scores.flatten().topk(width)
            text, state = torch.cat([text[best // 50], best[:, None] % 50], 1), state[best // 50]
            assert (text != 0).all()
        print(text[0].tolist())

    train([*words.parameters(), *cell.parameters(), *head.parameters()], loss_of, after=search)


def default_device():
    """Everything is made on the card, also what the optimizer counts with."""
    torch.set_default_device("cuda")
    net = nn.Sequential(nn.Linear(63, 256), nn.ReLU(), nn.Linear(256, 4))
    rays = torch.linspace(2.0, 6.0, 64)

    def loss_of():
        points = torch.rand(256, 1, 3) * rays[:, None]
        waves = torch.cat([points, *(f(points * 2.0 ** k) for k in range(10) for f in (torch.sin, torch.cos))], -1)
        colour, density = net(waves).split([3, 1], -1)
        alpha = 1 - torch.exp(-F.relu(density[..., 0]) * 0.06)
        weight = alpha * torch.cumprod(torch.cat([torch.ones(256, 1), 1 - alpha + 1e-10], -1), -1)[:, :-1]
        return ((weight[..., None] * colour.sigmoid()).sum(-2) - torch.rand(256, 3)).square().mean()

    train(net.parameters(), loss_of, after=lambda step: print("psnr"))


def sampler():
    """An energy model, whose negative examples are drawn by Hamiltonian steps that may be refused."""
    energy = perceptron(16, 128, 1)

    def draw(state):
        kept = 0
        for _ in range(8):
            state = state.detach().requires_grad_()
            speed = torch.randn(state.shape).cuda()
            before = energy(state).sum() + speed.square().sum() / 2
            moved = state
            for _ in range(3):
                speed = speed - 0.05 * torch.autograd.grad(energy(moved).sum(), moved)[0]
                moved = (moved + 0.1 * speed).detach().requires_grad_()
            after = energy(moved).sum() + speed.square().sum() / 2
            if torch.rand(()).item() < math.exp(min(0.0, (before - after).item())):
                state, kept = moved, kept + 1
        print("kept", kept)
        return state.detach()

    train(energy.parameters(), lambda: (energy(torch.randn(64, 16).cuda()) - energy(draw(torch.randn(64, 16).cuda()))).mean())


def periods():
    """The strongest frequencies of a batch, without its mean, fold it to pictures of as many columns."""
    inside, layer = nn.Linear(7, 32).cuda(), nn.Conv2d(32, 32, 3, padding=1).cuda()

    def loss_of():
        series = inside(torch.randn(16, 96, 7).cuda())
        power = torch.fft.rfft(series, dim=1).abs().mean(0).mean(-1)
        power[0] = 0
        made = 0.0
        for frequency in torch.topk(power, 3).indices.tolist():
            period = 96 // frequency
            rows = -(-96 // period)
            folded = F.pad(series, (0, 0, 0, rows * period - 96)).reshape(16, rows, period, 32).permute(0, 3, 1, 2)
            made = made + layer(folded).flatten(2)[..., :96].mean()
        return made

    train([*inside.parameters(), *layer.parameters()], loss_of)


WAYS = {"adaptive": adaptive, "physics": physics, "router": router, "beams": beams, "default-device": default_device, "sampler": sampler,
        "periods": periods}
parser = argparse.ArgumentParser()
parser.add_argument("way", choices=WAYS)
torch.manual_seed(0)
WAYS[parser.parse_args().way]()
