"""A Python that has imported what the job is going to import, and becomes one of its processes with each fork.

    python [options] plimsoll_server SCRIPT ARGUMENTS...        or  -m MODULE ARGUMENTS...

src/cli/server.c starts it in place of `python [options] SCRIPT ARGUMENTS...` and asks over the socket PLIMSOLL_SERVER, a line for each
process: where its output goes (nothing: where ours does), then NAME=VALUE for its environment, with 1F between them, and if it has other
words than ours, each of them after 1E. The answer is its number; or 0 and a reason if no fork can be like a fresh start. The process runs the script as Python would have: it is a child of
plimsoll, which waits for it.
"""

import ast
import builtins
import ctypes
import io
import os
import signal
import socket
import sys
import time
import types

# Packages whose import has no effect that a fork would not repeat. Others are imported by the script itself.
_AHEAD = {"torch", "torchvision", "numpy", "transformers", "accelerate", "lightning", "pytorch_lightning", "deepspeed", "megatron"}
_PR_SET_PDEATHSIG = 1


def _imports(path):
    """The import statements at the top of the script that name such packages; also those of a module that is not found."""
    try:
        with io.open_code(path) as file:
            body = ast.parse(file.read()).body
    except (OSError, SyntaxError, ValueError):
        return
    for node in body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
        if names and all(name.split(".")[0] in _AHEAD for name in names):
            yield ast.Module([node], [])


def _import_ahead(path):
    try:
        import torch.distributed  # noqa: F401
    except Exception:
        return  # _cannot() tells

    for statement in _imports(path):
        try:
            exec(compile(statement, path, "exec"), {"__name__": "plimsoll_ahead"})
        except Exception:
            pass  # the script will see it


def _cannot():
    """Why a fork would not be like a fresh start; None: it would."""
    torch = sys.modules.get("torch")
    if torch is None:
        return "torch was not imported"
    return "an import initialized CUDA" if torch.cuda.is_initialized() else None


def _orphan(middle):
    """The process between plimsoll and this one has ended, so plimsoll is the parent: its end is ours."""
    while os.getppid() == middle:
        time.sleep(0.001)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _fork():
    """0 in the new process, else its number. A fork of a fork, which the system gives to plimsoll."""
    reading, writing = os.pipe()
    middle = os.fork()
    if middle:
        os.close(writing)
        with os.fdopen(reading) as file:
            number = int(file.read() or 0)
        os.waitpid(middle, 0)
        return number
    os.close(reading)
    middle = os.getpid()
    number = os.fork()
    if number:
        os.write(writing, str(number).encode())
        os._exit(0)
    os.close(writing)
    _orphan(middle)
    return 0


def _prepare(log, environment):
    for setting in environment:
        name, _, value = setting.partition("=")
        os.environ[name] = value
    if log:
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(file, 1)
        os.dup2(file, 2)
        for copied in {null, file} - {0, 1, 2}:
            os.close(copied)
    hook = sys.modules.get("plimsoll_hook")
    if hook is not None:
        hook.announce()


def _serve(connection):
    """Returns in each process that is to be one of the job's, with its words; ends with the last question."""
    questions = connection.makefile("r", encoding="utf-8", errors="surrogateescape")
    for question in questions:
        settings, *words = question.rstrip("\n").split("\x1e")
        log, *environment = settings.split("\x1f")
        reason = _cannot()
        number = 0 if reason else _fork()
        if not number and not reason:
            questions.close()
            connection.close()
            _prepare(log, environment)
            return words or _words
        connection.sendall(f"{number} {reason or ''}\n".encode())
    os._exit(0)


def _become(words):
    """Runs what Python would have run with these words."""
    server = sys.modules["__main__"]  # goes on living: its functions are on the stack
    if words[0] == "-m":
        import runpy

        sys.argv = words[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        return server
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=words[0], __builtins__=builtins, __cached__=None)
    sys.modules["__main__"], sys.argv = main, list(words)
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.realpath(words[0]))
    with io.open_code(words[0]) as file:
        code = compile(file.read(), words[0], "exec", dont_inherit=True)
    exec(code, main.__dict__)
    return server


_words = sys.argv[1:]
_import_ahead(_words[0])
_become(_serve(socket.socket(fileno=int(os.environ.pop("PLIMSOLL_SERVER")))))
