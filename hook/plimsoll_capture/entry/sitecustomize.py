"""How plimsoll enters an interpreter on the CPU: Python imports this file when it starts, because its folder is in PYTHONPATH.
A sitecustomize of the user's, which this one hides, is run as well."""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _enter():
    path = os.path.join(os.path.dirname(_HERE), "__init__.py")
    spec = importlib.util.spec_from_file_location("plimsoll_capture", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["plimsoll_capture"] = module
    spec.loader.exec_module(module)


def _chain():
    folders = [folder for folder in sys.path if os.path.abspath(folder or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", folders)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if os.environ.get("PLIMSOLL_CAPTURE"):
    try:
        _enter()
    except Exception as error:
        sys.stderr.write(f"plimsoll: the hook could not be loaded: {error}\n")
_chain()
