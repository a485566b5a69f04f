#!/usr/bin/env python3
"""Step times and utilization against runs on real cards: bench/times.py TRUTH_FOLDER [--rows N] [OPTION...]

Runs `plimsoll evaluate` on the tables of the folder that it knows, prints what must be reached and what was. Other options go to evaluate
(-j N). Records and documents are kept in $PLM_BUILD/accuracy, so that a second call only computes. Which rows chose which constant is
told in docs/utilization.md; the rows that --fit and --learn draw are not judged. PLM_TEST_PYTHON is the Python to use.

--rows N takes N rows of each table, and ten times as many MLPs, which take a tenth of the time: those whose line has the least SHA-256,
so that the same table gives the same rows, and N more rows hold these. Without it every row is run.

Tables of other cards and layouts are known by their names: timm_infer_CARD.csv or timm_train_CARD.csv, with _nhwc before or after the
card where the channels are last.
"""
import argparse
import collections
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("PLM_BUILD", TOP / "build"))
TORCH = "2.10.0"
METRICS = ("gputl", "gract", "smact", "smocc", "fp32a")

# A table, the card it is of, further words, the rows that train (half of a small table), and the bars: which estimator, which figure of
# agreement, at least or at most how much.
Case = collections.namedtuple("Case", "table gpu title words trained bars")
TIMES_ROWS = {"mlp_a100.csv": 10}  # of --rows
OWN, FITTED, CORRECTED = "plimsoll", "plimsoll, 3 constants fitted", "plimsoll, corrected"
SAME_CARD = ((OWN, "median", "<=", 0.08), (OWN, "p90", "<=", 0.25), (OWN, "spearman", ">=", 0.985))
ANOTHER_CARD = TRAINING = ((OWN, "median", "<=", 0.12),)
CASES = (
    Case("mlp_a100.csv", "a100-40gb", "MLPs, no constant fitted", (), {}, ((OWN, "spearman", ">=", 0.93),)),
    Case("mlp_a100.csv", "a100-40gb", "MLPs, three constants and a correction", (), {"--fit": 100, "--learn": 400},
         ((FITTED, "r2", ">=", 0.95), (CORRECTED, "r2", ">=", 0.98))),
    Case("timm_infer_rtx3090.csv", "rtx3090", "timm inference, constants of the architecture", (), {"--fit": 200},
         SAME_CARD),
    Case("timm_infer_rtx4090.csv", "rtx4090", "timm inference, another architecture by its data sheet",
         ("--speeds", str(TOP / "data" / "timing" / "ampere.ini")), {"--fit": 200}, ANOTHER_CARD),
    Case("timm_train_rtx3090.csv", "rtx3090", "timm training", (), {"--fit": 100}, TRAINING),
)
FITTED_CARD = "rtx3090"  # whose rows chose the constants of step times


def other_cases(folder):
    """Of the tables that are no case above."""
    known = {case.table for case in CASES}
    for table in sorted(folder.glob("timm_*_*.csv")):
        mode, *words = table.stem.split("_")[1:]
        card = "-".join(word for word in words if word not in ("nchw", "nhwc"))
        if table.name in known or mode not in ("infer", "train"):
            continue
        layout = ("--tensors", "nhwc") if "nhwc" in words else ()
        bars = TRAINING if mode == "train" else SAME_CARD if card == FITTED_CARD else ANOTHER_CARD
        title = f"timm {'training' if mode == 'train' else 'inference'}{', channels last' if layout else ''}"
        yield Case(table.name, card, title, layout, {"--fit": 100}, bars)


def python():
    given = os.environ.get("PLM_TEST_PYTHON")
    return given or subprocess.run([TOP / "tools" / "setup", "torch", TORCH], check=True, capture_output=True, text=True).stdout.strip() + "/bin/python"


def drawn(table, rows):
    """The table, or one with so many of its rows, in their order."""
    head, *lines = table.read_text().splitlines()
    count = rows * TIMES_ROWS.get(table.name, 1)
    if not rows or count >= len(lines):
        return table
    last = sorted(hashlib.sha256(line.encode()).digest() for line in lines)[count - 1]
    place = BUILD / "accuracy" / f"{table.stem}-{count}.csv"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("\n".join([head, *(line for line in lines if hashlib.sha256(line.encode()).digest() <= last)]) + "\n")
    return place


def evaluate(case, table, words):
    """The document of an evaluation; what it prints goes to stderr, where the progress is."""
    place = BUILD / "accuracy"
    place.mkdir(parents=True, exist_ok=True)
    name = table.stem + "".join(case.trained)
    kept = place / f"{Path(case.table).stem}-times"  # the same records, however many rows are asked for
    with open(table) as file:
        half = (sum(1 for _ in file) - 1) // 2
    trained = [word for option, rows in case.trained.items() for word in (option, min(rows, half))]
    out = place / f"{name}.json"
    command = [BUILD / "plimsoll", "evaluate", "time", table, "--gpu", case.gpu, "--python", python(), "-o", kept, "--resume", "-f",
               f"--json={out}", "--html", place / f"{name}.html", *case.words, *trained, *words]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL)
    if done.returncode not in (0, 3):  # 3: some rows failed, which the document counts
        sys.exit(f"bench/times.py: {' '.join(map(str, command))} ended with status {done.returncode}")
    return json.loads(out.read_text())


def show(value, figure):
    return f"{100 * value:.1f} %" if figure in ("median", "p90") else f"{value:.4f}"


def show_case(case, page):
    failed = f", {page['failed']} failed" if page["failed"] else ""
    print(f"\n{case.title}: {case.table} on {case.gpu}, {page['judged']} rows judged, {page['trained']} trained on{failed}")
    for constant in page.get("fit", {}).get("constants", ()):
        print(f"    {constant['name']} = {constant['value']:.4g} (was {constant['before']:.4g})")
    for item in page["groups"][-1]["agreements"]:
        bars = {figure: (sign, limit) for name, figure, sign, limit in case.bars if name == item["estimator"]}
        cells = []
        for figure in ("r2", "spearman", "median", "p90"):
            if figure not in item:
                continue
            text = f"{figure} {show(item[figure]['value'], figure)}"
            if figure in bars:
                sign, limit = bars[figure]
                reached = item[figure]["value"] >= limit if sign == ">=" else item[figure]["value"] <= limit
                text += f" ({sign} {show(limit, figure)}: {'reached' if reached else 'MISSED'})"
            cells.append(text)
        print(f"  {item['figure']:8} {item['estimator']:30} " + ", ".join(cells))


def main():
    if len(sys.argv) < 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--rows", type=int, default=0)
    args, words = parser.parse_known_args(sys.argv[2:])
    found = False
    for case in (*CASES, *other_cases(Path(sys.argv[1]))):
        table = Path(sys.argv[1]) / case.table
        if table.exists():
            found = True
            show_case(case, evaluate(case, drawn(table, args.rows), words))
            sys.stdout.flush()
        else:
            print(f"\n{case.title}: there is no {case.table}")
    if not found:
        sys.exit(f"bench/times.py: {sys.argv[1]} has no table of times")


if __name__ == "__main__":
    main()
