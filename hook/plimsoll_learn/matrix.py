"""The rows that `plimsoll train` wrote (network_train.c), and the file of weights that it reads (docs/network.md)."""
import os
import zlib

import torch

VALUES_IN_LINE = 8


class Matrix:
    """head: the first lines of the payload, as C wrote them; labels, figures: a number a row; x: rows of features.
    tokens: rows * length * width, padded with zeros. graphs: (nodes, edges, sizes) for each row."""

    def __init__(self, head, settings):
        self.head = head
        self.fields = {line.split()[0]: line.split()[1:] for line in head}
        self.method = settings["method"]
        self.family = self.fields["family"][0]
        self.kind, outputs, first, width = self.fields["answer"]
        self.outputs, self.first, self.width = int(outputs), float(first), float(width)
        self.length = int(self.fields["length"][0])
        self.seed = int(self.fields["seed"][0])
        self.features = int(self.fields["features"][0])
        self.folds = int(settings["folds"])
        self.all = int(settings["all"]) == 1  # no row is put aside to be asked
        self.token_width = int(settings["token"])
        self.node_width = int(settings["node"])
        self.labels, self.figures, self.x, self.tokens, self.graphs = [], [], [], [], []


def _padded(numbers, length, width):
    row = torch.zeros(length, width)
    tokens = torch.tensor(numbers, dtype=torch.float64).float().view(-1, width)[:length]
    row[: len(tokens)] = tokens
    return row


def _edges(numbers):
    table = torch.tensor(numbers, dtype=torch.float64).view(-1, 3)
    return table[:, :2].long(), table[:, 2:].float()


def read(path):
    with open(path, encoding="ascii") as file:
        if next(file) != "plimsoll-matrix 3\n":
            raise RuntimeError("the file of rows is of another version")
        settings = dict(next(file).split() for _ in range(6))
        head = [next(file).rstrip("\n") for _ in range(int(settings["head"]))]
        data = Matrix(head, settings)
        nodes = None
        for line in file:
            key, *words = line.split()
            numbers = [float(word) for word in words]
            if key == "row":
                data.labels.append(int(numbers[0]))
                data.figures.append(numbers[1])
                data.x.append(numbers[2:])
            elif key == "tokens":
                data.tokens.append(_padded(numbers, data.length, data.token_width))
            elif key == "nodes":
                nodes = torch.tensor(numbers, dtype=torch.float64).float().view(-1, data.node_width)
            elif key == "edges":
                data.graphs.append((nodes, *_edges(numbers)))
    data.labels = torch.tensor(data.labels)
    data.figures = torch.tensor(data.figures, dtype=torch.float64)
    data.x = torch.tensor(data.x, dtype=torch.float64).float()
    data.tokens = torch.stack(data.tokens) if data.tokens else None
    return data


def _tensor_lines(name, tensor):
    rows, columns = (tensor.shape[0], 1) if tensor.dim() == 1 else tensor.shape
    values = [f"{value:.9g}" for value in tensor.detach().double().reshape(-1).tolist()]
    yield f"tensor {name} {rows} {columns}"
    for start in range(0, len(values), VALUES_IN_LINE):
        yield " ".join(values[start : start + VALUES_IN_LINE])


def write(path, data, scores, tensors):
    """scores: name -> number; tensors: name -> tensor, in the order in which C asks for them."""
    lines = [*data.head, f"folds {data.folds}", f"scores {len(scores)}"]
    lines += [f"score {name} {value:.9g}" for name, value in scores.items()]
    lines.append(f"tensors {len(tensors)}")
    for name, tensor in tensors.items():
        lines += _tensor_lines(name, tensor)
    text = ("\n".join(lines) + "\n").encode("ascii")
    with open(path + ".part", "wb") as file:
        file.write(b"plimsoll-model 1 %s %08x %d\n" % (data.method.encode("ascii"), zlib.crc32(text), len(text)) + text)
    os.replace(path + ".part", path)
