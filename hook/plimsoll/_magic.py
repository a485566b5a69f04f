"""%%plimsoll: the code of a notebook's cell as a script under plimsoll. `%load_ext plimsoll` registers it."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Optional

import plimsoll


def _start(words: list[str]) -> int:
    """Runs it with its output shown here as it comes; its exit status."""
    path = os.pathsep.join(filter(None, [os.getcwd(), os.environ.get("PYTHONPATH")]))  # a cell imports what lies beside the notebook
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", env={**os.environ, "PYTHONPATH": path}) as child:
        assert child.stdout is not None
        for line in child.stdout:
            sys.stdout.write(line)
    return child.returncode


def cell(line: str, code: str) -> Optional[plimsoll.Report]:
    """%%plimsoll [options of `plimsoll run`]: runs the cell as a script of its own and shows its report.

    The cell sees no variable of the notebook. The report is the cell's value (`_`): it answers further questions.
    """
    parser = argparse.ArgumentParser(prog="%%plimsoll", add_help=False, allow_abbrev=False)
    parser.add_argument("-o", "--output")
    known, options = parser.parse_known_args(shlex.split(line))
    folder = tempfile.TemporaryDirectory(prefix="plimsoll-")
    script = Path(folder.name, "cell.py")
    script.write_text(code, encoding="utf-8")
    record = known.output or str(Path(folder.name, "job.plm"))
    _start([plimsoll.program(), "run", *options, "--output", record, "--", sys.executable, str(script)])
    # What the program said of a failure was shown; a job that does not fit has a record too.
    return plimsoll.Report(plimsoll.load(record), record, folder) if os.path.exists(record) else None


def register(shell: Any) -> None:
    shell.register_magic_function(cell, "cell", "plimsoll")
