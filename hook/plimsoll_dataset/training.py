"""One row: the network on the device without a value being computed, the loop of its generator, and what is told about it."""
import contextlib
import importlib
import json
import sys

import torch

from . import cnn, mlp, transformer
from .description import Description

FAMILIES = {"mlp": mlp.Family, "cnn": cnn.Family, "transformer": transformer.Family}


def prepare():
    """Before the first row: what every process would import for itself, and values that nobody looks at. CUDA must stay asleep: it does
    not survive a fork."""
    import torch.nn.modules.activation as named
    with contextlib.suppress(ImportError):  # the first backward pass does this, in releases that have it
        importlib.import_module("torch.nested._internal.nested_tensor")
    hook = sys.modules.get("plimsoll_hook")
    if hook:  # no value decides anything here, and nobody asks what memory is for
        hook.device.stop_following()
        hook.memory.attribution.stop_tagging()
    torch.optim.Adam([torch.nn.Parameter(torch.empty(1))])
    leave = [name for name in dir(torch.nn.init) if name.endswith("_") and not name.startswith("_")]
    for name in leave:
        setattr(torch.nn.init, name, _as_it_is)
        if hasattr(named, name):
            setattr(named, name, _as_it_is)


def _as_it_is(tensor, *_, **__):
    return tensor


def run(row):
    family, described = FAMILIES[row["family"]](row), Description()
    with torch.device("meta") if family.huge else contextlib.nullcontext():
        model = family.build()
    # The same blocks in the same order as model.cuda() has, without values: they would be computed on the host first.
    model._apply(lambda tensor: torch.empty(tensor.shape, dtype=tensor.dtype, device="cuda"))
    before = family.before(model)  # what the generator's script leaves on the device
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    try:
        _train(family, model, optimizer, [int(step) for step in row["steps"].split()], described)
    finally:
        if described.found:
            with open(row["description"], "w") as file:  # dump() would not take the encoder that is in C
                file.write(json.dumps(described.document(optimizer), separators=(",", ":")))
    del before


def _train(family, model, optimizer, steps, described):
    """What a step leaves behind, its outputs and its loss, is there until the next one has its own."""
    for samples in steps:
        inputs, labels = family.data(samples)
        inputs, labels = inputs.to("cuda"), labels.to("cuda")
        optimizer.zero_grad()
        if family.refuses(samples):
            return
        outputs = model(inputs) if described.found else described.call(model, inputs, labels, family.branches)
        labels = family.labels(labels)
        loss = family.criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        kept = family.after(outputs, labels, loss)
    del kept
