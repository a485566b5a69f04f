"""The operators of PyTorch's own database (op_db, and those of lists), with small inputs that are all known: what plimsoll calls known on the
virtual GPU is what the CPU computes. `database.py few [NAME...]` has two samples in two types of each, in place too; `all` six, in more types,
into `out` and with gradients. Prints each difference, and `wrong W known K assumed A unknown U refused R`; -v also what the card refuses."""
import sys
import types
import unittest
import warnings

import torch
from torch.utils._pytree import tree_flatten, tree_map

# PyTorch's tests are written with it; the database needs its name only.
sys.modules.setdefault("expecttest", types.SimpleNamespace(TestCase=unittest.TestCase, assert_expected_inline=None))
warnings.filterwarnings("ignore")
from torch.testing._internal import common_methods_invocations as database  # noqa: E402

from plimsoll_hook.values import readbacks  # noqa: E402

LISTS = [name for name in dir(database) if name.startswith("foreach_") and name.endswith("_db")]
UNDEFINED = ("empty", "new_empty", "resize", "sparse.", "torch.ops.")  # what they leave is nobody's
NEAR = {torch.float16: 2e-2, torch.bfloat16: 5e-2, torch.float32: 1e-4, torch.complex64: 1e-4}
MOST = 4096  # elements
EACH = 12  # elements that are read one by one
FEW, MANY = (torch.float32, torch.int64), (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8, torch.bool, torch.complex64)

unknown, assumed = [], []
counts = dict.fromkeys(("wrong", "known", "assumed", "unknown", "refused"), 0)


def _answer(frame, read):
    """Asked for whatever is not known from the host's data alone."""
    (assumed if read.assumed else unknown).append(1)
    return None


readbacks.answer = _answer


def asked(call):
    """What it returns, and how it was called: known, assumed or unknown."""
    unknown.clear(), assumed.clear()
    result = call()
    return result, "unknown" if unknown else "assumed" if assumed else "known"


def strided(value):
    return isinstance(value, torch.Tensor) and value.layout == torch.strided and not value.is_quantized and not value.is_nested


def on_card(value):
    """The same on the card. Tensors of the host's that stand for numbers stay there."""
    if isinstance(value, torch.Tensor):
        return value.detach().to("cuda").requires_grad_(value.requires_grad)
    return torch.device("cuda") if value == "cpu" or isinstance(value, torch.device) else value


def own(value):
    return value.detach().clone().requires_grad_(value.requires_grad) if isinstance(value, torch.Tensor) else value


def same(ours, right):
    if ours.dtype != right.dtype or ours.shape != right.shape:
        return False
    near = NEAR.get(right.dtype, 1e-6)
    wide = torch.complex128 if right.is_complex() else torch.float64 if right.is_floating_point() else right.dtype
    return torch.allclose(ours.to(wide), right.to(wide), rtol=near, atol=near, equal_nan=True)


def tell(name, how, ours, right):
    counts["wrong"] += 1
    print("wrong:", name, how, ours.dtype, tuple(ours.shape), ours.flatten()[:4].tolist(), "instead of", right.dtype, tuple(right.shape),
          right.flatten()[:4].tolist(), flush=True)


def compare(name, how, ours, right, sized):
    """`sized`: how its sizes were found."""
    if not isinstance(ours, torch.Tensor):
        differs = sized == "known" and isinstance(ours, (bool, int)) and ours != right
        counts["wrong" if differs else sized] += 1
        if differs:
            print("wrong:", name, how, ours, "instead of", right, flush=True)
        return
    if not (strided(ours) and strided(right)) or ours.device.type == "cpu" or right.numel() > MOST:
        return
    read, found = asked(lambda: ours.detach().resolve_conj().resolve_neg().cpu())
    found = sized if found == "known" else found
    right = right.detach().resolve_conj().resolve_neg()
    if found == "known" and not same(read, right):
        return tell(name, how, read, right)
    counts[found] += 1
    if found != "known" and read.shape == right.shape and read.dtype == right.dtype and 1 < right.numel() <= EACH:
        for ours_one, right_one in zip(ours.detach().reshape(-1).unbind(), right.reshape(-1).unbind()):
            one, found = asked(lambda: ours_one.cpu())
            if found == "known" and not same(one, right_one):
                tell(name, how + ", an element", one, right_one)


