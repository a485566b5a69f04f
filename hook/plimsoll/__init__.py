"""How much GPU memory a PyTorch training needs, told without a GPU.

    import plimsoll

    report = plimsoll.run(["python", "train.py"], gpu="rtx4090")
    report = plimsoll.load("job.plm")
    report = plimsoll.estimate(model, sample, optimizer="AdamW")
    print(report, report.peak, report.fits("t4"), report.step_ms("a100-80gb"))
    print(report["devices"][0]["peak"]["device_used"])

    found = plimsoll.sweep(["python", "train.py", "--batch", "{batch}"], batch=[8, 16], gpu="rtx4090")
    largest = plimsoll.largest_batch(["python", "train.py", "--batch", "{batch}"], "rtx4090")

The first three return a Report: what `plimsoll report --json` prints, as a dictionary (docs/schema/report-1.json; sizes are bytes),
that answers further questions. The program does the work, in processes of its own; nothing of it is loaded into this
one. docs/python.md tells more.
"""

from __future__ import annotations

import html
import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any, Container, Dict, Iterable, Optional, Sequence, Union

__all__ = ["Error", "Report", "estimate", "largest_batch", "load", "load_ipython_extension", "program", "run", "sweep"]

DISTRIBUTION = "plimsoll-gpu"  # its name for pip; "plimsoll" is another project there

PathName = Union[str, "os.PathLike[str]"]
Option = Union[PathName, int, None]
Values = Union[str, int, Iterable[Union[str, int, float]]]


