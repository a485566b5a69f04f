"""Runs a workload for many rows of a table in one job: what is imported is imported once, and every row gets a forked process.

    serve(FILE, run)        FILE is CSV; run(row) gets a dictionary and returns when its steps are made

For each row that ended a line "pid,line,status" is appended to FILE.done: the record knows its events by the process.
"""
import csv
import os
import sys
import traceback


def serve(path, run):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    with open(path + ".done", "a") as done:
        for line, row in enumerate(rows):
            pid = os.fork()
            if not pid:
                _child(run, row)
            _, status = os.waitpid(pid, 0)
            done.write(f"{pid},{line},{os.waitstatus_to_exitcode(status)}\n")
            done.flush()


def _child(run, row):
    status = 1
    try:
        run(row)
        status = 0
    except SystemExit as leaving:
        status = leaving.code or 0
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
