"""The examples of pytorch/examples, on data made here: what each does to memory is kept, epochs and downloads are not."""
import argparse

import torch
from torch import nn, optim
from torch.nn import functional as F

torch.manual_seed(1)


def mnist():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(1, 32, 3, 1), nn.Conv2d(32, 64, 3, 1)
            self.dropout1, self.dropout2 = nn.Dropout(0.25), nn.Dropout(0.5)
            self.fc1, self.fc2 = nn.Linear(9216, 128), nn.Linear(128, 10)

        def forward(self, x):
            x = self.dropout1(F.max_pool2d(F.relu(self.conv2(F.relu(self.conv1(x)))), 2))
            return F.log_softmax(self.fc2(self.dropout2(F.relu(self.fc1(torch.flatten(x, 1))))), dim=1)

    data = torch.utils.data.TensorDataset(torch.randn(256, 1, 28, 28), torch.randint(0, 10, (256,)))
    train, test = torch.utils.data.DataLoader(data, 64, pin_memory=True, shuffle=True), torch.utils.data.DataLoader(data, 128)
    model = Net().to("cuda")
    optimizer = optim.Adadelta(model.parameters(), lr=1.0)
    schedule = optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
    for epoch in range(3):
        model.train()
        for number, (picture, label) in enumerate(train):
            picture, label = picture.to("cuda"), label.to("cuda")
            optimizer.zero_grad()
            loss = F.nll_loss(model(picture), label)
            loss.backward()
            optimizer.step()
            print(epoch, number, loss.item())
        model.eval()
        right = 0
        with torch.no_grad():
            for picture, label in test:
                guess = model(picture.cuda()).argmax(dim=1, keepdim=True)
                right += guess.eq(label.cuda().view_as(guess)).sum().item()
        schedule.step()
        print("right", right)


