"""Runs the program's reading commands on a record. In a build with sanitizers none of them may leak or read what is not its own:
    program.py PLIMSOLL RECORD.plm.gz"""
import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PLIMSOLL, RECORD = sys.argv[1:]
ANSWERS = (0, 1)  # done; does not fit
COMMANDS = (
    ["report", "job.plm"], ["report", "--json", "job.plm"], ["report", "--by", "module", "job.plm"],
    ["report", "--at", "1", "job.plm"], ["report", "--html", "page.html", "job.plm"],
    ["fit", "job.plm"], ["fit", "--json", "job.plm"], ["tune", "job.plm"], ["diff", "job.plm", "job.plm"],
    ["check", "--max", "1TiB", "job.plm"],
    ["export", "--csv", "job.plm"], ["export", "--jsonl", "job.plm"],
    ["export", "--snapshot", "-o", "snapshot.pickle", "job.plm"], ["export", "--perfetto", "job.plm"],
    ["export", "--speedscope", "job.plm"], ["export", "--folded", "job.plm"],
    ["import", "-f", "-o", "again.plm", "snapshot.pickle"], ["report", "again.plm"], ["estimate", "job.plm"],
    ["gpus"], ["gpus", "--json"], ["symbols", "--library", "cudart"], ["stacks"], ["--help"], ["fit", "--help"], ["--version"],
)


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "job.plm").write_bytes(gzip.decompress(Path(RECORD).read_bytes()))
        for command in COMMANDS:
            run = subprocess.run([PLIMSOLL, *command], cwd=folder, capture_output=True, text=True, errors="replace",
                                 env={**os.environ, "ASAN_OPTIONS": "detect_leaks=1:exitcode=99"})
            good = run.returncode in ANSWERS
            failed += not good
            print("ok" if good else "not ok", " ".join(command))
            if not good:
                print(run.returncode, run.stderr[-4000:])
    return failed != 0


sys.exit(main())
