"""Loops that go on until a value on the card is as they want it: steps of solvers that follow an assumed error, a loop that would wait for
ever, one that makes a text. Prints how often they ran."""
import sys

import torch

net = torch.nn.Linear(16, 16).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def solves(norm, time=0.0, dt=0.1):
    """An adaptive solver: a step is made if its error is small, and the next one is larger the smaller it was."""
    state, tries = torch.ones(4, 16).cuda(), 0
    time, dt = torch.tensor(time, device="cuda"), torch.tensor(dt, device="cuda")
    while time < 1:
        error = norm(dt * (net(state + dt * net(state)) - net(state)))
        tries += 1
        if error <= 0.01:
            state, time = state + dt * net(state), time + dt
        dt = dt * (0.9 * (0.01 / error).sqrt()).clamp(0.2, 2)
    return tries


def waits():
    """Until all are accepted, which nobody knows. Something else is read in between."""
    tries = 0
    while not (net(torch.ones(4, 16).cuda()) > 0).all():
        tries += int(net(torch.ones(1, 16).cuda())[0, 0].item() > 2) + 1
    return tries


def writes():
    """A text without an end of its own: a part of it is drawn, and all of it is kept."""
    text = torch.zeros(1, 1, dtype=torch.long).cuda()
    while text.shape[1] < 1500:
        text = torch.cat([text, net(text[:, -1:].expand(1, 16).float()).argmax(-1, keepdim=True)], -1)
        if (text[0, -1] == 15).all() & (text[0, -1] == 14).all():
            break
    return text.shape[1]


if sys.argv[1] == "solve":
    print("solved", *(solves(norm) for norm in (lambda x: x.abs().mean(), torch.linalg.vector_norm, lambda x: x.pow(2).mean().sqrt())))
elif sys.argv[1] == "wait":
    first = waits()
    print("waited", first, waits(), waits())
else:
    print("wrote", writes())
