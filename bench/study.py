#!/usr/bin/env python3
"""Learned methods, formulas and the virtual GPU on the measured MLPs: bench/study.py TRUTH_FOLDER [OPTION...]

Runs the rows of mlp_a100.csv on the virtual GPU (`plimsoll dataset --from`), then `plimsoll evaluate classes` with models that are
fresh for every fold, and again with models that learned from drawn rows alone, which no GPU has seen; then CNNs and transformers, which are drawn
and labelled as well. Prints what must be reached and what was. Options go to evaluate (--method NAME,... asks others; without PyTorch's
networks it takes some minutes). Rows and documents are kept in $PLM_BUILD/accuracy, so that a second call only computes. PLM_TEST_PYTHON is the
Python to use, STUDY_SCALE a factor of the numbers of drawn rows and of jobs that run by themselves. docs/study.md tells what the figures mean.
"""
import csv
import json
import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("PLM_BUILD", TOP / "build"))
TORCH = "2.6.0"  # the nearest to the stack of the rows
TABLE, GPU = "mlp_a100.csv", "a100-40gb"
METHODS = ("accelerate,horus,dnnmem,xmem,xmem+,faketensor-a,faketensor-b,faketensor-c,extratrees,extratrees+,gpumemnet-mlp,gpumemnet-transformer,"
           "plimsoll-learned,virtual")
SAMPLE = 40  # jobs that run by themselves, for the methods that need a capture of each
# Of the five folds: the method, its figure, at least how much. The published accuracies less .02 (docs/study.md).
BARS = (("virtual", "exact", 0.93), ("gpumemnet-mlp", "accuracy", 0.956), ("gpumemnet-transformer", "accuracy", 0.964))
# Learned from drawn rows alone, with one constant for the stack: STACK has it.
STACK, DRAWN = "a100-eager", 1200
BARS_DRAWN = tuple((method, "accuracy", 0.97) for method in ("extratrees", "gpumemnet-mlp", "gpumemnet-transformer"))
# Families without a measured row: how many are drawn, and what was published for GPUMemNet's two ensembles on other rows.
FAMILIES = {"cnn": (300, "accuracy 79.7 and 80.3"), "transformer": (300, "accuracy 84.8 and 85.8")}
OOM_MIB = 45_000
LEARNED = "extratrees,gpumemnet-mlp,gpumemnet-transformer,dnnperf"
MOST_CPU_MS = 5


def python():
    given = os.environ.get("PLM_TEST_PYTHON")
    return given or subprocess.run([TOP / "tools" / "setup", "torch", TORCH], check=True, capture_output=True, text=True).stdout.strip() + "/bin/python"


def run(*words):
    """What it prints goes to stderr, where the progress is."""
    done = subprocess.run([str(word) for word in words], stdout=sys.stderr)
    if done.returncode:
        sys.exit(f"bench/study.py: {' '.join(map(str, words))} ended with status {done.returncode}")


def table(name, *words, newer_than=None):
    place = BUILD / "accuracy"
    place.mkdir(parents=True, exist_ok=True)
    rows = place / f"{name}-rows.csv"
    if not rows.exists() or (newer_than and rows.stat().st_mtime < newer_than.stat().st_mtime):
        run(BUILD / "plimsoll", "dataset", *words, "--gpu", GPU, "--python", python(), "-f", "-o", rows)
    return rows


def scaled(count, least):
    return max(least, round(count * float(os.environ.get("STUDY_SCALE", 1))))


def drawn(family, count, *words):
    count = scaled(count, 10)
    return table(f"{family}-{count}-drawn", "--family", family, "--rows", count, "--seed", 1, *words)


