"""A state-space layer as Mamba has it, with its scan as Triton kernels, forward and backward."""
import torch
import triton
import triton.language as tl


@triton.jit
def scan_forward(x, a, out, length, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    state = tl.zeros([BLOCK], dtype=tl.float32)
    for t in range(0, length):
        state = tl.load(a + row * length + t) * state + tl.load(x + row * length + t)
        tl.store(out + row * length + t, state)


@triton.jit
def scan_backward(gradient, a, out, dx, da, length, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    state = tl.zeros([BLOCK], dtype=tl.float32)
    for s in range(0, length):
        t = length - 1 - s
        state = state + tl.load(gradient + row * length + t)
        tl.store(dx + row * length + t, state)
        before = tl.load(out + row * length + t - 1, mask=(t > 0) & (row >= 0), other=0.0)
        tl.store(da + row * length + t, state * before)
        state = state * tl.load(a + row * length + t)


class Scan(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, a):
        out = torch.empty_like(x)
        scan_forward[(x.shape[0] // 32,)](x, a, out, x.shape[1], BLOCK=32)
        ctx.save_for_backward(a, out)
        return out

    @staticmethod
    def backward(ctx, gradient):
        a, out = ctx.saved_tensors
        dx, da = torch.empty_like(out), torch.empty_like(out)
        scan_backward[(out.shape[0] // 32,)](gradient.contiguous(), a, out, dx, da, out.shape[1], BLOCK=32)
        return dx, da


class Mixer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inside, self.outside = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.short = torch.nn.Conv1d(width, width, 4, padding=3, groups=width)
        self.norm = torch.nn.LayerNorm(width)

    def forward(self, x):
        batch, length, width = x.shape
        u, gate, step = self.inside(self.norm(x)).chunk(3, -1)
        u = torch.nn.functional.silu(self.short(u.mT)[..., :length])
        made = Scan.apply(u.reshape(-1, length).contiguous(), torch.exp(-torch.nn.functional.softplus(step.mT)).reshape(-1, length).contiguous())
        return x + self.outside(made.view(batch, width, length).mT * torch.nn.functional.silu(gate))


model = torch.nn.Sequential(torch.nn.Embedding(512, 64), Mixer(64), Mixer(64), torch.nn.Linear(64, 512)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(5):
    ids = torch.randint(0, 512, (4, 64)).cuda()
    loss = torch.nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.roll(-1, 1).flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
