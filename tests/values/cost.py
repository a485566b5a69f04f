"""What following values costs: nothing is computed where nothing can be known, nothing is copied that stays as it is, and what is computed
starts no threads and leaves the program's number of threads alone. Counts how often the hook computes."""
import os
import threading

import torch

from plimsoll_hook.values import host

net = torch.nn.Linear(16, 50257).cuda()
counts = {"computed": 0, "copied": 0}


class Counting:
    def __init__(self, guard):
        self.guard = guard

    def __enter__(self):
        counts["computed"] += 1
        return self.guard.__enter__()

    def __exit__(self, *error):
        return self.guard.__exit__(*error)


def counted(function):
    def call(*arguments):
        counts["copied"] += 1
        return function(*arguments)

    return call


host.Guard.one, host._copied = Counting(host.Guard.one), counted(host._copied)


def costs(function, what="computed"):
    before = counts[what]
    function()
    return counts[what] - before


# ---- what is not computed ----

scores = net(torch.randn(1, 16).cuda()).detach()
few, truth = scores[:, :64], torch.empty(1, 64, dtype=torch.bool, device="cuda")
known = torch.arange(64.0).cuda()[None]
torch.lt(few, few), torch.gt(few, 0.5), few * 0.5, torch.where(truth, known, known)  # what each of them is, is found out once
few.masked_fill(truth, 0.0), few.isnan(), few == few
heads, later = few.reshape(1, 1, 8, 8), (known > 3).reshape(1, 1, 8, 8)
heads.masked_fill(later, 0.0).softmax(-1)
torch.zeros(1, 64, device="cuda").scatter(1, torch.arange(64, device="cuda")[None], few), few.scatter(1, torch.arange(64, device="cuda")[None], few)
places = torch.arange(64, device="cuda")[None]
for name, function in {"a comparison": lambda: scores[:, :-1] < scores[:, 1:], "one of few": lambda: few < scores[:, 1:65],
                       "one with a number": lambda: few > 0.5, "a product": lambda: few * 0.5,
                       "where the mask is unknown": lambda: torch.where(truth, known, known),
                       "the same of masked_fill": lambda: few.masked_fill(truth, 0.0), "scores of attention": lambda: heads.masked_fill(later, 0.0).softmax(-1),
                       "what is put into unknown numbers": lambda: few.scatter(1, places, few)}.items():
    assert costs(function) == 0, name
for name, function in {"x == x": lambda: few == few, "isnan": lambda: few.isnan(), "x < inf": lambda: few < float("inf"),
                       "a known mask": lambda: few.masked_fill(known > 3, 0.0), "numbers": lambda: known * 2,
                       "whole numbers": lambda: torch.empty(64, dtype=torch.int64, device="cuda") * 0}.items():
    assert costs(function) > 0, name
assert (few == few).all() and few.masked_fill(known > 3, 7.0)[0, 4:].tolist() == [7.0] * 60
torch.multinomial(scores.softmax(-1), 1)
assert costs(lambda: torch.multinomial(scores.softmax(-1), 1)) == 2  # what is drawn; the checks of its arguments are not

# ---- what is not copied ----

index, out = torch.arange(64).flip(0).cuda()[None], torch.empty(1, 64, device="cuda")
assert costs(lambda: torch.gather(known, 1, index, out=out), "copied") == 0 and out.tolist() == [list(map(float, range(63, -1, -1)))]
for name, function in {"add": lambda x: torch.add(x, x.flip(0), out=x), "cumsum": lambda x: torch.cumsum(x, 0, out=x),
                       "mvlgamma": lambda x: x.mvlgamma_(2), "half": lambda x: torch.mul(x[:32], 2, out=x[:32]),
                       "sort": lambda x: torch.sort(x, descending=True, out=(x, torch.empty(0, dtype=torch.int64, device=x.device)))[0]}.items():
    host_x, x = torch.arange(2.0, 66.0), torch.arange(2.0, 66.0).cuda()
    function(host_x), function(x)
    assert torch.equal(x.cpu(), host_x), name

# ---- threads ----


def tasks():
    return len(os.listdir("/proc/self/task"))


def compute():
    x = torch.arange(65536, device="cuda").float()
    y = (x.sin() * 3 + x).sum()
    assert y.item() > 0


torch.set_num_threads(3)
before = tasks()
compute()
assert tasks() == before and torch.get_num_threads() == 3, (before, tasks(), torch.get_num_threads())
found = []
thread = threading.Thread(target=lambda: (compute(), found.append(torch.get_num_threads())))
thread.start()
thread.join()
assert found == [3], found
assert torch.arange(1 << 20).float().sin().sum().isfinite() and tasks() == before + 2, (before, tasks())
print("ok")
