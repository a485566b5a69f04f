"""What `plimsoll.estimate` starts under plimsoll: a pickled model or function, stepped as a training would.

The caller imports this file as plimsoll._step and writes with Pickler; the run has it as its script and reads with load.
Parameters travel without their values, which no memory depends on: a large model, or one on the meta device, is as quick as
a small one.
"""

from __future__ import annotations

import io
import os
import pickle
import runpy
import sys
from typing import Any, Dict, List, Optional

STEPS = 20  # at most: plimsoll ends a training earlier, once its peak repeats
CALLS = 5  # of what does not train here
NESTED = "PLIMSOLL_ESTIMATE"  # set while a script is imported for what it defines
MAIN = "__main__"


class NotSendable(Exception):
    """As text: why, and what to do."""


def parameter(size: Any, stride: Any, dtype: Any, requires_grad: bool) -> Any:
    """A parameter of that layout on the GPU."""
    import torch

    return torch.nn.Parameter(torch.empty_strided(size, stride, dtype=dtype, device="cuda"), requires_grad=requires_grad)


def buffer(size: Any, stride: Any, dtype: Any) -> Any:
    """A tensor that had no values either."""
    import torch

    return torch.empty_strided(size, stride, dtype=dtype, device="cuda")


class Pickler(pickle.Pickler):
    """Refuses what another process cannot import."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.torch = sys.modules.get("torch")

    def reducer_override(self, thing: Any) -> Any:
        if getattr(thing, "__module__", None) == MAIN and hasattr(thing, "__qualname__") and not main_file():
            raise NotSendable(f"{thing.__qualname__} is defined interactively, where another process cannot import it: "
                              "put it into a .py file and import it, or use %%plimsoll")
        if self.torch is not None and isinstance(thing, self.torch.Tensor):
            return self.reduce_tensor(thing)
        return NotImplemented

    def reduce_tensor(self, tensor: Any) -> Any:
        assert self.torch is not None
        if tensor.layout != self.torch.strided:
            return NotImplemented
        layout = tuple(tensor.size()), tuple(tensor.stride()), tensor.dtype
        if type(tensor) is self.torch.nn.Parameter:
            return parameter, (*layout, tensor.requires_grad)
        return (buffer, layout) if tensor.is_meta else NotImplemented


def main_file() -> Optional[str]:
    """The script that the caller runs as; None in a notebook, at a prompt and with -c."""
    path = getattr(sys.modules[MAIN], "__file__", None)
    return os.path.abspath(path) if path and os.path.exists(path) else None


def dumps(job: Dict[str, Any]) -> bytes:
    """The job, and before it where the run finds its modules."""
    file = io.BytesIO()
    try:
        Pickler(file).dump(job)
    except NotSendable:
        raise
    except Exception as error:  # whatever a class's own __reduce__ raises
        raise NotSendable(f"it cannot be pickled for another process ({str(error) or type(error).__name__}): build it from "
                          "functions and classes at the top of a .py file, or run that file with plimsoll.run") from error
    return pickle.dumps((sys.path, main_file(), file.getvalue()))


def load(path: str) -> Dict[str, Any]:
    """The job of a file that dumps wrote."""
    with open(path, "rb") as file:
        places, script, job = pickle.load(file)
    sys.path[:] = [place for place in places if place not in sys.path] + sys.path
    sys.modules["plimsoll._step"] = sys.modules[MAIN]
    if script:
        os.environ[NESTED] = script
        vars(sys.modules[MAIN]).update(
            (name, value) for name, value in runpy.run_path(script, run_name="__plimsoll_main__").items() if not name.startswith("__"))
        del os.environ[NESTED]
    loaded: Dict[str, Any] = pickle.loads(job)
    return loaded


def to_gpu(thing: Any) -> Any:
    """The same with its tensors on the GPU."""
    import torch

    if isinstance(thing, torch.Tensor):
        return thing.to("cuda")
    if isinstance(thing, dict):
        return {name: to_gpu(value) for name, value in thing.items()}
    if type(thing) in (list, tuple):
        return type(thing)(map(to_gpu, thing))
    return thing


def call(function: Any, sample: Any) -> Any:
    """A tuple is arguments, a dictionary named ones (as Transformers' models take them), all else is one argument."""
    if isinstance(sample, dict):
        return function(**sample)
    return function(*sample) if isinstance(sample, tuple) else function(sample)


def tensors(output: Any) -> List[Any]:
    """Those of floating point in what a model returned."""
    import torch

    if isinstance(output, torch.Tensor):
        return [output] if output.is_floating_point() else []
    values = output.values() if hasattr(output, "values") else output if isinstance(output, (list, tuple)) else ()
    return [tensor for value in values for tensor in tensors(value)]


def loss_of(output: Any, loss: Any) -> Any:
    """What is differentiated: what `loss` makes of the output, the loss in it, or the sum of all."""
    if loss is not None:
        return loss(output)
    own = output.get("loss") if hasattr(output, "get") else getattr(output, "loss", None)
    return own if own is not None else sum(tensor.sum() for tensor in tensors(output))


def optimizer_of(wanted: Any, model: Any) -> Any:
    """An optimizer as it is; a class, a function or the name of a class in torch.optim is given the parameters."""
    import torch

    if isinstance(wanted, torch.optim.Optimizer):
        return wanted
    if isinstance(wanted, str):
        wanted = {name.lower(): value for name, value in vars(torch.optim).items()}[wanted.lower()]
    return wanted(model.parameters())


def train(model: Any, sample: Any, wanted: Any, loss: Any) -> None:
    optimizer = optimizer_of(wanted, model)
    for _ in range(STEPS):
        loss_of(call(model, sample), loss).backward()
        optimizer.step()
        optimizer.zero_grad()


def main(path: str) -> None:
    import torch

    job = load(path)
    target, sample = job["target"], to_gpu(job["sample"])
    model = isinstance(target, torch.nn.Module)
    if model:
        target.to("cuda")
    if job["optimizer"] is not None:
        train(target, sample, job["optimizer"], job["loss"])
        return
    with torch.set_grad_enabled(not model):
        for _ in range(CALLS):
            call(target, sample)


if __name__ == MAIN:
    main(sys.argv[1])
