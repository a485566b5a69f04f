#!/usr/bin/env python3
"""How far the peak of Megatron-LM's test cases is from what they measured (docs/accuracy.md, "Distributed").

    bench/megatron.py TRUTH.csv --megatron FOLDER [--megatron FOLDER ...] --python PYTHON [-k TEXT] [-o FOLDER]

TRUTH.csv has the columns case, platform, mem_max_allocated_bytes, environment (NAME=VALUE ...) and arguments. FOLDER
is a checkout of Megatron-LM in which `make` was run in megatron/core/datasets; PYTHON has PyTorch and what Megatron-LM
imports. Neither is part of plimsoll.

Megatron-LM keeps its figures beside its tests, so its history says when each was measured. Of several checkouts the
newest is run that is not younger than the figure, as what Megatron-LM allocates has changed; options that it does not
know yet are left out.

A case is run once for each checkout and kind of card, as one rank of 8 that runs alone: the first of the last tensor
parallel group, which has the same memory as the last rank, and reads the data itself. What the data is does not matter,
what its vocabulary is does: models of text generation get Megatron-LM's mock data, others a file of random tokens.
Routers are taken to give each expert the same number of tokens. Reports are kept in the folder of -o: a second call
goes on where the first one stopped. Environment: PLM_BUILD is the build folder.
"""
import argparse
import array
import collections
import csv
import functools
import json
import os
import pathlib
import random
import re
import shlex
import struct
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
WORLD = 8
LIMIT = 0.5  # per cent
CARDS = {  # by a part of the platform's name; others are A100s. PyTorch 2.6 has no kernels for GB200: an H100 stands in.
    "gb200": "h100-80gb",
    "h100": "h100-80gb",
    "a100": "a100-80gb",
}
GPT2_WORDS, BERT_WORDS = 50257, 28996
SCRIPTS = {"t5": "pretrain_t5.py", "bert": "pretrain_bert.py"}  # by the first part of a case's name
FILES = ("--data-path", "--data-cache-path", "--vocab-file", "--merge-file")


def card_of(platform):
    return next((card for part, card in CARDS.items() if part in platform), CARDS["a100"])


def script_of(case, megatron):
    family = case.split("/")[0]
    name = SCRIPTS.get(family, "pretrain_gpt.py")
    places = (megatron / name, megatron / "examples" / family / name)  # newer ones have moved
    return next((p for p in places if p.exists()), places[0])


def git(folder, *words):
    return subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True).stdout.split()


@functools.cache
def date_of(folder):
    """When the checkout was committed, in seconds."""
    return int((git(folder, "log", "-1", "--format=%ct") or ["0"])[0])


def checkout_of(row, folders):
    """The one that the figure is of, as far as the history of the newest checkout has it."""
    if len(folders) == 1:
        return folders[0]
    folders = sorted(folders, key=date_of)
    golden = f"tests/functional_tests/test_cases/{row['case']}/golden_values_{row['platform']}.json"
    figure = f"-S{row['mem_max_allocated_bytes']}"
    found = git(folders[-1], "log", "--all", "--follow", "--format=%ct", figure, "--", golden)
    measured = min(map(int, found), default=date_of(folders[-1]))
    return next((f for f in reversed(folders) if date_of(f) <= measured), folders[0])


def value_of(arguments, name, default):
    return int(arguments[arguments.index(name) + 1]) if name in arguments else default


def without(arguments, names):
    """The arguments without some options that have one value."""
    taken = {i + more for i, word in enumerate(arguments) if word in names for more in (0, 1)}
    return [word for i, word in enumerate(arguments) if i not in taken]


def known(arguments, megatron):
    """The arguments without options that this checkout has not heard of."""
    names = " ".join(path.read_text() for path in (megatron / "megatron/training").glob("*.py"))
    names += " ".join(path.read_text() for path in (megatron / "megatron/core").glob("**/*config*.py"))
    kept, keep = [], True
    for word in arguments:
        if word.startswith("--"):
            stem = word.removeprefix("--").removeprefix("no-")
            keep = stem in names or stem.replace("-", "_") in names
        kept += [word] if keep else []
    return kept


def write_tokens(prefix, documents=40000, sentences=4, length=32):
    """Megatron-LM's indexed format: PREFIX.bin has the tokens, PREFIX.idx where sentences and documents start."""
    count = documents * sentences
    chance = random.Random(1)
    tokens = array.array("H", (chance.randrange(1000, 20000) for _ in range(count * length)))
    prefix.parent.mkdir(parents=True, exist_ok=True)
    prefix.with_suffix(".bin").write_bytes(tokens.tobytes())
    with open(prefix.with_suffix(".idx"), "wb") as index:
        index.write(b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, count, documents + 1))
        index.write(array.array("i", [length] * count).tobytes())
        index.write(array.array("q", range(0, 2 * count * length, 2 * length)).tobytes())
        index.write(array.array("q", range(0, count + 1, sentences)).tobytes())


