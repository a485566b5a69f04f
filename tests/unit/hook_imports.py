"""The hook: what happens after an import, releases of PyTorch, and the device library."""
import ctypes
import importlib
import importlib.machinery
import importlib.util
import os
import re
import sys
import types
from unittest import mock

from hook_common import HOOK, SHARED, equal, load, raised, test, thing


# ---- imports, releases ----


@test
def functions_are_called_once_after_an_import():
    after_import, _ = load("imports.after_import")
    called, failed = [], []

    def fails(module):
        raise ValueError("no")

    sys.modules["plimsoll_test_there"] = types.ModuleType("plimsoll_test_there")

    class Files:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "plimsoll_test_later":
                return importlib.machinery.ModuleSpec(name, thing(create_module=lambda spec: None, exec_module=lambda module: called.append("import")))

    wanted = {"plimsoll_test_there": [lambda module: called.append("there")],
              "plimsoll_test_later": [fails, lambda module: called.append(module.__name__)]}
    watcher = after_import.Watcher(wanted, lambda name, error: failed.append((name, str(error))), lambda name: called.append("begins"))
    with mock.patch.object(sys, "meta_path", [*sys.meta_path, Files]):
        watcher.install()
        equal(called, ["there"])
        importlib.import_module("plimsoll_test_later")
        equal(called, ["there", "begins", "import", "plimsoll_test_later"])
        del sys.modules["plimsoll_test_later"]
        importlib.import_module("plimsoll_test_later")
    equal(called[4:], ["import"])
    equal(failed, [("plimsoll_test_later", "no")])
    equal(wanted, {})
    for name in ("plimsoll_test_there", "plimsoll_test_later"):
        del sys.modules[name]


@test
def what_a_release_should_have():
    releases, _ = load("imports.releases")
    since = releases.Row("m", "name", "", (2, 4), (2, 6))
    equal([release for release in ((2, 3), (2, 4), (2, 5), (2, 6), (2, 7)) if releases._expected(since, release)], [(2, 4), (2, 5), (2, 6)])
    assert releases._expected(since, None) and releases._expected(releases.Row("m", "name", ""), (3, 0))
    module = types.ModuleType("m")
    module.Class = thing(method=lambda self, wanted: None)
    assert releases._has(module, "Class.method(wanted)") and not releases._has(module, "Class.method(other)")
    assert releases._has(module, "Class.method") and not releases._has(module, "Class.other") and not releases._has(module, "Other.method")
    for text, release in (("2.15.0+cu132", (2, 15)), ("2.6.0a0+git", (2, 6)), ("", None), ("main", None)):
        with mock.patch.dict(sys.modules, {"torch.version": thing(__version__=text)}):
            equal(releases.running(), release)
    with mock.patch.object(releases, "ROWS", (since, releases.Row("m", "gone", ""), releases.Row("other", "gone", ""))), \
            mock.patch.dict(sys.modules, {"torch.version": thing(__version__="2.4.0")}):
        equal(raised(AttributeError, releases.check, module), "no name, gone")


@test
def the_compiler_comes_when_it_is_used():
    defer_dynamo, _ = load("imports.defer_dynamo")
    loads = []

    def module():
        made = types.ModuleType("torch._dynamo")
        made.__spec__ = importlib.machinery.ModuleSpec("torch._dynamo", None)

        def execute(module):
            loads.append(module)
            if fails:
                raise ImportError("broken")
            module.config = "config"

        defer_dynamo._Loader(thing(exec_module=execute)).exec_module(made)
        return made

    fails = False
    dynamo = module()
    assert not hasattr(dynamo, "__path__") and dynamo.graph_break() is None and not loads
    equal(dynamo.config, "config")
    equal((loads, type(dynamo)), ([dynamo], types.ModuleType))
    assert not hasattr(dynamo, "other") and len(loads) == 1
    fails = True
    dynamo = module()
    for times in (2, 3):  # whoever fails to import it, fails again
        equal(raised(ImportError, getattr, dynamo, "_private"), "broken")
        equal(len(loads), times)
    assert dynamo.graph_break() is None


@test
def what_came_with_the_compiler_stays_itself():
    """Whoever asks the finder for a submodule that is there gets that one, with the spec that it had, as importlib would give it."""
    defer_dynamo, _ = load("imports.defer_dynamo")
    module = types.ModuleType("torch._dynamo.config")
    module.__spec__ = spec = importlib.machinery.ModuleSpec(module.__name__, None)
    loader = defer_dynamo._Present(module)
    again = importlib.util.module_from_spec(importlib.machinery.ModuleSpec(module.__name__, loader))
    assert again is module and module.__spec__ is not spec
    loader.exec_module(module)
    assert module.__spec__ is spec


