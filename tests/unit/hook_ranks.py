"""The hook: process groups, worlds of which one rank runs, and the ranks that do not."""
import os
import sys
import types
from unittest import mock

from hook_common import environment, equal, load, raised, test, thing


# ---- groups ----


@test
def ranges_of_ranks():
    groups, _ = load("ranks.groups")
    for ranks, text in (([], ""), ([5], "5"), ([0, 1], "0-1"), ([0, 4], "0,4"), ([0, 4, 8], "0-8/4"), ([*range(8)], "0-7"), ([0, 3, 5], "0,3,5"),
                        ([0, 3, 5, 6, 7], "0,3,5-7"), ([1, 9, 17, 25], "1-25/8"), ([3, 2, 1], "3,2,1"), ([0, 1, 8, 9], "0-1,8-9"), ([2, 2], "2,2")):
        equal(groups.ranges(ranks), text)


@test
def groups_are_told_with_ones_own_place():
    groups, device = load("ranks.groups")
    groups._tell("tp", [4, 6], 6)
    groups._tell("tp", [4, 6], 5)
    equal(device.told("group"), [("tp", "4,6", [4, 6], 1), ("tp", "4,6", [4, 6], None)])
    with environment(RANK="0"):
        groups._tell_world(8, 3)
        equal(device.told("config"), [])
    with mock.patch.dict(os.environ):
        os.environ.pop("RANK", None)
        groups._tell_world(8, 3)
    equal(device.told("config"), [("rank", 3), ("world_size", 8)])
    with environment(RANK="0"), mock.patch.object(device, "PROCESS", 1):  # a fork
        groups._tell_world(8, 4)
    equal(device.told("config")[2:], [("rank", 4), ("world_size", 8)])


@test
def the_last_split_is_ones_own():
    groups, device = load("ranks.groups")
    module = types.ModuleType("c10d")
    module.get_rank, module.get_world_size = lambda: 5, lambda: 8
    module.get_process_group_ranks = lambda parent: [1, 3, 5, 7]
    module.split_group = lambda parent=None, splits=None, *_, **__: None
    with mock.patch.object(groups, "_options", lambda group: 0):
        groups._name_split(module)
        module.split_group("parent", [[0, 1], [2, 3]], group_desc="x")
        module.split_group("parent", [[2, 3], [0, 1]])
    equal([(call[0], call[2], call[3]) for call in device.told("group")],
          [("x", [1, 3], None), ("x", [5, 7], 0), ("split", [1, 3], None), ("split", [5, 7], 0)])
    equal(len(device.told("group_made")), 2)


@test
def a_group_that_cannot_be_made_is_over():
    groups, device = load("ranks.groups")
    module = types.ModuleType("c10d")

    def helper(size, place, ranks, backend, store, group_name, **_):
        raise RuntimeError("no group")

    module._new_process_group_helper = helper
    with mock.patch.object(groups, "_options", lambda group: 0):
        groups._name_new(module)
        raised(RuntimeError, module._new_process_group_helper, 2, 1, [4, 6], "nccl", None, "g")
        raised(RuntimeError, module._new_process_group_helper, 3, 2, None, "nccl", None, "g", group_desc="world")
    equal([(call[0], call[2], call[3]) for call in device.told("group")], [("g", [4, 6], 1), ("world", [0, 1, 2], 2)])
    equal(len(device.told("group_made")), 2)


@test
def where_the_watchdog_is_left_out():
    groups, _ = load("ranks.groups")
    for release, new, own, out in (((2, 6), False, None, None), ((2, 7), False, None, "1"), ((2, 15), True, None, None), (None, False, None, None),
                                   ((2, 8), False, "0", None)):
        module = types.ModuleType("c10d")
        if new:
            module.ProcessGroupNCCL2 = object
        with mock.patch.dict(os.environ, {"NCCL_BLOCKING_WAIT": own} if own else {}), mock.patch.object(groups.releases, "running", lambda: release):
            os.environ.pop("TORCH_NCCL_BLOCKING_WAIT", None)
            groups.leave_out_watchdog(module)
            equal(os.environ.get("TORCH_NCCL_BLOCKING_WAIT"), out)


