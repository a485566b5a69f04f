"""Embedding, bidirectional 2-layer LSTM, GRU and plain RNN: a text classifier."""
import argparse

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--length", type=int, default=100)
parser.add_argument("--width", type=int, default=512)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--packed", action="store_true", help="sequences of different lengths, packed")
parser.add_argument("--optimizer", default="Adam", help="a class of torch.optim")
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

VOCABULARY, CLASSES = 20000, 5


class Classifier(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width, padding_idx=0)
        self.lstm = nn.LSTM(width, width, num_layers=2, bidirectional=True, dropout=0.2, batch_first=True)
        self.gru = nn.GRU(2 * width, width, batch_first=True)
        self.rnn = nn.RNN(width, width, nonlinearity="relu", batch_first=True)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, tokens, lengths=None):
        x = self.embedding(tokens)
        if lengths is not None:
            x = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        x, _ = self.lstm(x)
        if lengths is not None:
            x, _ = pad_packed_sequence(x, batch_first=True)
        x, _ = self.gru(x)
        x, _ = self.rnn(x)
        return self.head(x[:, -1])


torch.manual_seed(0)
device = torch.device(args.device)
model = Classifier(args.width).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=1e-3)

for step in range(args.steps):
    tokens = torch.randint(1, VOCABULARY, (args.batch, args.length)).to(device)
    labels = torch.randint(0, CLASSES, (args.batch,)).to(device)
    lengths = torch.randint(args.length // 2, args.length + 1, (args.batch,)) if args.packed else None
    optimizer.zero_grad()
    loss = criterion(model(tokens, lengths), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