# ---- the device library ----


@test
def constants_are_the_devices():
    """The hook names what src/device/shared.def has, and nothing else; every row is somebody's."""
    named = set()
    for file in HOOK.rglob("*.py"):
        text = file.read_text()
        named.update(re.findall(r"\bdevice\.([A-Z][A-Z_]+)\b", text))
        for names in re.findall(r"from \.\.device import \(?([\w,\s]+)", text):
            named.update(re.findall(r"\b[A-Z][A-Z_]+\b", names))
    text = (HOOK / "device.py").read_text()
    own = set(re.findall(r"(?m)^([A-Z][A-Z_]+) =", text))
    equal(named - own - set(SHARED), set())
    equal({name for name in SHARED if name not in named and not re.search(rf"\b{name}\b", text)}, set())


@test
def notes_are_told_once():
    load()
    library = mock.MagicMock()
    functions = mock.MagicMock(return_value=[lambda *_: None] * 8)
    library.plm_hook_functions = functions
    library.plm_hook_constants.return_value = (("NOT_A_MEMBER", 0xFFFFFFFF), ("SAMPLE_DIMENSIONS", 6), ("torch.bool", 11))
    with mock.patch.object(ctypes, "CDLL", lambda _: library), mock.patch.object(ctypes, "PyDLL", lambda _: library):
        del sys.modules["plimsoll_hook.device"]
        device = importlib.import_module("plimsoll_hook.device")
    equal((device.SCALAR_TYPES, ctypes.sizeof(device.Sample)), ({"bool": 11}, 64))
    for kind, value in (("a", ""), ("a", ""), ("a", "x"), ("b", "x"), ("a", "x")):
        device.note(kind, value)
    equal([call.args for call in library.plm_hook_note.call_args_list], [(b"a", b""), (b"a", b"x"), (b"b", b"x")])
    device.record("/some/record.plm")  # a fork: its record has none of them
    device.note("a", "x")
    equal(library.plm_hook_note.call_count, 4)
    library.plm_hook_record.assert_called_once_with(b"/some/record.plm")
    device.group("g", "0-1", [0, 1], None)
    equal(library.plm_hook_group.call_args.args[4].value, 0xFFFFFFFF)
    device.group("g", "0-1", [0, 1], 1)
    equal([*library.plm_hook_group.call_args.args[2]], [0, 1])
    equal(library.plm_hook_group.call_args.args[4].value, 1)


# ---- the package ----


@test
def a_fork_writes_the_record_that_its_environment_names():
    """At the start the record is the one that the device has opened. A child of another job is told so once; one whose environment has
    none keeps its own. Each time the place in the job is told, as far as there is one."""
    parts = "fills layout imports imports.after_import imports.defer_dynamo imports.releases job job.ending job.steps job.tracebacks " \
            "memory memory.attribution memory.shards values values.checks values.compute values.keep".split()
    device, = load()
    stubs = {f"plimsoll_hook.{part}": mock.MagicMock() for part in parts}
    for name, stub in stubs.items():
        setattr(stubs.get(name.rpartition(".")[0], sys.modules["plimsoll_hook"]), name.rpartition(".")[2], stub)
    spec = importlib.util.spec_from_file_location("plimsoll_hook", HOOK / "__init__.py", submodule_search_locations=[str(HOOK)])
    package = importlib.util.module_from_spec(spec)
    package.device = device
    names = ("PLIMSOLL_RECORD", "RANK", "WORLD_SIZE", "LOCAL_RANK")
    clean = {name: value for name, value in os.environ.items() if name not in names}
    with mock.patch.dict(sys.modules, {**stubs, "plimsoll_hook": package}), mock.patch.dict(os.environ, clean, clear=True):
        os.environ.update(PLIMSOLL_RECORD="/a.plm", RANK="3", LOCAL_RANK="1")
        spec.loader.exec_module(package)
        equal((device.told("start"), device.told("record")), ([()], []))
        equal(device.told("config"), [("python", sys.version.split()[0]), ("rank", "3"), ("local_rank", "1")])
        for record, told in (("/a.plm", []), ("/b.plm", [("/b.plm",)]), ("/b.plm", []), ("", []), (None, []), ("/b.plm", []),
                             ("/a.plm", [("/a.plm",)])):
            device.calls.clear()
            os.environ.pop("PLIMSOLL_RECORD", None)
            os.environ.update({} if record is None else {"PLIMSOLL_RECORD": record})
            package.announce()
            equal((record, device.told("record")), (record, told))
            equal(len(device.told("config")), 3)
