"""How plimsoll enters an interpreter without a virtual device: Python imports this file when it starts, because its folder is in PYTHONPATH.
A sitecustomize of the user's, which this one hides, is run as well."""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


# What plimsoll sets when it wants one of its packages in the interpreter.
_PACKAGES = {"PLIMSOLL_CAPTURE": "plimsoll_capture", "PLIMSOLL_MEASURE": "plimsoll_measure"}


def _enter(package):
    path = os.path.join(os.path.dirname(os.path.dirname(_HERE)), package, "__init__.py")
    spec = importlib.util.spec_from_file_location(package, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[package] = module
    spec.loader.exec_module(module)


def _chain():
    folders = [folder for folder in sys.path if os.path.abspath(folder or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", folders)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


for _variable, _package in _PACKAGES.items():
    if os.environ.get(_variable):
        try:
            _enter(_package)
        except Exception as error:
            sys.stderr.write(f"plimsoll: the hook could not be loaded: {error}\n")
_chain()