def write_words(path):
    """A vocabulary of as many words as bert-large-cased has, also where the tokenizer library looks for that name."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words += [f"word{i}" for i in range(BERT_WORDS - len(words))]
    folder = pathlib.Path("bert-large-cased")
    folder.mkdir(exist_ok=True)
    for place in (path, folder / "vocab.txt"):
        place.write_text("\n".join(words) + "\n")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer", "do_lower_case": false}')


def prepare(row, folder, megatron):
    """The script and its arguments, with the files that they name; and whether rank 0 has to write an index first."""
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    arguments = shlex.split(re.sub(r"\$\{(\w+)\}", lambda m: str(folder / m[1].lower()), row["arguments"]))
    arguments, script = known(arguments, megatron), script_of(row["case"], megatron)
    if script.name == "pretrain_gpt.py":
        mock = ["--mock-data", "--tokenizer-type", "NullTokenizer", "--vocab-size", str(GPT2_WORDS)]
        return script, without(arguments, FILES) + mock, False
    write_tokens(pathlib.Path(arguments[arguments.index("--data-path") + 1]))
    write_words(pathlib.Path(arguments[arguments.index("--vocab-file") + 1]))
    return script, arguments, True


def run(rank, row, script, arguments, megatron, options):
    """The report of one rank as a document; None if it made no step."""
    report = pathlib.Path(f"rank{rank}.json")
    if not report.exists():
        start(rank, report, row, script, arguments, megatron, options)
    document = json.loads(report.read_text()) if report.exists() else None
    if document and not document["job"]["steps"]:
        report.unlink()
        return None
    return document


def start(rank, report, row, script, arguments, megatron, options):
    environment = dict(pair.split("=", 1) for pair in row["environment"].split())
    paths = [str(megatron), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [options.plimsoll, "run", "--world", str(WORLD), "--rank", str(rank), "--gpu", card_of(row["platform"])]
    command += ["-f", "-o", f"rank{rank}.plm", f"--json={report}", "--", options.python]
    command += [str(TOP / "bench/apex_standins.py"), str(script), *arguments]
    if "--num-experts" in arguments:
        share = value_of(arguments, "--moe-router-topk", 2) / value_of(arguments, "--num-experts", 1)
        command[2:2] = ["--assume", f"keep={share}"]
    with open(f"rank{rank}.log", "w") as log:
        environment = {**os.environ, **environment, "PYTHONPATH": ":".join(paths)}
        subprocess.run(command, env=environment, stdout=log, stderr=log, timeout=options.timeout)


def measure(row, folder, megatron, options):
    """The peak in bytes of the rank that stands for the last one."""
    script, arguments, index = prepare(row, folder, megatron)
    rank = WORLD - value_of(arguments, "--tensor-model-parallel-size", 1)
    if index and rank:
        run(0, row, script, arguments, megatron, options)
    document = run(rank, row, script, arguments, megatron, options)
    return document and document["devices"][0]["peak"]["allocated"]


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth", type=pathlib.Path)
    parser.add_argument("--megatron", type=pathlib.Path, required=True, action="append", metavar="FOLDER")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("-k", default="", metavar="TEXT", help="only cases and platforms with this in their names")
    parser.add_argument("--timeout", type=float, default=900, metavar="SECONDS", help="of one run")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=TOP / "build/megatron")
    arguments = parser.parse_args()
    arguments.megatron = [folder.resolve() for folder in arguments.megatron]
    arguments.output = arguments.output.resolve()
    arguments.plimsoll = str(pathlib.Path(os.environ.get("PLM_BUILD", TOP / "build")).resolve() / "plimsoll")
    return arguments


def main():
    arguments = options()
    with open(arguments.truth, newline="") as file:
        rows = [row for row in csv.DictReader(file) if arguments.k in f"{row['case']} {row['platform']}"]
    jobs = collections.defaultdict(list)
    for row in rows:
        jobs[row["case"], row["arguments"], card_of(row["platform"]), checkout_of(row, arguments.megatron)].append(row)
    missed = 0
    for (case, _, card, megatron), members in jobs.items():
        folder = arguments.output / megatron.name / case.replace("/", "-") / card
        peak = measure(members[0], folder, megatron, arguments)
        for row in members:
            truth = int(row["mem_max_allocated_bytes"])
            error = 100 * (peak - truth) / truth if peak else float("nan")
            missed += not abs(error) <= LIMIT
            run_as = f"{peak} on {card} ({megatron.name})"
            print(f"{case} {row['platform']}: measured {truth}, plimsoll {run_as}, {error:+.3f} %", flush=True)
    print(f"{len(rows) - missed} of {len(rows)} within {LIMIT} %")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
