"""A recommender as torchrec builds it: jagged keys with lengths, pooled embedding bags of many tables, feature interaction (DLRM).
torchrec itself needs fbgemm, half a gigabyte; what it asks of PyTorch is here."""
import torch

TABLES, ROWS, WIDTH, BATCH = 6, 2000, 32, 64
torch.manual_seed(0)


class Bags(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = torch.nn.ModuleList(torch.nn.EmbeddingBag(ROWS, WIDTH, mode="sum", sparse=True) for _ in range(TABLES))

    def forward(self, values, lengths):
        """values: the ids of all tables one after the other; lengths: TABLES x BATCH."""
        per_table = lengths.sum(1).tolist()
        pooled = []
        for table, part, own in zip(self.tables, values.split(per_table), lengths):
            offsets = torch.cumsum(own, 0) - own
            pooled.append(table(part, offsets))
        return torch.stack(pooled, 1)


class Recommender(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bags = Bags()
        self.dense = torch.nn.Sequential(torch.nn.Linear(13, 64), torch.nn.ReLU(), torch.nn.Linear(64, WIDTH))
        self.over = torch.nn.Sequential(torch.nn.Linear(WIDTH + (TABLES + 1) * TABLES // 2, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
        self.register_buffer("pairs", torch.triu_indices(TABLES + 1, TABLES + 1, 1), persistent=False)

    def forward(self, dense, values, lengths):
        dense = self.dense(dense)
        together = torch.cat([dense[:, None], self.bags(values, lengths)], 1)
        products = torch.bmm(together, together.mT)[:, self.pairs[0], self.pairs[1]]
        return self.over(torch.cat([dense, products], 1)).squeeze(1)


model = Recommender().cuda()
dense_parameters = [value for name, value in model.named_parameters() if "tables" not in name]
optimizers = torch.optim.Adagrad(dense_parameters, 0.01), torch.optim.SparseAdam(list(model.bags.parameters()))
for step in range(6):
    lengths = torch.randint(0, 5, (TABLES, BATCH))
    values = torch.randint(0, ROWS, (int(lengths.sum()),))
    label = torch.randint(0, 2, (BATCH,)).float()
    logit = model(torch.randn(BATCH, 13).cuda(), values.cuda(), lengths.cuda())
    loss = torch.nn.functional.binary_cross_entropy_with_logits(logit, label.cuda())
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()
    print(step, loss.item())
