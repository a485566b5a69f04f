"""Names of modules and parameters: the path from the outermost module, as named_modules() gives it, without the
parts that wrappers (DDP, torch.compile, checkpointing) put in.

Names are kept by id(), with a weak reference that removes an entry when its object dies."""

import weakref

from .. import device

_WRAPPERS = {
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "FullyShardedDataParallel": "_fsdp_wrapped_module",
    "OptimizedModule": "_orig_mod",
    "CheckpointWrapper": "_checkpoint_wrapped_module",
    "AveragedModel": "module",
}

modules = {}     # id of a module → text of its path
parameters = {}  # id of a parameter → text of its full name
buffers = {}     # (id of a module, name in it) → text of the full name
_parents = {}    # id of a module → (weak reference to its parent, name in it)
_tops = {}       # id of an outermost module → prefix of its paths
_prefixes = set()
tensors = []     # (weak reference, text) of every parameter, for gradients
outermost = weakref.WeakSet()


def registered(parent, name, child):
    """A hook of torch.nn: `child` becomes a part of `parent`."""
    if child is not None:
        key = id(child)
        _parents[key] = (weakref.ref(parent), name)
        weakref.finalize(child, _parents.pop, key, None).atexit = False


def _top(module):
    seen = set()
    while id(module) not in seen:
        seen.add(id(module))
        entry = _parents.get(id(module))
        parent = entry and entry[0]()
        # The link may be old: the child may have been replaced or moved since.
        if parent is None or parent._modules.get(entry[1]) is not module:
            break
        module = parent
    return module


def remember(table, thing, value):
    key = id(thing)
    table[key] = value
    weakref.finalize(thing, table.pop, key, None).atexit = False


def _prefix(kind):
    """The first model needs none; another, or a copy of it, is told apart by its class."""
    if not _prefixes:
        prefix = ""
    else:
        prefix, count = kind, 1
        while prefix in _prefixes:
            count += 1
            prefix = f"{kind}#{count}"
    _prefixes.add(prefix)
    return prefix


def _walk(module, path, seen):
    """Yields (module, path) of all parts."""
    if id(module) in seen:
        return
    seen.add(id(module))
    yield module, path
    skip = _WRAPPERS.get(type(module).__name__.removeprefix("FSDP"))
    for name, child in module._modules.items():
        if child is not None:
            yield from _walk(child, path if name == skip else f"{path}.{name}" if path else name, seen)


def parts(top):
    """All modules of a model, each once. The user's class may have another modules() or parameters(), or an attribute of that
    name."""
    return (module for module, _ in _walk(top, "", set()))


def has_parameters(top):
    return any(parameter is not None for module in parts(top) for parameter in module._parameters.values())


def add_parameter(parameter, name):
    text = device.text(name)
    remember(parameters, parameter, text)
    tensors.append((weakref.ref(parameter), text))


def _kind(top):
    """What a model is called: the class inside its wrappers."""
    inside = _WRAPPERS.get(type(top).__name__)
    if inside in top._modules and type(top).__name__ != "AveragedModel":
        return _kind(top._modules[inside])
    return type(top).__name__


def _name_all(top):
    learns = has_parameters(top)
    kind = _kind(top)
    prefix = _tops[id(top)] if id(top) in _tops else _prefix(kind) if learns else f"({kind})"
    remember(_tops, top, prefix)
    outermost.add(top)
    for module, path in _walk(top, prefix, set()):
        number = device.text(path or f"({kind})")
        for name in module._buffers:
            buffers[id(module), name] = device.text(f"{path}.{name}" if path else name)
        if id(module) not in modules:
            remember(modules, module, number)
        for name, parameter in module._parameters.items():
            if parameter is not None and id(parameter) not in parameters:
                add_parameter(parameter, f"{path}.{name}" if path else name)
    return learns


def add(module):
    """Names a module that was called for the first time, and all that belong to it. Returns its outermost module."""
    top = _top(module)
    _name_all(top)
    if id(module) not in modules:  # a part that named_modules() does not show
        remember(modules, module, device.text(f"({type(module).__name__})"))
    return top
