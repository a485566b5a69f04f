"""One rank of a world whose other ranks do not run: it meets them in the store that plimsoll serves, whatever host, port, file
or launcher the program names.

plimsoll sets PLIMSOLL_JOB where such ranks may be run, and PLIMSOLL_WORLD with the other variables of seat.c in each of them; a
process that was forked after the import has these later than that. So everything here looks when it is called.
"""

import functools
import multiprocessing
import os
import sys

from . import device

POSSIBLE = "PLIMSOLL_JOB" in os.environ


def here():
    return "PLIMSOLL_WORLD" in os.environ


def size():
    return int(os.environ["PLIMSOLL_WORLD"])


def rank():
    return int(os.environ["PLIMSOLL_RANK"])


def local_rank():
    return int(os.environ["LOCAL_RANK"])


def per_node():
    return int(os.environ["LOCAL_WORLD_SIZE"])


@functools.lru_cache(maxsize=1)
def _ranks(text):
    """Of ranges as groups.ranges() writes them."""
    ranks = set()
    for part in text.split(","):
        ends, _, step = part.partition("/")
        first, _, last = ends.partition("-")
        ranks.update(range(int(first), int(last or first) + 1, int(step or 1)))
    return ranks


def _live():
    return _ranks(os.environ.get("PLIMSOLL_LIVE") or os.environ["PLIMSOLL_RANK"])


def absent(member):
    """Whether this rank of the job does not run."""
    return member not in _live()


def lonely():
    """Whether some rank of the job does not run."""
    return here() and len(_live()) < size()


def refuse(sentence):
    """Ends the program: what it wants contradicts what plimsoll was asked for."""
    sys.stdout.flush()
    raise SystemExit(f"plimsoll: {sentence}")


# Who asks rank 0 for the state of its random numbers, which decides nothing.
_HARMLESS = ("torch.distributed.tensor", "torch.distributed._tensor")


def _frames():
    """Of those who called, from the innermost on: (module, file, line)."""
    frame = sys._getframe(2)
    while frame:
        yield frame.f_globals.get("__name__") or "", os.path.basename(frame.f_code.co_filename), frame.f_lineno
        frame = frame.f_back


def asker():
    """The line of the program that called; None if that was somebody who asks for nothing that decides."""
    for module, file, line in _frames():
        if module.startswith(_HARMLESS):
            return None
        if module.split(".")[0] not in ("torch", "plimsoll_hook", "functools", "contextlib"):
            return f"{file}:{line}"
    return "?"


def lacks(what, source):
    """Notes that the program was given nothing where it takes a value from a rank that does not run, and the place where it asked."""
    place = asker()
    if place:
        device.note("absent-peer", f"{what} from rank {source} ({place})")


class Substitute(type):
    """The class of a stand-in for a class of torch's: what is made of it is what `make` returns, and it passes for the original."""

    def __new__(cls, original, make):
        return super().__new__(cls, original.__name__, (), {"__module__": original.__module__, "__doc__": original.__doc__})

    def __init__(cls, original, make):
        super().__init__(original.__name__, (), {})
        cls.original, cls.make = original, staticmethod(make)

    def __call__(cls, *args, **kwargs):
        return cls.make(*args, **kwargs) if lonely() else cls.original(*args, **kwargs)

    def __instancecheck__(cls, thing):
        return isinstance(thing, cls.original)

    def __subclasscheck__(cls, other):
        return issubclass(getattr(other, "original", other), cls.original)

    def __getattr__(cls, name):
        return getattr(cls.original, name)


def replace(original, substitute):
    """In all modules that have imported it by now."""
    for name, module in list(sys.modules.items()):
        if name.startswith("torch") and getattr(module, original.__name__, None) is original:
            setattr(module, original.__name__, substitute)


# ---- stores ----

_TCP = ("host_name", "port", "world_size", "is_master", "timeout", "wait_for_workers", "multi_tenant", "master_listen_fd", "use_libuv")


def _client_of(original):
    """TCPStore, which is a client of ours wherever the program looks for it."""

    @functools.wraps(original, updated=())
    class TCPStore(original):
        def __init__(self, *args, **kwargs):
            if here():
                asked = {**dict(zip(_TCP, args)), **kwargs}
                args = ("127.0.0.1", int(os.environ["PLIMSOLL_STORE"]))
                kwargs = {name: asked[name] for name in ("timeout", "use_libuv") if name in asked}
                kwargs.update(is_master=False, wait_for_workers=False)
            super().__init__(*args, **kwargs)

    return TCPStore


