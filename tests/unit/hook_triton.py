"""The hook: autotuners, and the arguments of Triton's kernels."""
import sys
from unittest import mock

from hook_common import equal, load, raised, test, thing


# ---- autotuners ----


@test
def the_first_candidate_that_works_is_taken():
    triton, device = load("triton")

    class Autotuner:
        def prune_configs(self, configs):
            return configs

        def _bench(self, config):
            tried.append(config)
            return [float("inf")] * 3 if config == "too large" else [0.5] * 3

    tried = []
    triton.hook_triton(thing(Autotuner=Autotuner))
    tuner = Autotuner()
    for _ in range(2):
        times = [tuner._bench(config)[0] for config in tuner.prune_configs(["too large", "first", "second"])]
        equal(times, [float("inf"), 0.5, float("inf")])
    equal(tried, ["too large", "first"] * 2)
    equal(device.told("note"), [("autotune-first", "triton")] * 4)


@test
def choices_of_inductor():
    triton, device = load("triton")
    library = type("ExternKernelCaller", (), {})

    class Cache:
        def __call__(self, name, choices):
            return choices

    module = thing(AlgorithmSelectorCache=Cache, ExternKernelCaller=library)
    triton.hook_choices(module)
    kernel, own = library(), object()
    equal(Cache()("mm", [own, kernel, object()]), [kernel])
    equal(Cache()("mm", [own, object()]), [own])
    equal(len(device.told("note")), 2)
    equal(Cache()("mm", [own]), [own])
    equal(len(device.told("note")), 2)


@test
def configurations_of_inductor():
    triton, device = load("triton")

    class OutOfResources(Exception):
        def __init__(self, *_):
            super().__init__("passed over")

    class CachingAutotuner:
        def __init__(self, *configs):
            self.configs = configs

        def _precompile_config(self, config):
            if config == "bad":
                raise ValueError("cannot be compiled")
            return config

        def coordinate_descent_tuning(self, launcher):
            return None

    module = thing(CachingAutotuner=CachingAutotuner, OutOfResources=OutOfResources)
    triton.hook_configurations(module)
    tuner = CachingAutotuner("bad", "first", "second")
    raised(ValueError, tuner._precompile_config, "bad")
    equal(tuner._precompile_config("first"), "first")
    raised(OutOfResources, tuner._precompile_config, "second")
    equal(tuner._precompile_config("derived"), "derived")
    alone = CachingAutotuner("first")
    equal([alone._precompile_config("first") for _ in range(2)], ["first", "first"])
    equal(len(device.told("note")), 1)
    equal(tuner.coordinate_descent_tuning("launcher"), "launcher")


@test
def timing_is_short():
    triton, _ = load("triton")
    given = []
    module = thing(do_bench=lambda fn, warmup=25, rep=100, quantiles=None: given.append((warmup, rep, quantiles)),
                   do_bench_cudagraph=lambda fn, rep=20: given.append(rep))
    triton.hook_timing(module)
    module.do_bench(None)
    module.do_bench(None, 50, rep=500, quantiles=[0.5])
    module.do_bench_cudagraph(None, 10)
    equal(given, [(0, 0, None), (0, 0, [0.5]), 0])


# ---- arguments ----


@test
def arguments_of_triton_are_told():
    triton, device = load("triton")

    class Tensor:
        def __init__(self, address):
            self._cdata = address

    class JITFunction:
        def run(self, *args, **kwargs):
            if kwargs.get("fails"):
                raise ValueError("in the launch")
            return "ran"

    with mock.patch.dict(sys.modules, {"torch": thing(Tensor=Tensor)}):
        triton.tell_arguments(thing(JITFunction=JITFunction))
    equal(JITFunction().run(Tensor(1), 5, thing(base=Tensor(2)), out=Tensor(3), n=4), "ran")
    raised(ValueError, JITFunction().run, Tensor(4), fails=True)
    equal(device.told("operands"), [(1, 2, 3), (), (4,), ()])