@test
def barriers_are_waited_at():
    groups, device = load("ranks.groups")
    module = types.ModuleType("c10d")
    module.barrier = lambda later=False: "work" if later else None
    groups._wait_at_barriers(module)
    module.barrier()
    equal(len(device.told("barrier")), 1)
    equal(module.barrier(True), "work")  # who waits for it later is not kept
    equal(len(device.told("barrier")), 1)


# ---- worlds ----

WORLD = {"PLIMSOLL_WORLD": "8", "PLIMSOLL_RANK": "5", "PLIMSOLL_STORE": "1234", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4", "RANK": "5"}


@test
def which_ranks_run():
    env, _ = load("ranks.env")
    equal(env._ranks("0-2,5,8-16/4"), {0, 1, 2, 5, 8, 12, 16})
    with environment(**WORLD, PLIMSOLL_LIVE=""):
        equal((env.here(), env.lonely(), env.absent(5), env.absent(4)), (True, True, False, True))
    with environment(**WORLD, PLIMSOLL_LIVE="0-7"):
        equal((env.lonely(), env.absent(7)), (False, False))
    with environment(**WORLD, PLIMSOLL_LIVE="0-6"):
        equal((env.lonely(), env.absent(7)), (True, True))
    with mock.patch.dict(os.environ):
        os.environ.pop("PLIMSOLL_WORLD", None)
        assert not env.here() and not env.lonely()


@test
def a_program_that_says_who_it_is():
    launchers, _ = load("ranks.launchers")
    module = types.ModuleType("c10d")
    module.init_process_group = lambda backend, init_method, timeout, world_size, rank: (world_size, rank)
    launchers.check_rank(module)
    with environment(**WORLD):
        equal(module.init_process_group("nccl"), (-1, -1))
        equal(module.init_process_group("nccl", world_size=8, rank=5), (8, 5))
        equal(raised(SystemExit, module.init_process_group, world_size=4, rank=5),
              "plimsoll: the program sets up a job of 4 ranks, but --world is 8")
        equal(raised(SystemExit, module.init_process_group, world_size=8, rank=4),
              "plimsoll: the program runs as rank 4, but --rank is 5")
        with mock.patch.object(launchers.multiprocessing, "parent_process", lambda: object()):  # one that the program started itself
            equal(raised(SystemExit, module.init_process_group, world_size=8, rank=4), "0")
    with mock.patch.dict(os.environ):
        os.environ.pop("PLIMSOLL_WORLD", None)
        equal(module.init_process_group("nccl", world_size=4, rank=3), (4, 3))


@test
def launchers_become_the_rank():
    launchers, _ = load("ranks.launchers")
    spawn, api = types.ModuleType("spawn"), types.ModuleType("api")
    spawn.spawn = api.launch_agent = lambda *_: "original"
    launchers.call_in_place(spawn)
    launchers.become_rank(api)
    called = []
    with environment(**WORLD):
        equal(spawn.spawn(lambda index, word: called.append((index, word)), ("x",), nprocs=8), None)
        spawn.spawn(lambda index: called.append(index), nprocs=4)
        equal(called, [(5, "x"), 1])  # a process for each rank, or for each of a node
        assert spawn.spawn(lambda index: None, nprocs=4, join=False).join()
        assert "starts 2 processes per node, but a node has 4 GPUs" in raised(SystemExit, spawn.spawn, lambda index: None, nprocs=2)
        equal(api.launch_agent(thing(nproc_per_node=4, max_nodes=2), lambda word: word, ["x"]), {1: "x"})
        equal(api.launch_agent(thing(nproc_per_node=2, max_nodes=4), lambda word: word, ["x"]), {1: "x"})
        raised(SystemExit, api.launch_agent, thing(nproc_per_node=2, max_nodes=3), lambda word: word, ["x"])
        with mock.patch("os.execvp", lambda *words: called.append(words)):
            api.launch_agent(thing(nproc_per_node=4, max_nodes=2), "python", ["a.py", "--rank=${local_rank}"])
        equal(called[-1], ("python", ["python", "a.py", "--rank=1"]))
    with mock.patch.dict(os.environ):
        os.environ.pop("PLIMSOLL_WORLD", None)
        equal((spawn.spawn(None), api.launch_agent(None, None, None)), ("original", "original"))


@test
def deepspeed_becomes_the_rank():
    launchers, _ = load("ranks.launchers")
    module, words = types.ModuleType("runner"), []
    module.main = lambda args: "original"
    launchers.become_rank_of_deepspeed(module)
    with environment(**WORLD), mock.patch("os.execvp", lambda program, all_words: words.append(all_words)):
        for asked in ({}, {"module": True}, {"no_python": True}, {"no_local_rank": True}):
            module.parse_args = lambda args, asked=asked: thing(user_script="a.py", user_args=["--x"], **asked)
            module.main([])
    python = [sys.executable, "-u"]
    equal(words, [[*python, "a.py", "--local_rank=1", "--x"], [*python, "-m", "a.py", "--local_rank=1", "--x"], ["a.py", "--local_rank=1", "--x"],
                  [*python, "a.py", "--x"]])


@test
def stores_lead_to_ours():
    stores, _ = load("ranks.stores")
    made = []

    class TCPStore:
        def __init__(self, *args, **kwargs):
            made.append((args, kwargs))

    client = stores._client_of(TCPStore)
    with environment(**WORLD):
        client("node-7", 29500, 8, True, timeout=60)
        client("node-7", 29500, 8, True, 30)
    equal(made, [(("127.0.0.1", 1234), {"timeout": 60, "is_master": False, "wait_for_workers": False}),
                 (("127.0.0.1", 1234), {"timeout": 30, "is_master": False, "wait_for_workers": False})])
    with mock.patch.dict(os.environ):
        os.environ.pop("PLIMSOLL_WORLD", None)
        client("node-7", 29500, 8, True)
    equal(made[-1], (("node-7", 29500, 8, True), {}))


@test
def who_asked_an_absent_rank():
    env, device = load("ranks.env")

    def from_module(name):
        code = compile("\n\nlacks('broadcast', 3)", f"/some/{name}.py", "exec")
        exec(code, {"__name__": name, "lacks": env.lacks})

    from_module("program")
    equal(device.told("note"), [("absent-peer", "broadcast from rank 3 (program.py:3)")])
    from_module("torch.distributed.tensor.random")  # decides nothing
    equal(len(device.told("note")), 1)
    from_module("torch.distributed.pipelining")  # whoever called that
    assert "hook_ranks.py:" in device.told("note")[1][1]


@test
def large_objects_are_told():
    objects, device = load("ranks.objects")
    module = types.ModuleType("c10d")
    module._object_to_tensor = lambda size, cuda=True: (thing(numel=lambda: size, is_cuda=cuda), None)
    objects.tell_large(module)
    with mock.patch.dict(os.environ):
        os.environ.pop("PLIMSOLL_WORLD", None)
        module._object_to_tensor(1 << 20)
        module._object_to_tensor(2 << 20, cuda=False)
        equal(device.told("note"), [])
        module._object_to_tensor((1 << 20) + 1)
    assert device.told("note")[0][1].startswith("1048577 bytes (hook_ranks.py:")
    with environment(**WORLD, PLIMSOLL_LIVE=""):
        module._object_to_tensor(3 << 20)
    equal(len(device.told("note")), 1)


# ---- peers ----


class Numbers:
    """As much of a tensor on the host as collectives need."""

    def __init__(self, *values, kind="cpu", floats=True):
        self.values, self.device, self.floats = list(values), thing(type=kind), floats

    shape = property(lambda self: (len(self.values),))
    numel = lambda self: len(self.values)
    is_floating_point = lambda self: self.floats
    is_complex = lambda self: False
    flatten = lambda self: self
    view_as = lambda self, other: self

    def mul_(self, factor):
        self.values[:] = [value * factor for value in self.values]
        return self

    def copy_(self, other):
        self.values[:] = other.values
        return self

    def chunk(self, count):
        size = len(self.values) // count
        parts = [Numbers() for _ in range(count)]
        for number, part in enumerate(parts):
            part.values = Slice(self.values, number * size, size)
        return parts


class Slice(list):
    """A part that is written through."""

    def __init__(self, whole, first, size):
        super().__init__(whole[first:first + size])
        self.whole, self.first = whole, first

    def __setitem__(self, key, values):
        super().__setitem__(key, values)
        self.whole[self.first:self.first + len(self)] = self


def peers_of(rank=1, size=4):
    peers, device = load("ranks.peers")
    module = thing(get_world_size=lambda group: size, get_rank=lambda group: rank, ReduceOp=thing(SUM="sum", MAX="max"),
                   get_global_rank=lambda group, place: 10 + place, group=thing(WORLD="world"))
    return peers, peers._Collectives(module), device


@test
def peers_contribute_what_this_rank_does():
    peers, collectives, _ = peers_of()

    def done(name, result, **arguments):
        arguments = {"group": None, "op": "sum", **arguments}
        getattr(collectives, name)(arguments)
        equal(arguments[result].values, arguments["expected"])

    done("all_reduce", "tensor", tensor=Numbers(1, 2), expected=[4, 8])
    done("all_reduce", "tensor", tensor=Numbers(1, 2), op="max", expected=[1, 2])
    done("all_reduce", "tensor", tensor=Numbers(1, 2), op=None, expected=[4, 8])
    done("all_reduce", "tensor", tensor=Numbers(1, 2, kind="cuda"), expected=[1, 2])
    done("reduce", "tensor", tensor=Numbers(3), expected=[12])
    parts = [Numbers(i) for i in range(4)]
    done("reduce_scatter", "output", output=Numbers(0), input_list=parts, expected=[4])
    done("reduce_scatter_tensor", "output", output=Numbers(0), input=Numbers(5, 6, 7, 8), expected=[24])
    done("all_to_all_single", "output", output=Numbers(0, 0, 0, 0), input=Numbers(5, 6, 7, 8), expected=[6, 6, 6, 6])
    done("all_to_all_single", "output", output=Numbers(0, 0, 0, 0), input=Numbers(5, 6, 7, 8), input_split_sizes=[1], expected=[0, 0, 0, 0])
    gathered = [Numbers(0) for _ in range(4)]
    collectives.gather({"tensor": Numbers(9), "gather_list": gathered})
    equal([part.values for part in gathered], [[9]] * 4)
    outputs = [Numbers(0) for _ in range(4)]
    collectives.all_to_all({"input_tensor_list": parts, "output_tensor_list": outputs, "group": None})
    equal([part.values for part in outputs], [[1]] * 4)


@test
def what_only_an_absent_rank_knows():
    peers, collectives, device = peers_of()
    with environment(**WORLD, PLIMSOLL_LIVE="5-6"):
        for src, group_src, tensor, told in ((3, None, Numbers(1), "3"), (5, None, Numbers(1), None), (None, 2, Numbers(1), "12"),
                                             (3, None, Numbers(*[0] * 1024), "3"), (3, None, Numbers(*[0] * 1025), None),
                                             (3, None, Numbers(1, kind="cuda"), None), (3, None, Numbers(1, kind="cuda", floats=False), "3")):
            for name, what in (("broadcast", "broadcast"), ("recv", "receive"), ("scatter", "scatter")):
                device.calls.clear()
                getattr(collectives, name)({"src": src, "group_src": group_src, "group": None, "tensor": tensor, "scatter_list": None})
                notes = [note[1] for note in device.told("note")]
                equal([note.split(" (")[0] for note in notes], [f"{what} from rank {told}"] if told else [])
        device.calls.clear()
        collectives.recv({"src": None, "group": None, "tensor": Numbers(1)})
        assert "from rank any" in device.told("note")[0][1]
        tensor = Numbers(0)
        collectives.scatter({"src": 5, "group": None, "tensor": tensor, "scatter_list": [Numbers(7), Numbers(8)]})
        equal(tensor.values, [8])
