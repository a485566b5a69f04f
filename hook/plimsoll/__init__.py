"""How much GPU memory a PyTorch training needs, told without a GPU.

    import plimsoll

    report = plimsoll.run(["python", "train.py"], gpu="rtx4090")
    report = plimsoll.load("job.plm")
    print(report["devices"][0]["peak"]["device_used"])

Both return what `plimsoll report --json` prints (docs/schema/report-1.json; sizes are bytes). The program does the
work, in processes of its own; nothing of it is loaded into this one. docs/python.md tells more.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any, Dict, Optional, Sequence, Union

__all__ = ["Error", "load", "program", "run"]

PathName = Union[str, "os.PathLike[str]"]
Option = Union[PathName, int, None]


class Error(Exception):
    """The program ended with another status than 0. As text, this is the sentence that it gave as the reason.

    status: its exit status (EXIT STATUS in `man plimsoll-run`): 1 the job does not fit, 3 the command failed, 5 it is tight, ...
    stderr: all that it and the command wrote to stderr, such as the command's traceback.
    report: what could be told all the same, or None.
    """

    def __init__(self, sentence: str, status: int, stderr: str = "", report: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.stderr = stderr
        self.report = report


def program() -> str:
    """Path of the program: the one that was installed with this package, else the first on the PATH."""
    try:
        files = metadata.files("plimsoll") or []
    except metadata.PackageNotFoundError:
        files = []
    places = [Path(str(file.locate())) for file in files if file.name == "plimsoll" and file.parent.name == "bin"]
    places.append(Path(__file__).resolve().parent.parent / "bin" / "plimsoll")  # pip install --target
    for place in places:
        if os.access(place, os.X_OK):
            return str(place.resolve())
    found = shutil.which("plimsoll")
    if not found:
        raise Error("the program plimsoll is not installed here and is not on the PATH", 127)
    return found


def _words(options: Dict[str, Option]) -> list[str]:
    """max_size=4 is --max-size=4, force=True is --force; False and None are left out."""
    words = []
    for name, value in options.items():
        if value is not None and value is not False:
            text = "" if value is True else "=" + (os.fspath(value) if isinstance(value, os.PathLike) else str(value))
            words.append("--" + name.replace("_", "-") + text)
    return words


def _call(words: Sequence[str], stdout: int = subprocess.PIPE) -> str:
    """What the program writes to stdout. Raises Error with its last sentence if it fails."""
    done = subprocess.run([program(), *words], stdout=stdout, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode:
        mark = "plimsoll: "
        said = [line[len(mark):] for line in done.stderr.splitlines() if line.startswith(mark)]
        sentence = said[-1] if said else f"the program ended with status {done.returncode}"
        raise Error(sentence, done.returncode, done.stderr)
    return done.stdout or ""


def load(record: PathName, **options: Option) -> Dict[str, Any]:
    """The report of a job record, as `plimsoll report --json` gives it; gpu="rtx4090,t4" names cards to judge."""
    document: Dict[str, Any] = json.loads(_call(["report", "--json", *_words(options), "--", os.fspath(record)]))
    return document


def run(command: Sequence[PathName], *, output: Optional[PathName] = None, **options: Option) -> Dict[str, Any]:
    """Runs a command on the virtual GPU and returns its report.

    Options are those of `plimsoll run`: gpu="rtx4090", steps=5, until_exit=True, bounded=True. `output` keeps the job
    record there. What the command prints is not shown. If it fails, Error has what it wrote to stderr, and the report.
    """
    if isinstance(command, str):
        raise TypeError('the command is a list of words, such as ["python", "train.py"]')
    words = [os.fspath(word) for word in command]
    with tempfile.TemporaryDirectory(prefix="plimsoll-") as folder:
        record = os.fspath(output) if output is not None else os.path.join(folder, "job.plm")
        report = os.path.join(folder, "report.json")  # a run that failed leaves no record
        try:
            _call(["run", f"--json={report}", *_words(options), "--output", record, "--", *words], subprocess.DEVNULL)
        except Error as error:
            # With another status there is no answer.
            if error.status in (1, 3, 4, 5) and os.path.exists(report):
                error.report = json.loads(Path(report).read_bytes())
            raise
        return load(record)
