"""Files of plimsoll_hook that need no virtual device. Its package does, so they are loaded on their own."""

import importlib.util
import os
import sys

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "plimsoll_hook")


def _load(package, name):
    spec = importlib.util.spec_from_file_location(f"plimsoll_capture.{name}", os.path.join(_FOLDER, package, f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


ending = _load("job", "ending")
selections = _load("values", "selections")
tracebacks = _load("job", "tracebacks")
after_import = _load("imports", "after_import")