def redirect_stores(module):
    """Called when torch.distributed has been imported."""
    if not hasattr(module, "TCPStore"):
        return  # this torch is built without it
    client = _client_of(module.TCPStore)

    def prefixed(name):
        return module.PrefixStore(name, client("127.0.0.1", 0))

    replace(module.TCPStore, client)
    replace(module.FileStore, Substitute(module.FileStore, lambda name, *_, **__: prefixed(f"file:{name}")))
    replace(module.HashStore, Substitute(module.HashStore, lambda: prefixed("hash")))


# ---- who the program says it is ----


def _another_rank(asked):
    """The program starts a process of each rank itself; the others end at once."""
    if multiprocessing.parent_process() is not None:
        raise SystemExit(0)
    refuse(f"the program says that it is rank {asked}, and --rank asks for {rank()}")


def check_rank(module):
    """Called when torch.distributed.distributed_c10d has been imported."""
    original = module.init_process_group

    @functools.wraps(original)
    def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, *args, **kwargs):
        if here() and world_size not in (None, -1, size()):
            refuse(f"the program makes a world of {world_size} ranks, and --world says {size()}")
        if here() and rank not in (None, -1, int(os.environ["PLIMSOLL_RANK"])):
            _another_rank(rank)
        return original(backend, init_method, timeout, world_size, rank, *args, **kwargs)

    module.init_process_group = init_process_group


# ---- launchers ----


def _check_processes(count, nodes=None):
    if count != per_node() and (nodes is None or count * nodes != size()):
        refuse(f"the program starts {count} processes on a node, and it has {per_node()} GPUs; --gpus-per-node says how many")


class _Ended:
    """What mp.spawn(join=False) returns: its one process has ended."""

    processes = ()

    def join(self, *_, **__):
        return True

    def pids(self):
        return []


def call_in_place(module):
    """Called when torch.multiprocessing.spawn has been imported: our rank is this process."""
    original = module.spawn

    @functools.wraps(original)
    def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
        if not here():
            return original(fn, args, nprocs, join, daemon, start_method)
        if nprocs == size():
            index = rank()
        else:
            _check_processes(nprocs)
            index = local_rank()
        fn(index, *args)
        return None if join else _Ended()

    module.spawn = spawn


def become_rank(module):
    """Called when torch.distributed.launcher.api has been imported, which torchrun and accelerate start processes with."""
    original = module.launch_agent

    @functools.wraps(original)
    def launch_agent(config, entrypoint, args, **kwargs):
        if not here():
            return original(config, entrypoint, args, **kwargs)
        _check_processes(config.nproc_per_node, config.max_nodes)
        if callable(entrypoint):
            return {local_rank(): entrypoint(*args)}
        _execute([entrypoint, *(str(word).replace("${local_rank}", str(local_rank())) for word in args)])

    module.launch_agent = launch_agent


def _execute(words):
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvp(words[0], words)


def become_rank_of_deepspeed(module):
    """Called when deepspeed.launcher.runner has been imported, which the program `deepspeed` is."""
    original = module.main

    @functools.wraps(original)
    def main(args=None):
        if not here():
            return original(args)
        asked = module.parse_args(args)
        words = [] if getattr(asked, "no_python", False) else [sys.executable, "-u"]
        words += ["-m"] if getattr(asked, "module", False) else []
        words.append(asked.user_script)
        if not getattr(asked, "no_local_rank", False):
            words.append(f"--local_rank={local_rank()}")
        _execute([*words, *asked.user_args])

    module.main = main


class _NoCluster:
    """What ray.init() returns: nothing was started."""

    address_info, dashboard_url = {}, ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def disconnect(self):
        pass


def start_no_cluster(module):
    """Called when ray has been imported."""
    original = module.init

    @functools.wraps(original)
    def init(*args, **kwargs):
        return _NoCluster() if here() else original(*args, **kwargs)

    module.init = init


def become_rank_of_ray(module):
    """Called when a module with a TorchTrainer has been imported; Ray has an old one and a new one. The new one has a local mode, which
    takes the variables of torchrun and calls the training function in this process: so a worker of ours is made."""
    trainer = module.TorchTrainer
    original = trainer.fit

    @functools.wraps(original)
    def fit(self):
        if not here():
            return original(self)
        workers = getattr(getattr(self, "scaling_config", None), "num_workers", None)
        if isinstance(workers, int) and workers not in (0, size()):
            refuse(f"Ray's ScalingConfig asks for {workers} workers, and --world says {size()}")
        if not hasattr(self, "running_in_local_mode"):
            refuse("this release of Ray Train starts workers in processes of its cluster only; one with a local mode (2.50 or later) can be run, "
                   "or the training function as a script of its own")
        self.running_in_local_mode = True
        return original(self)

    trainer.fit = fit
