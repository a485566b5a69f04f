"""What would start the ranks of a job (torchrun, mp.spawn, deepspeed, Ray) runs the simulated rank in this process instead."""

import multiprocessing
import os
import sys

from ..imports.after_import import replace
from . import env


def _another_rank(asked):
    """The program starts a process of each rank itself; the others end at once."""
    if multiprocessing.parent_process() is not None:
        raise SystemExit(0)
    env.refuse(f"the program runs as rank {asked}, but --rank is {env.rank()}")


def check_rank(module):
    """Called when torch.distributed.distributed_c10d has been imported."""
    original = module.init_process_group

    @replace(module, "init_process_group")
    def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, *args, **kwargs):
        if env.here() and world_size not in (None, -1, env.size()):
            env.refuse(f"the program sets up a job of {world_size} ranks, but --world is {env.size()}")
        if env.here() and rank not in (None, -1, int(os.environ["PLIMSOLL_RANK"])):
            _another_rank(rank)
        return original(backend, init_method, timeout, world_size, rank, *args, **kwargs)


# ---- launchers ----


def _check_processes(count, nodes=None):
    if count != env.per_node() and (nodes is None or count * nodes != env.size()):
        env.refuse(f"the program starts {count} processes per node, but a node has {env.per_node()} GPUs; --gpus-per-node sets this")


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

    @replace(module, "spawn")
    def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
        if not env.here():
            return original(fn, args, nprocs, join, daemon, start_method)
        if nprocs == env.size():
            index = env.rank()
        else:
            _check_processes(nprocs)
            index = env.local_rank()
        fn(index, *args)
        return None if join else _Ended()


def become_rank(module):
    """Called when torch.distributed.launcher.api has been imported, which torchrun and accelerate start processes with."""
    original = module.launch_agent

    @replace(module, "launch_agent")
    def launch_agent(config, entrypoint, args, **kwargs):
        if not env.here():
            return original(config, entrypoint, args, **kwargs)
        _check_processes(config.nproc_per_node, config.max_nodes)
        if callable(entrypoint):
            return {env.local_rank(): entrypoint(*args)}
        _execute([entrypoint, *(str(word).replace("${local_rank}", str(env.local_rank())) for word in args)])


def _execute(words):
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvp(words[0], words)


def become_rank_of_deepspeed(module):
    """Called when deepspeed.launcher.runner has been imported, which the program `deepspeed` is."""
    original = module.main

    @replace(module, "main")
    def main(args=None):
        if not env.here():
            return original(args)
        asked = module.parse_args(args)
        words = [] if getattr(asked, "no_python", False) else [sys.executable, "-u"]
        words += ["-m"] if getattr(asked, "module", False) else []
        words.append(asked.user_script)
        if not getattr(asked, "no_local_rank", False):
            words.append(f"--local_rank={env.local_rank()}")
        _execute([*words, *asked.user_args])


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

    @replace(module, "init")
    def init(*args, **kwargs):
        return _NoCluster() if env.here() else original(*args, **kwargs)


def become_rank_of_ray(module):
    """Called when a module with a TorchTrainer has been imported; Ray has an old one and a new one. The new one has a local mode, which
    takes the variables of torchrun and calls the training function in this process: so a worker of ours is made."""
    trainer = module.TorchTrainer
    original = trainer.fit

    @replace(trainer, "fit")
    def fit(self):
        if not env.here():
            return original(self)
        workers = getattr(getattr(self, "scaling_config", None), "num_workers", None)
        if isinstance(workers, int) and workers not in (0, env.size()):
            env.refuse(f"Ray's ScalingConfig asks for {workers} workers, but --world is {env.size()}")
        if not hasattr(self, "running_in_local_mode"):
            env.refuse("this release of Ray Train only starts workers in its cluster; use Ray 2.50 or later, which has a local mode, "
                       "or run the training function as a script of its own")
        self.running_in_local_mode = True
        return original(self)