def attempt(name, how, function, sample):
    """Runs it on both, and compares what it returns and what is left of its arguments."""
    given = [sample.input, list(sample.args), dict(sample.kwargs)]
    right_given, ours_given = tree_map(own, given), tree_map(on_card, given)
    try:
        right = function(right_given[0], *right_given[1], **right_given[2])
    except Exception:
        return
    try:
        ours, sized = asked(lambda: function(ours_given[0], *ours_given[1], **ours_given[2]))
    except Exception as error:
        counts["refused"] += 1
        if "-v" in sys.argv:
            print("refused:", name, how, str(error).splitlines()[:1])
        return
    ours, right = tree_flatten((ours, ours_given))[0], tree_flatten((right, right_given))[0]
    if len(ours) != len(right):
        if sized == "known":
            counts["wrong"] += 1
            print("wrong:", name, how, len(ours), "results instead of", len(right), flush=True)
        return
    for a, b in zip(ours, right):
        compare(name, how, a, b, sized)


def gradients(op):
    def call(*args, **kwargs):
        made = [t for t in tree_flatten(op(*args, **kwargs))[0] if isinstance(t, torch.Tensor) and t.requires_grad]
        given = [t for t in tree_flatten((args, kwargs))[0] if isinstance(t, torch.Tensor) and t.requires_grad]
        return torch.autograd.grad([t.abs().sum() if t.is_complex() else t.sum() for t in made], given, allow_unused=True)

    return call


def outs(op):
    def call(*args, **kwargs):
        made = op(*args, **kwargs)
        out = tree_map(lambda t: torch.empty_like(t), made)
        return op(*args, **kwargs, out=out)

    return call


def ways(op, whole):
    """(name, function, whether it wants gradients)"""
    yield "", op, False
    if op.inplace_variant:
        yield "in place", op.inplace_variant, False
    if getattr(op, "supports_out", False) and whole:
        yield "out", outs(op), False
    if op.supports_autograd and whole:
        yield "gradients", gradients(op), True


def examine(op, whole):
    for dtype in MANY if whole else FEW:
        if dtype not in op.dtypes:
            continue
        for how, function, wants in ways(op, whole):
            if wants and not (dtype in (torch.float32, torch.complex64) and op.supports_dtype(dtype, "cpu")):
                continue
            try:
                torch.manual_seed(0)
                samples = op.sample_inputs("cpu", dtype, requires_grad=wants)
                samples = [sample for _, sample in zip(range(6 if whole else 2), samples)]
            except Exception:
                continue
            for sample in samples:
                attempt(f"{op.name}.{op.variant_test_name}".strip("."), f"{how} {dtype}", function, sample)


def fused():
    """Steps of fused optimizers, with parameters and gradients that are known."""
    for kind, more in ((torch.optim.Adam, {}), (torch.optim.AdamW, {"amsgrad": True}), (torch.optim.SGD, {"momentum": 0.9}), (torch.optim.Adagrad, {})):
        for way in ({"fused": True}, {"foreach": True}, {"foreach": False}, {"capturable": True}):
            def steps(weight, gradient):
                weight = weight.requires_grad_()
                optimizer = kind([weight], lr=0.1, **way, **more)
                for _ in range(3):
                    weight.grad = gradient.clone()
                    optimizer.step()
                return weight, list(optimizer.state[weight].values())

            name = f"{kind.__name__} {next(iter(way))}"
            attempt(name, str(way), steps, types.SimpleNamespace(input=torch.linspace(-1, 1, 6), args=[torch.linspace(1, 2, 6)], kwargs={}))


def main():
    whole = sys.argv[1] == "all"
    ops = [op for ops in (database.op_db, *(getattr(database, name) for name in LISTS)) for op in ops if not op.name.startswith(UNDEFINED)]
    wanted = [word for word in sys.argv[2:] if word != "-v"]
    for op in ops:
        if not wanted or op.name in wanted:
            examine(op, whole)
    if not wanted:
        fused()
    print("\n" + " ".join(f"{name} {count}" for name, count in counts.items()))


main()
