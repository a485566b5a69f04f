"""A training that has every kind of event: convolution, LSTM, attention, FFT, copies, a value that decides about sizes."""
import torch
torch.manual_seed(0)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.lstm = torch.nn.LSTM(8, 16, batch_first=True)
        self.head = torch.nn.Linear(16, 4)
    def forward(self, x):
        x = torch.relu(self.conv(x)).flatten(2).transpose(1, 2)
        x = x + torch.fft.rfft(x, dim=1).real.mean()
        return self.head(self.lstm(x)[0][:, -1])
net = Net().cuda()
optimizer = torch.optim.AdamW(net.parameters())
for step in range(3):
    x = torch.randn(4, 3, 8, 8).cuda()
    y = torch.zeros(4, dtype=torch.long, device="cuda")
    loss = torch.nn.functional.cross_entropy(net(x), y)
    kept = (x > 0).nonzero()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    loss.item()
