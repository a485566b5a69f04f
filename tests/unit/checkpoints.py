"""Writes checkpoints as torch.save() lays them out, for tests/unit/checkpoint.c: FOLDER/NAME.ckpt. Needs no PyTorch: a pickle in
which tensors are calls of torch._utils._rebuild_tensor_v2 on storages with persistent names, and a file of numbers for each
storage. The numbers of a tensor go on from those of the one before it, from 1."""
import collections
import io
import pickle
import struct
import sys
import types
import zipfile

folder = sys.argv[1]
torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
sys.modules.update({"torch": torch, "torch._utils": utils})


def rebuild(*_):
    """Never called: it is named in the pickle."""


rebuild.__module__, rebuild.__name__, rebuild.__qualname__ = "torch._utils", "_rebuild_tensor_v2", "_rebuild_tensor_v2"
utils._rebuild_tensor_v2 = rebuild
for name in ("FloatStorage", "HalfStorage"):
    setattr(torch, name, type(name, (), {"__module__": "torch"}))


class Storage:
    def __init__(self, numbers, kind):
        self.numbers, self.kind = numbers, kind


class Tensor:
    """`offset`: numbers of the storage before its own."""

    def __init__(self, shape, numbers, offset=0, strides=None, kind="FloatStorage"):
        self.shape, self.offset = shape, offset
        self.storage = Storage([0.0] * offset + numbers, kind)
        self.strides = strides
        if strides is None:
            self.strides, step = [], 1
            for size in reversed(shape):
                self.strides.insert(0, step)
                step *= size

    def __reduce__(self):
        return rebuild, (self.storage, self.offset, tuple(self.shape), tuple(self.strides), False, collections.OrderedDict())


class Pickler(pickle.Pickler):
    def __init__(self, out):
        super().__init__(out, 2)
        self.storages = []

    def persistent_id(self, value):
        if not isinstance(value, Storage):
            return None
        self.storages.append(value)
        return "storage", getattr(torch, value.kind), str(len(self.storages) - 1), "cpu", len(value.numbers)


def write(name, whole, inside="archive", lacks=(), cut=0):
    out = io.BytesIO()
    pickler = Pickler(out)
    pickler.dump(whole)
    with zipfile.ZipFile(f"{folder}/{name}.ckpt", "w") as archive:
        archive.writestr(f"{inside}/data.pkl", out.getvalue())
        for i, storage in enumerate(pickler.storages):
            data = struct.pack(f"<{len(storage.numbers)}f", *storage.numbers)
            if i not in lacks:
                archive.writestr(f"{inside}/data/{i}", data[:len(data) - cut])


class State(dict):
    """Tensors in their order, each with the numbers after those of the last."""

    def __init__(self, shapes):
        super().__init__()
        self.next = 1
        for key, shape in shapes:
            self.add(key, shape)

    def add(self, key, shape, **how):
        count = 1
        for size in shape:
            count *= size
        self[key] = Tensor(shape, [float(self.next + i) for i in range(count)], **how)
        self.next += count

    def __reduce__(self):
        return collections.OrderedDict, (), None, None, iter(self.items())


def norm(prefix, width):
    return [(f"{prefix}.{name}", [width]) for name in ("weight", "bias", "running_mean", "running_var")] + [(f"{prefix}.num_batches_tracked", [1])]


def member(prefix, inputs, width, classes):
    """Linear, BatchNorm, ReLU, Linear."""
    return [(f"{prefix}.model.0.weight", [width, inputs]), (f"{prefix}.model.0.bias", [width]), *norm(f"{prefix}.model.1", width),
            (f"{prefix}.model.3.weight", [classes, width]), (f"{prefix}.model.3.bias", [classes])]


def mlp(features=8, classes=3):
    return [*member("models.0", features, 2, classes), *member("models.1", features, 4, classes), ("loss.weight", [classes])]


def encoder(prefix, token, features, classes, width=2, length=3, hidden=4):
    shapes = [(f"{prefix}.positional_encoding", [1, length, width])]
    for at, inputs in ((0, token), (3, width)):
        shapes += [(f"{prefix}.embedding.{at}.weight", [width, inputs]), (f"{prefix}.embedding.{at}.bias", [width]),
                   *norm(f"{prefix}.embedding.{at + 1}", length)]
    layer = f"{prefix}.transformer_encoder.layers.0"
    shapes += [(f"{layer}.self_attn.in_proj_weight", [3 * width, width]), (f"{layer}.self_attn.in_proj_bias", [3 * width]),
               (f"{layer}.self_attn.out_proj.weight", [width, width]), (f"{layer}.self_attn.out_proj.bias", [width]),
               (f"{layer}.linear1.weight", [hidden, width]), (f"{layer}.linear1.bias", [hidden]),
               (f"{layer}.linear2.weight", [width, hidden]), (f"{layer}.linear2.bias", [width])]
    for part in ("norm1", "norm2"):
        shapes += [(f"{layer}.{part}.weight", [width]), (f"{layer}.{part}.bias", [width])]
    return shapes + member(f"{prefix}.fc_out.models.0", width + features, 4, classes)


def whole(state):
    return {"epoch": 3, "state_dict": state, "loops": {"a": [None, True, 1.5]}}


def with_first(**how):
    """The published shape, with the first tensor of another kind."""
    state = State([])
    state.add("models.0.model.0.weight", [2, 8], **how)
    for key, shape in mlp()[1:]:
        state.add(key, shape)
    return whole(state)


write("mlp", whole(State(mlp())))
write("folder", whole(State(mlp())), inside="epoch=3-step=9")
write("cnn", whole(State(mlp(features=10))))
write("transformer", whole(State(encoder("models.0", 4, 4, 5))))
write("offset", with_first(offset=7))
write("one", with_first(strides=[8, 1]))
write("turned", with_first(strides=[1, 2]))
write("half", with_first(kind="HalfStorage"))
write("features", whole(State(mlp(features=7))))
write("classes", whole(State(mlp(classes=257))))
write("many", whole(State(mlp(classes=256))))
write("lacks", whole(State(mlp())), lacks=[0])
write("cut", whole(State(mlp())), cut=1)
write("state", {"epoch": 3})
state = State(mlp())
state["models.0.model.0.bias"].storage.numbers[1] = float("nan")
write("nan", whole(state))
state = State(mlp())
state["models.0.model.0.bias"] = [1.0, 2.0]
write("list", whole(state))
state = State(mlp())
state["models.0.model.0.bias"] = Tensor([1, 1, 1, 2], [1.0, 2.0])
write("deep", whole(state))
state = State(mlp())
state["models.0.model.0.bias"] = Tensor([0], [])
write("none", whole(state))
