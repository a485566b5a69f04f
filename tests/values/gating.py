"""A router that puts its weights into a matrix of zeros and asks which are not zero (noisy gating): how many tokens each expert gets follows
from what it chose. Prints them, and what the matrix holds."""
import torch

TOKENS, EXPERTS, CHOSEN = 96, 8, 2
torch.manual_seed(0)
router = torch.nn.Linear(32, EXPERTS).cuda()
experts = torch.nn.ModuleList(torch.nn.Linear(32, 32) for _ in range(EXPERTS)).cuda()
optimizer = torch.optim.SGD([*router.parameters(), *experts.parameters()], lr=0.1)


def gates_of(x):
    best, chosen = router(x).topk(CHOSEN + 1, dim=1)
    return torch.zeros(len(x), EXPERTS, device="cuda").scatter(1, chosen[:, :CHOSEN], torch.softmax(best[:, :CHOSEN], 1))


for step in range(3):
    x = torch.randn(TOKENS, 32, device="cuda")
    gates = gates_of(x)
    order, index = torch.nonzero(gates).sort(0)
    token = torch.nonzero(gates)[index[:, 1], 0]
    sizes = (gates > 0).sum(0).tolist()
    outputs = [expert(part) for expert, part in zip(experts, x[token].split(sizes))]
    weight = gates[token].gather(1, order[:, 1:])
    out = torch.zeros_like(x).index_add(0, token, torch.cat(outputs) * weight)
    out.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print("sizes", *sizes)

with torch.no_grad():
    gates = gates_of(x)
    again = torch.zeros(TOKENS, EXPERTS, device="cuda")
    again.scatter_(1, gates.topk(CHOSEN).indices, router(x).sigmoid())
    print("places", *again.nonzero()[:4].flatten().tolist())
    # Of numbers that may be negative nothing is assumed; what they are put between stays known: here it is ruled out.
    places = torch.tensor([[5, 6]], device="cuda").expand(TOKENS, 2)
    between = torch.full((TOKENS, EXPERTS), -float("inf"), device="cuda").scatter(1, places, router(x)[:, :2])
    within = torch.full((TOKENS, EXPERTS), -float("inf"), device="cuda").scatter_(1, places, router(x)[:, :2])
    open_ = torch.zeros(TOKENS, EXPERTS, device="cuda").scatter(1, places, router(x)[:, :2])
    print("between", *between.softmax(-1).topk(2).indices[0].tolist(), *between.argmax(-1)[:2].tolist(), int(open_.count_nonzero()))
    print("within", *within.softmax(-1).topk(2).indices[0].tolist(), *between[0, 4:7].tolist())
    # Known numbers are themselves, and where it is not known where something goes, nothing is.
    print("known", *torch.zeros(4, device="cuda").scatter(0, torch.tensor([2, 0]).cuda(), torch.tensor([7., -3.]).cuda()).tolist())
    nowhere = torch.zeros(TOKENS, EXPERTS, device="cuda").scatter(1, torch.randint(0, 8, (TOKENS, 2), device="cuda"), router(x).softmax(-1))
    print("nowhere", int(nowhere.count_nonzero()))
