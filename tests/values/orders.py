"""What is kept of each graph by sorted scores (TopKPooling), and what is masked at random: how much does not depend on which order it is."""
import torch

torch.manual_seed(0)
model = torch.nn.Linear(16, 1).cuda()
sizes = torch.tensor([7, 12, 5])


def pool(x, batch, share):
    """Of each graph the nodes that score best, as PyG's topk() selects them."""
    score, place = torch.sort(model(x).view(-1), descending=True)
    nodes = torch.zeros(3, dtype=torch.long, device="cuda").scatter_add_(0, batch, torch.ones_like(batch))
    batch, back = torch.sort(batch[place], stable=True)
    first = torch.cat([nodes.new_zeros(1), nodes.cumsum(0)[:-1]])
    mask = torch.arange(len(x), device="cuda") - first[batch] < (share * nodes).ceil().long()[batch]
    return place[back[mask]]


batch = torch.repeat_interleave(torch.arange(3), sizes).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    kept = pool(torch.randn(24, 16).cuda(), batch, 0.5)
    model(torch.randn(24, 16).cuda())[kept].sum().backward()
    optimizer.step()
print("kept", len(kept), len(batch[kept].unique()))
noise = torch.rand(4, 20, device="cuda")
mask = (noise.argsort(1).argsort(1) < 15)
print("masked", len(torch.ones(4, 20, device="cuda")[mask]), len(noise.T.sort(0, descending=True).indices[0][:3]))
drawn = torch.zeros(50, device="cuda")
drawn[torch.randperm(50, device="cuda")[:12]] = 1
print("drawn", len(drawn.nonzero()), len(torch.randperm(0, device="cuda")), torch.tensor([3, 1, 2], device="cuda").argsort().tolist())
# No text ends before its limit: none of the tokens is the last of the vocabulary, or the first.
ids = torch.cat([torch.multinomial(model(torch.randn(2, 16).cuda()).expand(2, 10).softmax(-1), 1) for _ in range(8)], -1)
whole = (ids == 9).cumsum(-1) == 0
print("texts", len(ids[0][whole[0]]), len(ids[1][(ids != 0)[1] & whole[1]]), torch.multinomial(torch.rand(2, 10, device="cuda"), 2).tolist())
