"""Sparse gradients of an embedding with SparseAdam, and graph convolutions by sparse matrix products."""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--nodes", type=int, default=20000)
parser.add_argument("--degree", type=int, default=8)
parser.add_argument("--width", type=int, default=128)
parser.add_argument("--batch", type=int, default=1024)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--device", default="cuda")
args = parser.parse_args()


class GraphNet(nn.Module):
    def __init__(self, nodes, width, classes=10):
        super().__init__()
        self.embedding = nn.Embedding(nodes, width, sparse=True)
        self.features = nn.Parameter(torch.randn(nodes, width))
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)
        self.head = nn.Linear(2 * width, classes)

    def forward(self, coo, csr, batch):
        x = torch.relu(torch.sparse.mm(coo, self.first(self.features)))
        x = torch.relu(torch.sparse.mm(csr, self.second(x)))
        return self.head(torch.cat([x[batch], self.embedding(batch)], dim=1))


torch.manual_seed(0)
device = torch.device(args.device)
edges = torch.randint(0, args.nodes, (2, args.nodes * args.degree))
weights = torch.full((edges.shape[1],), 1.0 / args.degree)
adjacency = torch.sparse_coo_tensor(edges, weights, (args.nodes, args.nodes)).coalesce()
csr = adjacency.to_sparse_csr().to(device)
coo = adjacency.to(device)

model = GraphNet(args.nodes, args.width).to(device)
criterion = nn.CrossEntropyLoss()
dense = [p for name, p in model.named_parameters() if not name.startswith("embedding")]
dense_optimizer = torch.optim.Adam(dense, lr=1e-3)
sparse_optimizer = torch.optim.SparseAdam(list(model.embedding.parameters()), lr=1e-3)

for step in range(args.steps):
    batch = torch.randint(0, args.nodes, (args.batch,)).to(device)
    labels = torch.randint(0, 10, (args.batch,)).to(device)
    dense_optimizer.zero_grad()
    sparse_optimizer.zero_grad()
    loss = criterion(model(coo, csr, batch), labels)
    loss.backward()
    dense_optimizer.step()
    sparse_optimizer.step()
