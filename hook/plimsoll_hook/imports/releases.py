"""What the hook, the captures and `measure` use of PyTorch that is not part of its documented interface, or that not
every release has. A row tells since when it is there (as far as it was looked for: nothing before 2.1), until when, and
what is lost without it. What a row does not name is used as PyTorch documents it.

Needs neither torch nor the virtual device to be loaded. As a program it holds the PyTorch of its interpreter against the
table, a line for each row: `as-told`, `lacks` or `has`, what it names, what is lost. tests/groups/releases runs it."""

import importlib
import inspect
import sys
from typing import NamedTuple, Optional, Tuple


class Row(NamedTuple):
    module: str
    name: str  # attribute, or function(parameter)
    without: str
    since: Tuple[int, int] = (2, 1)
    until: Optional[Tuple[int, int]] = None  # None: the newest and later


_FSDP = "torch.distributed.fsdp._fully_shard._fsdp_param_group"

ROWS = (
    # plimsoll_hook
    Row("torch.autograd.graph", "_engine_run_backward", "nothing: before, an engine has it (backward_of)", (2, 3)),
    Row("torch.compiler", "is_compiling", "nothing: before, torch._utils has it (is_compiling_of)", (2, 3)),
    Row("torch.nn.modules.module", "Module.__call__", "modules"),
    Row("torch.nn.modules.module", "register_module_module_registration_hook", "names of modules"),
    Row("torch.optim.optimizer", "register_optimizer_step_pre_hook", "the optimizer as a phase"),
    Row("torch.optim.optimizer", "register_optimizer_step_post_hook", "steps"),
    Row("torch._inductor.runtime.triton_heuristics", "CachingAutotuner.run", "the sizes of kernels of torch.compile", (2, 4)),
    Row("torch._inductor.runtime.triton_heuristics", "CachingAutotuner._precompile_config", "autotuning with one candidate", (2, 4)),
    Row("torch._inductor.runtime.triton_heuristics", "OutOfResources", "autotuning with one candidate", (2, 4)),
    Row("torch._inductor.select_algorithm", "AlgorithmSelectorCache.__call__", "autotuning with one candidate"),
    Row("torch._inductor.select_algorithm", "ExternKernelCaller", "autotuning with one candidate"),
    Row("torch.cuda", "_lazy_init", "--assume keep"),
    Row("torch._C", "_ForceDispatchKeyGuard", "values that follow from the host's data", (2, 2)),
    Row("torch._C", "_dispatch_has_kernel_for_dispatch_key", "values that follow from the host's data"),
    Row("torch._C", "DisableTorchFunction", "values that follow from the host's data"),
    Row("torch.distributions.distribution", "Distribution._validate_sample", "distributions whose arguments depend on weights"),
    Row("torch.library", "Library.impl(allow_override)", "nothing: before, kernels are overridden without it", (2, 9)),
    Row("torch.distributed.distributed_c10d", "_new_process_group_helper", "the ranks of process groups"),
    Row("torch.distributed.distributed_c10d", "ProcessGroupGloo", "gloo of a rank whose peers do not run"),
    Row("torch._C._distributed_c10d", "FakeProcessGroup", "gloo of a rank whose peers do not run", (2, 3)),
    Row("torch.distributed.launcher.api", "launch_agent", "launchers written in Python, of a rank whose peers do not run"),
    Row(_FSDP, "FSDPParamGroup.unshard", "whose the memory of fully_shard is", (2, 6)),
    Row(_FSDP, "FSDPParamGroup.wait_for_unshard", "gathered parameters of fully_shard", (2, 6)),
    Row(_FSDP, "FSDPParamGroup.post_backward", "whose the memory of fully_shard is", (2, 6)),
    Row(_FSDP, "FSDPParamGroup.finalize_backward", "whose the memory of fully_shard is", (2, 6)),
    # plimsoll_capture
    Row("torch._C", "_current_graph_task_id", "what runs in a backward pass of a capture"),
    Row("torch._C", "_storage_Use_Count", "sums of gradients in place, with --no-compute"),
    Row("torch._C", "_VariableFunctions.empty_strided", "--no-compute"),
    Row("torch.utils._device", "_device_constructors", "captures of programs that make tensors on a GPU"),
    Row("torch.utils._device", "DeviceContext", "captures of programs that set a default device"),
    Row("torch.utils._python_dispatch", "TorchDispatchMode", "--no-compute, storage of a description"),
    # plimsoll_measure
    Row("torch._C", "_cuda_init", "measure"),
    Row("torch._C", "_cuda_resetPeakMemoryStats", "peaks before a program resets them"),
    Row("torch._C", "_accelerator_resetPeakStats", "peaks before a program resets them", (2, 9)),
)


def running():
    """The release of the PyTorch that is loaded, (2, 15); None if that is not known yet."""
    version = getattr(sys.modules.get("torch.version"), "__version__", "")
    try:
        major, minor = version.split(".")[:2]
        return int(major), int(minor)
    except ValueError:
        return None


def takes(function, parameter):
    """Whether a function has a parameter of that name."""
    return parameter in inspect.signature(function).parameters


def backward_of(graph):
    """Where the function lies that runs a backward pass, and its name. Before torch.autograd.graph had it, it was a method
    of an engine, which a subclass lets us replace."""
    if hasattr(graph, "_engine_run_backward"):
        return graph, "_engine_run_backward"
    variable = importlib.import_module("torch.autograd.variable").Variable
    if not hasattr(variable._execution_engine, "__dict__"):
        variable._execution_engine = type("Engine", (type(variable._execution_engine),), {})()
    return variable._execution_engine, "run_backward"


def is_compiling_of(compiler):
    """The function that torch.compile knows to be true while it traces."""
    return getattr(compiler, "is_compiling", None) or importlib.import_module("torch._utils").is_compiling


def _has(module, name):
    path, _, parameter = name.rstrip(")").partition("(")
    for part in path.split("."):
        module = getattr(module, part, None)
    return module is not None and (not parameter or takes(module, parameter))


def _expected(row, release):
    return release is None or (row.since <= release and (row.until is None or release <= row.until))


def check(module):
    """Raises an AttributeError that names what this module lacks and should have."""
    lacking = [row.name for row in ROWS
               if row.module == module.__name__ and _expected(row, running()) and not _has(module, row.name)]
    if lacking:
        raise AttributeError("no " + ", ".join(lacking))


def compare():
    """(how the PyTorch that is there compares, row) of each row."""
    importlib.import_module("torch")
    for row in ROWS:
        try:
            there = _has(importlib.import_module(row.module), row.name)
        except ImportError:
            there = False
        yield "as-told" if there == _expected(row, running()) else "has" if there else "lacks", row


if __name__ == "__main__":
    for what, row in compare():
        print(f"{what}\t{row.module}.{row.name}\t{row.without}")
