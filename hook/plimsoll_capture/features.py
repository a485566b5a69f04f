"""What learned methods want to know of a model in one row of numbers (docs/description.md, "features").

A layer is a call of a module in the forward pass. Multiplications are counted by the shapes of layers, 2 operations for each with its
addition; what a model computes between its layers is in none of them.
"""


def _convolution(module, first, outputs):
    return outputs * module.weight.numel() // module.out_channels


def _transposed(module, first, outputs):
    return first * module.weight.numel() // module.in_channels


def _linear(module, first, outputs):
    return outputs * module.in_features


def _matrices(module):
    return sum(p.numel() for p in module.parameters() if p.dim() >= 2)


def _recurrent(module, first, outputs):
    return first // module.input_size * _matrices(module)


def _attention(module, first, outputs):
    """Its projections; the products of queries and keys are no layer's."""
    return first // module.embed_dim * _matrices(module)


def _conv1d(module, first, outputs):
    """That of transformers is a linear layer with a transposed weight."""
    return outputs * module.weight.shape[0]


def _rows(torch):
    """Class, what it counts as, how many products a call has. The first that fits."""
    nn = torch.nn
    return ((nn.modules.conv._ConvTransposeNd, "convolutions", _transposed), (nn.modules.conv._ConvNd, "convolutions", _convolution),
            (nn.Linear, "linears", _linear), (nn.RNNBase, None, _recurrent), (nn.MultiheadAttention, None, _attention),
            (nn.modules.batchnorm._BatchNorm, "batchnorms", None))


def _row(torch, module):
    if type(module).__name__ == "Conv1D" and not isinstance(module, torch.nn.modules.conv._ConvNd):
        return "linears", _conv1d
    return next(((counts, products) for kind, counts, products in _rows(torch) if isinstance(module, kind)), (None, None))


def flops(torch, module, tensors, outputs):
    """Of one call with these tensors, whose first result has so many elements."""
    _, products = _row(torch, module)
    first = next(iter(tensors), None)
    if products is None or first is None:
        return 0
    try:
        return 2 * products(module, first.numel(), outputs)
    except (AttributeError, ZeroDivisionError):  # a class of the user's that is called alike, or has no weight of its own
        return 0


def table(torch, model, batch, calls):
    """The numbers by name; `calls` are (module, outputs, operations)."""
    found = {"flops": 0, "parameters": sum(p.numel() for p in model.parameters()), "activations": 0, "convolutions": 0, "linears": 0,
             "batchnorms": 0, "depth": 0}
    if "size" in batch:
        found["batch"] = batch["size"]
    for module, outputs, operations in calls:
        if operations is None:  # it was recomputed in the backward pass
            continue
        counts, _ = _row(torch, module)
        found["flops"] += operations
        if counts:
            found[counts] += 1
        if not module._modules:
            found["depth"] += 1
            found["activations"] += sum(elements(output["shape"]) for output in outputs)
    return found


def elements(shape):
    count = 1
    for size in shape:
        count *= size
    return count