class Error(Exception):
    """The program ended with another status than 0. As text, this is the sentence that it gave as the reason.

    status: its exit status (EXIT STATUS in `man plimsoll-run`): 1 the job does not fit, 3 the command failed, 5 it is tight, ...
    stderr: all that it and the command wrote to stderr, such as the command's traceback.
    report: what could be told all the same, or None.
    said: whether the sentence is the program's own.
    """

    said = True

    def __init__(self, sentence: str, status: int, stderr: str = "", report: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.stderr = stderr
        self.report = report


def program() -> str:
    """Path of the program: the one that was installed with this package, else the first on the PATH."""
    try:
        files = metadata.files(DISTRIBUTION) or []
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


def _call(words: Sequence[str], stdout: int = subprocess.PIPE, fine: Container[int] = (0,)) -> str:
    """What the program writes to stdout. Raises Error with its last sentence if it fails."""
    done = subprocess.run([program(), *words], stdout=stdout, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode not in fine:
        mark = "plimsoll: "
        said = [line[len(mark):] for line in done.stderr.splitlines() if line.startswith(mark)]
        sentence = said[-1] if said else f"the program ended with status {done.returncode}"
        error = Error(sentence, done.returncode, done.stderr)
        error.said = bool(said)
        raise error
    return done.stdout or ""


class Report(Dict[str, Any]):
    """What `plimsoll report --json` prints, and the job record that it is of, for further questions.

    As text it is the answer in a line; in a notebook, the page.
    """

    def __init__(self, document: Dict[str, Any], record: PathName, folder: Any = None) -> None:
        super().__init__(document)
        self.record = os.path.abspath(record)
        self._folder = folder  # of a record that nobody named: it goes with the last Report of it

    def __repr__(self) -> str:
        return f"<plimsoll: {self['answer']['text'] if 'answer' in self else 'no GPU activity'}>"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        with tempfile.TemporaryDirectory(prefix="plimsoll-") as folder:
            path = Path(folder, "page.html")
            _call(["report", "--html", str(path), "--", self.record])
            page = path.read_text(encoding="utf-8")
        return f'<iframe srcdoc="{html.escape(page)}" style="width: 100%; height: 700px; border: 0"></iframe>'

    def _ask(self, command: str, *words: str, **options: Option) -> Dict[str, Any]:
        """The document of another sub-command. That the job does not fit, or grew, is an answer."""
        document: Dict[str, Any] = json.loads(
            _call([command, "--json", *_words(options), *words, self.record], fine=(0, 1, 4, 5)))
        return document

    @property
    def peak(self) -> int:
        """Bytes of the card that the job uses at its peak, on the device that needs most."""
        return max((device["peak"]["device_used"] for device in self["devices"]), default=0)

    def fit(self, **options: Option) -> Dict[str, Any]:
        """`plimsoll fit`: gpu="rtx4090,t4", margin="1GiB" (docs/schema/fit-1.json)."""
        return self._ask("fit", **options)

    def fits(self, gpu: str, *, allow_tight: bool = False, **options: Option) -> bool:
        """Whether the job fits on a card; only with cache flushes is not, unless `allow_tight`."""
        (row,) = self.fit(gpu=gpu, **options)["fits"]
        if row["verdict"] == "unknown":
            raise Error(f"cannot tell whether the job fits on {gpu}: {self['job'].get('why', 'unknown')}", 6)
        return row["verdict"] == "fits" or (allow_tight and row["verdict"] == "tight")

    def time(self, **options: Option) -> Dict[str, Any]:
        """`plimsoll time`: gpu="rtx4090,t4", price="t4=0.35" (docs/schema/time-1.json)."""
        return self._ask("time", **options)

    def step_ms(self, gpu: Optional[str] = None) -> float:
        """Modelled milliseconds of a step on a card; without one, on that of the run."""
        step: float = self.time(gpu=gpu)["cards"][0]["step"]
        return step * 1000

    def tune(self, **options: Option) -> Dict[str, Any]:
        """`plimsoll tune`: what settings of PyTorch's allocator would reserve."""
        return self._ask("tune", **options)

    def diff(self, before: Union["Report", PathName], **options: Option) -> Dict[str, Any]:
        """`plimsoll diff`: what changed from another report, or record, to this one."""
        return self._ask("diff", os.path.abspath(before.record if isinstance(before, Report) else before), **options)

    def check(self, max: Optional[str] = None, **options: Option) -> Dict[str, Any]:
        """`plimsoll check`: max="22GiB", or against="base.plm", max_growth="5%"; the verdict is in `verdict`."""
        verdict: Dict[str, Any] = self._ask("check", max=max, **options)["check"]
        return verdict

    def to_dict(self) -> Dict[str, Any]:
        """The document alone."""
        return dict(self)


def _command(command: Sequence[PathName]) -> list[str]:
    if isinstance(command, str):
        raise TypeError('the command is a list of words, such as ["python", "train.py"]')
    return [os.fspath(word) for word in command]


def load(record: PathName, **options: Option) -> Report:
    """The report of a job record, as `plimsoll report --json` gives it; gpu="rtx4090,t4" names cards to judge."""
    return Report(json.loads(_call(["report", "--json", *_words(options), "--", os.fspath(record)])), record)


def run(command: Sequence[PathName], *, output: Optional[PathName] = None, **options: Option) -> Report:
    """Runs a command on the virtual GPU and returns its report.

    Options are those of `plimsoll run`: gpu="rtx4090", steps=5, until_exit=True, bounded=True. `output` keeps the job
    record there; else it lasts as long as the report. What the command prints is not shown. If it fails, Error has
    what it wrote to stderr, and the report.
    """
    words = _command(command)
    folder = tempfile.TemporaryDirectory(prefix="plimsoll-")
    record = os.fspath(output) if output is not None else os.path.join(folder.name, "job.plm")
    document = Path(folder.name, "report.json")  # a run that failed leaves no record
    try:
        _call(["run", f"--json={document}", *_words(options), "--output", record, "--", *words], subprocess.DEVNULL)
    except Error as error:
        # With another status there is no answer.
        if error.status in (1, 3, 4, 5) and document.exists():
            error.report = json.loads(document.read_bytes())
            if error.status in (1, 5) and not error.said and "answer" in error.report:
                error.args = (error.report["answer"]["text"],)
        folder.cleanup()
        raise
    return Report(load(record), record, folder)


def _parameter(name: str, values: Values) -> str:
    """batch=[8, 16] is -P batch=8,16; a string is taken as -P takes it: "8..512"."""
    each = [str(values)] if isinstance(values, (str, int)) else [str(value) for value in values]
    if len(each) > 1 and any("," in value for value in each):
        raise ValueError(f"a value of {name} has a comma, which separates values")
    return f"--parameter={name}=" + ",".join(each)


def sweep(command: Sequence[PathName], *, parameters: Optional[Dict[str, Values]] = None, **options: Any) -> Dict[str, Any]:
    """Runs a command once for each value and returns what `plimsoll sweep --json` prints (docs/schema/sweep-1.json).

        found = plimsoll.sweep(["python", "train.py", "--batch", "{batch}"], batch=[8, 16, 32], gpu="rtx3060,l4")
        found["runs"][0]["cards"][0]["verdict"], found["growth"]["each"]

    A keyword whose name stands in the command as {name}, or whose value is a list, is a parameter: a list of values, or
    "8..512" for a range. `parameters` has those that are no names: {"env:OMP_NUM_THREADS": [1, 2],
    "train.yaml:trainer.batch_size": "8..64"}. All else are options of `plimsoll sweep`: largest="batch", margin="5%",
    jobs=2. A value that fails has the reason in its run; that none fits is an answer.
    """
    words = _command(command)
    named = [name for name, value in options.items()
             if any("{" + name + "}" in word for word in words) or not isinstance(value, (str, int, os.PathLike, type(None)))]
    varied = {**{name: options.pop(name) for name in named}, **(parameters or {})}
    varying = [_parameter(name, values) for name, values in varied.items()]
    document: Dict[str, Any] = json.loads(_call(["sweep", "--json", *varying, *_words(options), "--", *words], fine=(0, 1)))
    return document


def largest_batch(command: Sequence[PathName], gpu: str, batch: Values = "1..4096", **options: Any) -> int:
    """The largest value of {batch} in the command with which it fits on a card; 0 if none of the range does.

        plimsoll.largest_batch(["python", "train.py", "--batch", "{batch}"], "rtx3060")

    Values are run until one fits and the next one does not, or 12 were (`runs`); then it is the largest of those that fit.
    Options are those of sweep(), which finds it for several cards at once: sweep(..., largest="batch")["largest"].
    """
    if gpu == "all" or "," in gpu:
        raise ValueError('largest_batch is of one card; sweep(..., largest="batch") tells several')
    parameters = {"batch": batch, **options.pop("parameters", {})}
    found = sweep(command, parameters=parameters, gpu=gpu, largest="batch", **options)
    return int(found["largest"][0].get("fits", 0))


def estimate(target: Any, sample: Any = (), *, optimizer: Any = None, loss: Any = None, python: Optional[PathName] = None,
             output: Optional[PathName] = None, **options: Option) -> Report:
    """The report of a model, or of a function, called with a sample on the virtual GPU.

        plimsoll.estimate(model, torch.zeros(32, 3, 224, 224), optimizer="AdamW").fits("rtx4090")

    With an optimizer (one of this model's parameters, a class, a function of parameters, or a name in torch.optim) a model
    is trained: forward, backward from loss(output), else from the loss in the output, else from its sum, and a step.
    Without one it is called under no_grad. A function is called as it is. A tuple as the sample is several arguments, a
    dictionary named ones. Neither model nor sample is changed. `python` is the interpreter that runs it, this one if not
    told; other options are those of run().
    """
    from plimsoll import _step

    if os.environ.get(_step.NESTED):
        raise Error(f'call plimsoll.estimate under `if __name__ == "__main__":` in {os.environ[_step.NESTED]}, which the run '
                    "imports for what it defines", 2)
    if optimizer is not None and not hasattr(target, "parameters"):
        raise Error("an optimizer is for a model; a function makes its own steps", 2)
    job = {"target": target, "sample": sample, "optimizer": optimizer, "loss": loss}
    if optimizer is None and options.get("steps") is None:
        options.setdefault("until_exit", True)  # no step of an optimizer would end it
    with tempfile.TemporaryDirectory(prefix="plimsoll-") as folder:
        path = Path(folder, "job.pickle")
        try:
            path.write_bytes(_step.dumps(job))
        except _step.NotSendable as error:
            raise Error(str(error), 2) from error.__cause__
        return run([python or sys.executable, _step.__file__, path], output=output, **options)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext plimsoll` in a notebook: %%plimsoll runs a cell as a script and shows its report."""
    from plimsoll import _magic

    _magic.register(shell)
