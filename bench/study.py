#!/usr/bin/env python3
"""Learned methods, formulas and the virtual GPU on the measured MLPs: bench/study.py TRUTH_FOLDER [OPTION...]

Runs the rows of mlp_a100.csv on the virtual GPU (`plimsoll dataset --from`), then `plimsoll evaluate --truth classes` with models that are
fresh for every fold, and prints what must be reached and what was. Options go to evaluate (--method NAME,... asks others; without PyTorch's
networks it takes a minute). Rows and documents are kept in $PLM_BUILD/accuracy, so that a second call only computes. PLM_TEST_PYTHON is the
Python to use. docs/study.md tells what the figures mean.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("PLM_BUILD", TOP / "build"))
TORCH = "2.6.0"  # the nearest to the stack of the rows
TABLE, GPU = "mlp_a100.csv", "a100-40gb"
METHODS = "accelerate,horus,extratrees,extratrees+,gpumemnet-mlp,gpumemnet-transformer,plimsoll-learned,virtual"
# Of the five folds: the method, its figure, at least how much. The published accuracies less .02 (docs/study.md).
BARS = (("virtual", "exact", 0.93), ("gpumemnet-mlp", "accuracy", 0.956), ("gpumemnet-transformer", "accuracy", 0.964))
MOST_CPU_MS = 5


def python():
    given = os.environ.get("PLM_TEST_PYTHON")
    return given or subprocess.run([TOP / "tools" / "setup", "torch", TORCH], check=True, capture_output=True, text=True).stdout.strip() + "/bin/python"


def run(*words):
    """What it prints goes to stderr, where the progress is."""
    done = subprocess.run([str(word) for word in words], stdout=sys.stderr)
    if done.returncode:
        sys.exit(f"bench/study.py: {' '.join(map(str, words))} ended with status {done.returncode}")


def rows_made(truth):
    place = BUILD / "accuracy"
    place.mkdir(parents=True, exist_ok=True)
    rows = place / f"{truth.stem}-rows.csv"
    if not rows.exists() or rows.stat().st_mtime < truth.stat().st_mtime:
        run(BUILD / "plimsoll", "dataset", "--from", truth, "--family", "mlp", "--gpu", GPU, "--python", python(), "-o", rows)
    return rows


def study(rows, options):
    out = rows.with_suffix(".json")
    run(BUILD / "plimsoll", "evaluate", "--truth", "classes", rows, "--method", METHODS, "--bin", 1, "--python", python(), "-f",
        "--json", out, "--html", rows.with_suffix(".html"), *options)
    return json.loads(out.read_text())


def cell(score, key):
    return f"{100 * score[key]['value']:6.1f}" if key in score else "     -"


def show(document):
    first = document["targets"][0]["column"]
    print(f"\nMeasured MLPs: {document['rows']} rows, {document['tests'][0]}, memory in classes of 1 GB")
    print(f"  {'method':24} accuracy  macro F1  under   exact   mean |e| MiB   CPU ms")
    for result in document["results"]:
        if (result["target"], result["test"]) != (first, document["tests"][0]):
            continue
        if not result["asked"]:
            print(f"  {result['method']:24} not asked: {result['why']}")
            continue
        score = result["scores"][-1]
        distance = "-" if result["classes"] else f"{score['mean_error']['value']:.2f}"
        print(f"  {result['method']:24}  {cell(score, 'accuracy')}    {cell(score, 'f1')} {cell(score, 'under')}  "
              f"{'     -' if result['classes'] else cell(score, 'exact')}  {distance:>13}   {1e3 * result['cpu_seconds']:6.3f}")
    return {result["method"]: result for result in document["results"] if (result["target"], result["test"]) == (first, document["tests"][0]) and result["asked"]}


def bars(results):
    for method, key, least in BARS:
        if method in results and key in results[method]["scores"][-1]:
            value = results[method]["scores"][-1][key]["value"]
            print(f"  {method}: {key} {value:.4f} (>= {least}: {'reached' if value >= least else 'MISSED'})")
    slow = [name for name, result in results.items() if 1e3 * result["cpu_seconds"] > MOST_CPU_MS]
    print(f"  an answer takes at most {MOST_CPU_MS} ms of a processor: {'MISSED by ' + ', '.join(slow) if slow else 'reached'}")


def main():
    if len(sys.argv) < 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    truth = Path(sys.argv[1]) / TABLE
    if not truth.exists():
        print(f"\nMeasured MLPs: there is no {TABLE}")
        return
    bars(show(study(rows_made(truth), sys.argv[2:])))


if __name__ == "__main__":
    main()
