"""Graph networks of PyTorch Geometric: GCN on one graph with masks of nodes, and GIN with pooling on batches of small graphs,
of which --pool keeps the nodes that score best."""
import argparse

import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GATConv, GCNConv, GINConv, TopKPooling, global_add_pool

parser = argparse.ArgumentParser()
parser.add_argument("--batches", action="store_true")
parser.add_argument("--pool", action="store_true")
batches, pool = parser.parse_args().batches, parser.parse_args().pool
torch.manual_seed(0)


class Nodes(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(32, 64), GATConv(64, 7, heads=2, concat=False)

    def forward(self, data):
        return self.second(torch.relu(self.first(data.x, data.edge_index)), data.edge_index)


class Graphs(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one = GINConv(torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 32)))
        self.two = GINConv(torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.ReLU(), torch.nn.Linear(32, 32)))
        self.pool, self.head = TopKPooling(32, ratio=0.5) if pool else None, torch.nn.Linear(32, 2)

    def forward(self, data):
        x, edges, batch = self.one(data.x, data.edge_index).relu(), data.edge_index, data.batch
        if self.pool:
            x, edges, _, batch, *_ = self.pool(x, edges, None, batch)
        return self.head(global_add_pool(self.two(x, edges), batch))


if batches:
    graphs = [Data(x=torch.randn(n, 8), edge_index=torch.randint(0, n, (2, 3 * n)), y=torch.tensor([n % 2])) for n in range(5, 45)]
    loader, model = DataLoader(graphs, batch_size=8), Graphs().cuda()
else:
    nodes = 1000
    graph = Data(x=torch.randn(nodes, 32), edge_index=torch.randint(0, nodes, (2, 4000)), y=torch.randint(0, 7, (nodes,)))
    graph.train_mask = torch.rand(nodes) < 0.3
    loader, model = [graph] * 5, Nodes().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for data in loader:
    data = data.cuda()
    out = model(data)
    loss = torch.nn.functional.cross_entropy(out, data.y) if batches else torch.nn.functional.cross_entropy(out[data.train_mask], data.y[data.train_mask])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    right = (out.argmax(-1) == data.y).sum()
    print(float(loss), int(right))
