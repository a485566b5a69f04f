"""Where only a part of the values is known, that part is right, what is unknown is not taken for known, and is counted. Prints `ok`
and how many unknown values were read."""
import torch

unknown = 0


def values(tensor, *expected):
    assert tensor.tolist() == list(expected), (tensor.tolist(), expected)


def read(tensor):
    """Of something that nobody knows: zeros, or what was there."""
    global unknown
    unknown += 1
    return tensor.cpu()


coins = torch.rand(4, device="cuda") > 0.5
yes = torch.ones(4, dtype=torch.bool, device="cuda")
values(coins | yes, True, True, True, True)
values(coins & ~yes, False, False, False, False)
read(coins & yes)
going_on = torch.ones(4, dtype=torch.long, device="cuda") & ~(coins | ~yes)
read(going_on)
values(going_on & ~(coins | yes), 0, 0, 0, 0)
assert bool((going_on & ~(coins | yes)).max() == 0)
values(going_on * torch.zeros_like(going_on), 0, 0, 0, 0)
read(coins.float() * 0)  # a NaN would stay one

ids, drawn = torch.tensor([[1, 2], [3, 4]], device="cuda"), torch.randint(0, 9, (2,), device="cuda")
longer = torch.cat([ids, drawn[:, None]], -1)
values(longer[:, :2], [1, 2], [3, 4])
values(longer[:, 0] + 1, 2, 4)
read(longer[:, 2])
longer[:, 2] = 7
values(longer.sum(1), 10, 14)
row = torch.full((2, 4), 9, device="cuda")
view = row[1]
row[:, 1] = drawn
values(row[:, 2:] * 2, [18, 18], [18, 18])
values(view[2:], 9, 9)
read(row[0])
read(view.sum())
values(torch.where(torch.tensor([True, False], device="cuda"), ids[0], drawn)[:1], 1)
read(torch.where(coins[:2], ids[0], ids[1]))  # which of the two is not known

# What nobody knows selects nothing, so nothing is put there: where a completion ends stays the limit (TRL's GRPO).
ends = torch.full((4,), 9, device="cuda")
ends[coins] = torch.arange(4, device="cuda")[coins]
unknown += 2
values(ends, 9, 9, 9, 9)
ends[coins] = 5
read(ends)

# What is known is not taken for known when something else wrote it.
counts = torch.zeros(3, device="cuda")
counts += torch.rand(3, device="cuda")
read(counts)
several = [torch.zeros(3, device="cuda"), torch.ones((), device="cuda")]
torch._foreach_add_(several, [torch.rand(3, device="cuda"), torch.ones((), device="cuda")])
read(several[0])
read(several[1])
freed = torch.arange(100, device="cuda")
del freed
read(torch.empty(100, dtype=torch.long, device="cuda"))
wide = torch.arange(32, device="cuda").view(4, 8)
wide[:, :4] += torch.randint(0, 9, (4, 4), device="cuda")  # a row at a time: all of it, and nothing beside it
read(wide[:, 1])
read(wide[2, 3])
values(wide[:, 4], 4, 12, 20, 28)
values(wide[:, 5], 5, 13, 21, 29)
table = torch.zeros(3, 4, device="cuda")
torch.nn.functional.embedding(torch.tensor([1, 2], device="cuda"), table).copy_(torch.rand(2, 4, device="cuda"))
values(table, *[[0.0] * 4] * 3)
norm = torch.nn.BatchNorm1d(4).cuda()
norm(torch.rand(8, 4, device="cuda"))
read(norm.running_mean)
assert norm.num_batches_tracked.item() == 1
weight = torch.nn.Parameter(torch.ones(3, device="cuda"))
(weight * torch.rand(3, device="cuda")).sum().backward()
torch.optim.SGD([weight], lr=0.1).step()
read(weight)
graph, static = torch.cuda.CUDAGraph(), torch.zeros(3, device="cuda")
with torch.cuda.graph(graph):
    static += 1
graph.replay()
read(static)
large = torch.zeros(1 << 17, dtype=torch.long, device="cuda")
large += 1
read(large)
# Up to 65,536 elements are followed: as inputs, as results and as lists of parts.
most = torch.arange(1 << 16).cuda()
values(most[-1:] + most.max(), 2 * 65535)
values((most + 1)[-1:], 65536)
over = torch.arange((1 << 16) + 1).cuda()
read(over.max())
side = torch.arange(256, device="cuda")
values((side[:, None] + side)[-1, -1:], 510)
read((side[:, None] + torch.arange(257, device="cuda"))[-1, -1:])
for count in (1 << 16, (1 << 16) + 1):
    pairs = (torch.arange(2 * count, dtype=torch.int32) % 100).view(-1, 2).cuda()
    pairs[:, 0] += torch.randint(0, 9, (count,), dtype=torch.int32, device="cuda")
    if count == 1 << 16:
        values(pairs[3:5, 1], 7, 9)
    else:
        read(pairs[3:5, 1])  # what lies between is not told apart
# A small part of a large block, as of a causal mask: nothing is behind it.
part = torch.ones(1024, 1024, device="cuda").tril()[:8, :8]
read(part == 0)
read((part > 0) & torch.ones(8, 8, dtype=torch.bool, device="cuda"))
read(part.masked_fill(part == 0, float("-inf")) * 2)
assert not torch.isnan(part).any()
print("ok", unknown)
