"""Calls whose sizes tests/calls/check.py knows. Each part ends with a copy of so many bytes to the host: its number."""
import sys

import torch
import torch.nn.functional as F

device = torch.device("cuda")
part = 0


def end():
    global part
    part += 1
    torch.empty(1000 + part, dtype=torch.uint8, device=device).cpu()


a = torch.randn(64, 48, device=device)
b = torch.randn(48, 32, device=device)
x = torch.zeros(1234567, device=device)
end()

x.add_(1)  # 1: one element count
end()

a.expand(3, 64, 48).transpose(0, 2).contiguous()  # 2: not contiguous
end()

x.view(-1)[:1200000].view(300, 4000).sum(1)  # 3: reductions, along both dimensions and of all
x.view(-1)[:1200000].view(300, 4000).sum(0)
x.mean()
end()

tensors = [torch.zeros(n, device=device) for n in (10, 70000, 3000000, 1, 40000000)]
end()  # 4: only makes them

torch._foreach_add_(tensors, 1.0)  # 5: one list, more blocks than one launch has
end()

torch._foreach_addcdiv_(tensors, tensors, tensors, [1.0, 2.0, 3.0, 4.0, 5.0])  # 6: three lists, scalars
end()

step = [torch.ones((), device=device) for _ in tensors]
end()  # 7

torch._fused_adamw_(tensors, tensors, tensors, tensors, [], step, lr=0.1, beta1=0.9, beta2=0.9, weight_decay=0.1,
                    eps=1e-8, amsgrad=False, maximize=False)  # 8: four lists
end()

a @ b  # 9
torch.bmm(a.view(4, 16, 48), b.view(1, 48, 32).expand(4, 48, 32).contiguous())
F.linear(a.half(), torch.zeros(32, 48, device=device).half(), torch.zeros(32, device=device).half())
end()

conv = torch.nn.Conv2d(6, 4, (3, 5), stride=(2, 1), padding=(1, 2), groups=2, device=device)
y = conv(torch.zeros(8, 6, 20, 30, device=device, requires_grad=True))
end()  # 10: forward
y.sum().backward()
end()  # 11: backward

lstm = torch.nn.LSTM(11, 13, num_layers=2, bidirectional=True, device=device)
lstm(torch.zeros(7, 3, 11, device=device))[0].sum().backward()
end()  # 12

pinned = torch.zeros(4096, dtype=torch.uint8).pin_memory()
target = torch.empty(4096, dtype=torch.uint8, device=device)
target.copy_(pinned, non_blocking=True)  # 13
target.copy_(torch.zeros(4096, dtype=torch.uint8))
torch.cuda.synchronize()
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
side.synchronize()
end()

with torch.cuda.stream(side):
    a @ b
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
end()
with torch.cuda.graph(graph):  # 15
    c = a @ b
    c.add_(1)
graph.replay()
graph.replay()
end()