def word_language_model():
    """An LSTM whose hidden state is carried over, gradients clipped, parameters updated by hand."""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder, self.rnn, self.decoder = nn.Embedding(500, 64), nn.LSTM(64, 64, 2, dropout=0.2), nn.Linear(64, 500)

        def forward(self, ids, hidden):
            out, hidden = self.rnn(F.dropout(self.encoder(ids), 0.2), hidden)
            return F.log_softmax(self.decoder(out).view(-1, 500), dim=1), hidden

    text = torch.randint(0, 500, (201, 20)).cuda()
    model = Net().cuda()
    hidden = tuple(torch.zeros(2, 20, 64, device="cuda") for _ in range(2))
    total = 0.0
    for number, start in enumerate(range(0, 200, 20)):
        model.zero_grad()
        hidden = tuple(state.detach() for state in hidden)
        out, hidden = model(text[start:start + 20], hidden)
        loss = F.nll_loss(out, text[start + 1:start + 21].reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for value in model.parameters():
            value.data.add_(value.grad, alpha=-0.5)
        total += loss.item()
        print(number, total)


def vae():
    class Vae(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1, self.mean, self.spread, self.fc3, self.fc4 = (nn.Linear(784, 400), nn.Linear(400, 20), nn.Linear(400, 20), nn.Linear(20, 400),
                                                                    nn.Linear(400, 784))

        def forward(self, x):
            hidden = F.relu(self.fc1(x.view(-1, 784)))
            mean, log = self.mean(hidden), self.spread(hidden)
            drawn = mean + torch.randn_like(log) * torch.exp(0.5 * log)
            return torch.sigmoid(self.fc4(F.relu(self.fc3(drawn)))), mean, log

    model = Vae().cuda()
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    for step in range(6):
        x = torch.rand(128, 1, 28, 28).cuda()
        optimizer.zero_grad()
        made, mean, log = model(x)
        loss = F.binary_cross_entropy(made, x.view(-1, 784), reduction="sum") - 0.5 * torch.sum(1 + log - mean.pow(2) - log.exp())
        loss.backward()
        optimizer.step()
        print(step, loss.item() / len(x))


def dcgan():
    def start(layer):
        if "Conv" in type(layer).__name__:
            nn.init.normal_(layer.weight, 0.0, 0.02)

    maker = nn.Sequential(nn.ConvTranspose2d(64, 64, 4, 1, 0, bias=False), nn.BatchNorm2d(64), nn.ReLU(True), nn.ConvTranspose2d(64, 32, 4, 2, 1, bias=False),
                          nn.BatchNorm2d(32), nn.ReLU(True), nn.ConvTranspose2d(32, 3, 4, 2, 1, bias=False), nn.Tanh()).cuda()
    judge = nn.Sequential(nn.Conv2d(3, 32, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, True), nn.Conv2d(32, 64, 4, 2, 1, bias=False), nn.BatchNorm2d(64),
                          nn.LeakyReLU(0.2, True), nn.Conv2d(64, 1, 4, 1, 0, bias=False), nn.Sigmoid()).cuda()
    maker.apply(start), judge.apply(start)
    of_maker, of_judge = optim.Adam(maker.parameters(), 2e-4, (0.5, 0.999)), optim.Adam(judge.parameters(), 2e-4, (0.5, 0.999))
    loss_of = nn.BCELoss()
    for step in range(6):
        real = torch.randn(16, 3, 16, 16).cuda()
        judge.zero_grad()
        label = torch.full((16,), 1.0, device="cuda")
        first = loss_of(judge(real).view(-1), label)
        first.backward()
        fake = maker(torch.randn(16, 64, 1, 1, device="cuda"))
        second = loss_of(judge(fake.detach()).view(-1), label.fill_(0))
        second.backward()
        of_judge.step()
        maker.zero_grad()
        third = loss_of(judge(fake).view(-1), label.fill_(1))
        third.backward()
        of_maker.step()
        print(step, (first + second).item(), third.item())


def siamese():
    from torchvision.models import resnet18

    class Twin(nn.Module):
        def __init__(self):
            super().__init__()
            body = resnet18(weights=None)
            body.conv1 = nn.Conv2d(1, 64, 7, 2, 3, bias=False)
            self.body, self.head = nn.Sequential(*list(body.children())[:-1]), nn.Sequential(nn.Linear(1024, 256), nn.ReLU(), nn.Linear(256, 1))

        def forward(self, one, two):
            return torch.sigmoid(self.head(torch.cat([self.body(one).flatten(1), self.body(two).flatten(1)], 1)))

    model = Twin().cuda()
    optimizer = optim.Adadelta(model.parameters(), lr=1.0)
    for step in range(5):
        one, two = torch.randn(8, 1, 28, 28).cuda(), torch.randn(8, 1, 28, 28).cuda()
        optimizer.zero_grad()
        loss = F.binary_cross_entropy(model(one, two).squeeze(1), torch.randint(0, 2, (8,)).float().cuda())
        loss.backward()
        optimizer.step()
        print(step, loss.item())


def super_resolution():
    model = nn.Sequential(nn.Conv2d(1, 64, 5, 1, 2), nn.ReLU(), nn.Conv2d(64, 64, 3, 1, 1), nn.ReLU(), nn.Conv2d(64, 32, 3, 1, 1), nn.ReLU(),
                          nn.Conv2d(32, 9, 3, 1, 1), nn.PixelShuffle(3)).cuda()
    optimizer = optim.Adam(model.parameters(), 1e-3)
    for step in range(5):
        small, large = torch.rand(4, 1, 20, 20).cuda(), torch.rand(4, 1, 60, 60).cuda()
        optimizer.zero_grad()
        loss = F.mse_loss(model(small), large)
        loss.backward()
        optimizer.step()
        print(step, loss.item())


def fast_neural_style():
    from torchvision.models import vgg16
    features = vgg16(weights=None).features[:16].cuda().requires_grad_(False)
    cuts = (3, 8, 15)

    def parts(x):
        made = []
        for number, layer in enumerate(features):
            x = layer(x)
            if number in cuts:
                made.append(x)
        return made

    def gram(x):
        flat = x.flatten(2)
        return flat.bmm(flat.transpose(1, 2)) / flat[0].numel()

    model = nn.Sequential(nn.ReflectionPad2d(4), nn.Conv2d(3, 16, 9), nn.InstanceNorm2d(16, affine=True), nn.ReLU(), nn.Upsample(scale_factor=2),
                          nn.Conv2d(16, 3, 3, 2, 1)).cuda()
    optimizer = optim.Adam(model.parameters(), 1e-3)
    style = [gram(part).detach() for part in parts(torch.rand(1, 3, 64, 64).cuda().repeat(2, 1, 1, 1))]
    for step in range(5):
        x = torch.rand(2, 3, 64, 64).cuda()
        optimizer.zero_grad()
        made, wanted = parts(model(x)), parts(x)
        loss = 1e5 * F.mse_loss(made[1], wanted[1]) + 1e10 * sum(F.mse_loss(gram(a), b) for a, b in zip(made, style))
        loss.backward()
        optimizer.step()
        print(step, loss.item())


def time_sequence():
    """LSTM cells by hand, double precision, L-BFGS with a closure."""
    one, two, out = nn.LSTMCell(1, 51).double().cuda(), nn.LSTMCell(51, 51).double().cuda(), nn.Linear(51, 1).double().cuda()
    wave = torch.sin(torch.arange(40, dtype=torch.float64) / 5).repeat(16, 1).cuda()
    optimizer = optim.LBFGS([*one.parameters(), *two.parameters(), *out.parameters()], lr=0.8, max_iter=3)

    def through(x):
        states = [torch.zeros(x.size(0), 51, dtype=torch.double, device="cuda") for _ in range(4)]
        made = []
        for column in x.split(1, dim=1):
            states[0], states[1] = one(column, (states[0], states[1]))
            states[2], states[3] = two(states[0], (states[2], states[3]))
            made.append(out(states[2]))
        return torch.cat(made, 1)

    for step in range(4):
        def closure():
            optimizer.zero_grad()
            loss = F.mse_loss(through(wave[:, :-1]), wave[:, 1:])
            loss.backward()
            return loss
        print(step, optimizer.step(closure).item())


def snli():
    """Two sentences through one recurrent encoder, accuracy on the card, learning rate lowered when it stays."""
    embed, net, head = nn.Embedding(300, 50).cuda(), nn.GRU(50, 64, batch_first=True, bidirectional=True).cuda(), nn.Linear(256, 3).cuda()
    parameters = [*embed.parameters(), *net.parameters(), *head.parameters()]
    optimizer = optim.Adam(parameters)
    schedule = optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
    best = -1
    for step in range(6):
        one, two, label = (torch.randint(0, 300, (32, 20)).cuda(), torch.randint(0, 300, (32, 16)).cuda(), torch.randint(0, 3, (32,)).cuda())
        states = [net(embed(ids))[1].transpose(0, 1).flatten(1) for ids in (one, two)]
        answer = head(torch.cat(states, 1))
        loss = F.cross_entropy(answer, label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        accuracy = 100.0 * (answer.argmax(1) == label).float().mean().item()
        if accuracy > best:
            best = accuracy
        schedule.step(loss.item())
        print(step, loss.item(), best)


KINDS = {function.__name__.replace("_", "-"): function
         for function in (mnist, word_language_model, vae, dcgan, siamese, super_resolution, fast_neural_style, time_sequence, snli)}
parser = argparse.ArgumentParser()
parser.add_argument("example", choices=KINDS)
KINDS[parser.parse_args().example]()