def as_published(rows):
    """Jobs that run out of memory count as 45,000 MiB, so the last class."""
    csv.field_size_limit(1 << 24)
    out = rows.with_name(rows.name.replace("drawn", "published"))
    with open(rows, newline="") as file, open(out, "w", newline="") as made:
        found = csv.DictReader(file)
        writer = csv.DictWriter(made, found.fieldnames)
        writer.writeheader()
        for row in found:
            writer.writerow(row | ({"device_used": OOM_MIB << 20, "oom": 0} if row["oom"] == "1" else {}))
    return out


def study(rows, name, methods, *options):
    out = rows.with_name(f"{name}.json")
    run(BUILD / "plimsoll", "evaluate", "classes", rows, "--method", methods, "--python", python(), "-f",
        f"--json={out}", "--html", out.with_suffix(".html"), *options)
    return json.loads(out.read_text())


def cell(score, key):
    return f"{100 * score[key]['value']:6.1f}" if key in score else "     -"


def show(document, what):
    first = document["targets"][0]["column"]
    paradigms = {method["name"]: method["paradigm"] for method in document["methods"]}
    print(f"\n{what}: {document['rows']} rows, {document['tests'][0]}")
    print(f"  {'method':24}  rows  accuracy  macro F1  under   exact   mean |e| MiB    CPU ms")
    for result in document["results"]:
        if (result["target"], result["test"]) != (first, document["tests"][0]):
            continue
        if not result["asked"]:
            print(f"  {result['method']:24} not asked: {result['why']}")
            continue
        score = result["scores"][-1]
        distance = "-" if result["classes"] or "mean_error" not in score else f"{score['mean_error']['value']:.2f}"
        runs = paradigms[result["method"]] == "virtual" and "run_cpu_seconds" in document
        seconds = document["run_cpu_seconds"] if runs else result["cpu_seconds"]
        print(f"  {result['method']:24} {score['answered']:5}  {cell(score, 'accuracy')}    {cell(score, 'f1')} {cell(score, 'under')}  "
              f"{'     -' if result['classes'] else cell(score, 'exact')}  {distance:>13}  {1e3 * seconds:8.{0 if seconds > 0.1 else 3}f}")
    return {result["method"]: result | {"paradigm": paradigms[result["method"]]} for result in document["results"] if (result["target"], result["test"]) == (first, document["tests"][0]) and result["asked"]}


def bars(results, wanted):
    for method, key, least in wanted:
        if method in results and key in results[method]["scores"][-1]:
            value = results[method]["scores"][-1][key]["value"]
            print(f"  {method}: {key} {value:.4f} (>= {least}: {'reached' if value >= least else 'MISSED'})")
    slow = [name for name, result in results.items() if result["paradigm"] == "learned" and 1e3 * result["cpu_seconds"] > MOST_CPU_MS]
    print(f"  an answer of a model takes at most {MOST_CPU_MS} ms of a processor: {'MISSED by ' + ', '.join(slow) if slow else 'reached'}")


def main():
    if len(sys.argv) < 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    truth, options = Path(sys.argv[1]) / TABLE, sys.argv[2:]
    if not truth.exists():
        print(f"\nMeasured MLPs: there is no {TABLE}")
        return
    rows = table(truth.stem, "--from", truth, "--family", "mlp", newer_than=truth)
    bars(show(study(rows, truth.stem, METHODS, "--bin", 1, "--sample", scaled(SAMPLE, 1), *options), "Measured MLPs, memory in classes of 1 GB"), BARS)
    lessons = study(rows, "elsewhere", f"{LEARNED},virtual", "--bin", 1, "--target", "measured_device_mib", "--lessons",
                    drawn("mlp", DRAWN, "--stack", STACK), *options)
    bars(show(lessons, "Measured MLPs, asked of models that learned from drawn ones"), BARS_DRAWN)
    for family, (count, published) in FAMILIES.items():
        found = study(as_published(drawn(family, count)), family, LEARNED, "--bin", 8, "--target", "device_used", *options)
        bars(show(found, f"{family}, drawn and labelled by the virtual GPU, classes of 8 GB (published on other rows: {published})"), ())


if __name__ == "__main__":
    main()
