"""A mixture of experts as scripts write it: tokens go to the experts that topk chooses by scores that nobody computes. Prints how many
tokens each expert got, and whether what the host knows is still told apart."""
import torch

TOKENS, EXPERTS, CHOSEN = 96, 8, 2
torch.manual_seed(0)
router = torch.nn.Linear(32, EXPERTS).cuda()
experts = torch.nn.ModuleList(torch.nn.Linear(32, 32) for _ in range(EXPERTS)).cuda()
optimizer = torch.optim.SGD([*router.parameters(), *experts.parameters()], lr=0.1)
for step in range(3):
    x = torch.randn(TOKENS, 32, device="cuda")
    weight, chosen = torch.topk(torch.softmax(router(x), -1), CHOSEN, dim=-1)
    mask = torch.nn.functional.one_hot(chosen, EXPERTS).permute(2, 1, 0)
    out, got = torch.zeros_like(x), []
    for number, expert in enumerate(experts):
        place, token = torch.where(mask[number])
        got.append(len(token))
        out.index_add_(0, token, expert(x[token]) * weight[token, place, None])
    out.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print("tokens", *got)
print("counts", *torch.bincount(chosen.flatten(), minlength=EXPERTS).tolist())
# Choices among many are left alone, and so are those of scores that the host knows.
print("many", torch.topk(torch.randn(4, 1000, device="cuda"), 3).indices.sum().item())
print("known", *torch.topk(torch.tensor([[1., 9., 4.], [7., 2., 3.]]).cuda(), 1).indices.flatten().tolist())
