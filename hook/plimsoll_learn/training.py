"""Splits, batches, early stopping, folds and scores. The same seed and the same rows give the same weights."""
import copy
import os

import torch
from torch.nn import functional as F

import matrix
from networks import NETWORKS

BATCH, PATIENCE, RATE = 128, 30, 1e-3
EPOCHS = int(os.environ.get("PLIMSOLL_LEARN_EPOCHS", "600"))  # the tests have no time for more than a few
TRAIN, VALIDATE = 0.7, 0.1  # the rest is to be asked


class Batch:
    """Some rows as a network takes them."""

    def __init__(self, data, rows):
        self.rows = rows
        self.x = data.x[rows]
        self.labels = data.labels[rows]
        self.figures = data.figures[rows].float()
        self.tokens = data.tokens[rows] if data.tokens is not None else None
        if data.graphs:
            self._join([data.graphs[row] for row in rows.tolist()])

    def _join(self, graphs):
        """Graphs side by side; an edge keeps its ends, a node its owner."""
        counts = torch.tensor([len(nodes) for nodes, _, _ in graphs])
        starts = torch.cumsum(counts, 0) - counts
        self.nodes = torch.cat([nodes for nodes, _, _ in graphs])
        self.edges = torch.cat([edges + start for (_, edges, _), start in zip(graphs, starts)])
        self.sizes = torch.cat([sizes for _, _, sizes in graphs])
        self.owner = torch.repeat_interleave(torch.arange(len(graphs)), counts)


def loss_of(data, output, batch):
    if data.kind == "classes":
        return F.cross_entropy(output, batch.labels)
    output = output[:, 0]
    if data.kind == "number":
        return F.mse_loss(output, (batch.figures - data.first) / data.width)
    answer = torch.exp((data.first + data.width * output).clamp(max=60))
    return ((answer - batch.figures).abs() / batch.figures).mean()


def batches(data, rows):
    return [Batch(data, part) for part in rows.split(BATCH)]


def validate(data, model, parts):
    """The mean loss, each sample asked by itself."""
    model.eval()
    with torch.no_grad():
        total = sum(float(loss_of(data, model(part, True), part)) * len(part.rows) for part in parts)
    return total / sum(len(part.rows) for part in parts)


def shuffled_parts(rows, generator):
    parts = list(rows[torch.randperm(len(rows), generator=generator)].split(BATCH))
    if len(parts) > 1 and len(parts[-1]) < 2:  # BatchNorm cannot learn from one sample
        parts[-2] = torch.cat(parts[-2:])
        del parts[-1]
    return parts


def epoch(data, model, optimizer, rows, generator):
    model.train()
    for part in shuffled_parts(rows, generator):
        batch = Batch(data, part)
        optimizer.zero_grad()
        loss_of(data, model(batch, False), batch).backward()
        optimizer.step()


def fit(data, rows, held, seed, tell):
    """A fresh network, trained on `rows` until the loss on `held` has not fallen for a while; the best one."""
    generator = torch.Generator().manual_seed(seed)
    model = NETWORKS[data.method](data, generator)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, foreach=False)
    parts = batches(data, held)
    best, kept, since = float("inf"), None, 0
    for number in range(EPOCHS):
        epoch(data, model, optimizer, rows, generator)
        loss = validate(data, model, parts)
        if loss < best:
            best, since, kept = loss, 0, copy.deepcopy(model.state_dict())
        else:
            since += 1
        tell(number + 1, loss)
        if since >= PATIENCE:
            break
    if kept is None:
        raise RuntimeError("the loss is no number: the rows cannot be learned from")
    model.load_state_dict(kept)
    return model.eval()


# ---- scores ----


def answers(data, model, rows):
    with torch.no_grad():
        output = torch.cat([model(part, True) for part in batches(data, rows)])
    if data.kind == "classes":
        return output.argmax(1)
    figure = data.first + data.width * output[:, 0].double()
    return torch.exp(figure.clamp(max=60)) if data.kind == "log" else figure.clamp(min=0)


def f1_of(truth, answer):
    """Weighted by how often each class is true, as the published scores are."""
    total = 0.0
    for label in truth.unique():
        hit = int(((truth == label) & (answer == label)).sum())
        both = int((truth == label).sum()) + int((answer == label).sum())
        total += (2 * hit / both) * int((truth == label).sum())
    return total / len(truth)


def class_scores(data, rows, answer):
    truth = data.labels[rows]
    return {
        "accuracy": float((answer == truth).double().mean()),
        "f1": f1_of(truth, answer),
        "under": float((answer < truth).double().mean()),
        "near": float(((answer - truth).abs() <= 1).double().mean()),
    }


def number_scores(data, rows, answer):
    truth = data.figures[rows]
    off = answer - truth
    spread = ((truth - truth.mean()) ** 2).sum()
    return {
        "r2": float(1 - (off**2).sum() / spread) if spread > 0 else 0.0,
        "mean_error": float(off.abs().mean()),
        "median_relative_error": float((off.abs() / truth.clamp(min=1e-9)).median()),
        "under": float((off < 0).double().mean()),
    }


def scores_of(data, rows, answer):
    return (class_scores if data.kind == "classes" else number_scores)(data, rows, answer)


# ---- all together ----


class Progress:
    def __init__(self, path):
        self.path, self.what = path, ""

    def __call__(self, number, loss):
        self.say(f"{self.what}epoch {number}, loss {loss:.3g}")

    def say(self, text):
        with open(self.path + ".part", "w", encoding="ascii") as file:
            file.write(text + "\n")
        os.replace(self.path + ".part", self.path)


def stopping(rows):
    """For training, for early stopping, where others are asked: in the proportion of the published split."""
    held = len(rows) // 8
    return rows[held:], rows[:held]


def split(rows):
    """For training, for early stopping, to be asked."""
    first, second = int(TRAIN * len(rows)), int((TRAIN + VALIDATE) * len(rows))
    return rows[:first], rows[first:second], rows[second:]


def fold_scores(data, order, progress):
    """Every row is asked once, of a network that was made for its fold and saw none of it."""
    answer = torch.zeros(len(order), dtype=torch.long if data.kind == "classes" else torch.double)
    each = []
    for number, asked in enumerate(order.tensor_split(data.folds)):
        others = order[~torch.isin(order, asked)]
        progress.what = f"fold {number + 1} of {data.folds}, "
        model = fit(data, *stopping(others), data.seed + 1000 * (number + 1), progress)
        answer[asked] = answers(data, model, asked)
        each.append(scores_of(data, asked, answer[asked]))
    scores = scores_of(data, torch.arange(len(order)), answer)
    first = "accuracy" if data.kind == "classes" else "r2"
    spread = torch.tensor([one[first] for one in each], dtype=torch.double).std(correction=0)
    return scores | {f"{first}_deviation": float(spread)}


def train(data, weights, status):
    torch.manual_seed(data.seed)
    progress = Progress(status)
    order = torch.randperm(len(data.x), generator=torch.Generator().manual_seed(data.seed))
    scores = fold_scores(data, order, progress) if data.folds else {}
    rows, held, asked = (*stopping(order), order[:0]) if data.all else split(order)
    progress.what = ""
    model = fit(data, rows, held, data.seed, progress)
    if not scores and len(asked):
        scores = scores_of(data, asked, answers(data, model, asked))
    matrix.write(weights, data, scores, model.tensors())
