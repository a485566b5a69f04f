"""Choices by unknown scores do not fall on what the program ruled out, and take turns among the rest. Prints `ok`."""
import torch

INF = float("inf")
layer = torch.nn.Linear(16, 8).cuda()


def scores(rows=4):
    return layer(torch.randn(rows, 16).cuda())


# Frequencies of a spectrum (TimesNet): the mean is taken out, and a period is a length divided by one of the others.
for wide in (4, 64):
    power = torch.fft.rfft(torch.randn(32, 96, wide).cuda(), dim=1).abs().mean(0).mean(-1)
    power[0] = 0
    at = torch.topk(power, 5).indices.tolist()
    assert 0 not in at and len(set(at)) == 5, at

mask = torch.zeros(4, 8, dtype=torch.bool, device="cuda")
mask[:, :4] = True
for masked in (scores().masked_fill(mask, -INF), torch.where(mask, torch.tensor(-INF, device="cuda"), scores()), scores().softmax(-1).masked_fill(mask, 0.0),
               scores().relu().masked_fill(mask, 0.0), scores().square().masked_fill(mask, 0), scores().exp().masked_fill_(mask, 0), (scores() ** 2).masked_fill(mask, 0)):
    chosen = masked.topk(3).indices
    assert int(chosen.min()) == 4 and chosen.flatten().bincount(minlength=8).tolist() == [0] * 4 + [3] * 4, chosen.tolist()
    assert masked.argmax(-1).tolist() == masked.max(-1).indices.tolist() == [4] * 4, masked.argmax(-1).tolist()
    assert masked.sort(descending=True).indices.tolist() == [[4, 5, 6, 7, 0, 1, 2, 3]] * 4 == torch.argsort(masked, descending=True).tolist()
    assert masked.sort(-1).indices.tolist() == [[0, 1, 2, 3, 4, 5, 6, 7]] * 4
held = scores()
held[:, 2:] = -INF
assert held.topk(3).indices.sort(-1).values.tolist() == [[0, 1, 2]] * 4 and held.argmax().item() == 0  # less than are wanted are left
high = scores().masked_fill(mask, INF)
assert high.topk(2, largest=False).indices.min().item() == 4 and high.argmin(-1).tolist() == [4] * 4 == high.min(-1).indices.tolist()
for soft in (scores().masked_fill(mask, -INF).softmax(-1), scores().masked_fill(mask, -INF).log_softmax(-1)):
    assert soft.topk(3).indices.min().item() == 4 and soft.argmax(-1).tolist() == [4] * 4
    assert soft[:, :4].exp().sum().item() in (0, 16)
none = torch.full((4, 8), -INF, device="cuda").softmax(-1)
assert none.isnan().all()
assert high.topk(5, dim=1).indices[:, :4].tolist() == [[0, 1, 2, 3]] * 4

# Nothing is ruled out by a number that may be above the others, or where nothing is known.
for open_ in (scores().masked_fill(mask, 0.0), (scores().abs() - 1).masked_fill(mask, 0.0), (scores().abs() * -1).masked_fill(mask, 0.0), (scores().abs() / -2.0).masked_fill(mask, 0.0), (scores().abs() + -3.0).masked_fill(mask, 0.0), scores().exp().masked_fill(mask, 0.5),
              (scores() ** 3).masked_fill(mask, 0.0), scores().abs().mul(2).sub(3).masked_fill(mask, 0.0)):
    assert open_.topk(2).indices.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]], open_.topk(2).indices.tolist()
assert scores().topk(2).indices.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]] and scores().argmax(-1).tolist() == [0] * 4
used = scores().abs()
used.copy_(scores())
assert used.masked_fill(mask, 0.0).topk(1).indices.flatten().tolist() == [0, 1, 2, 3]
known = torch.tensor([1.0, -INF, 3.0], device="cuda")
assert known.topk(2).indices.tolist() == [2, 0] and known.argmax().item() == 2

# The largest of what is not negative is no flag.
error = scores().abs().max()
assert 0 < error.item() < 0.5 and error <= 0.01 and scores().max().item() == 0 and 0 < scores().softmax(-1).amax().item() < 0.5
print("ok")
