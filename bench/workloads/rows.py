"""Runs a workload for many rows of a table in one job: what is imported is imported once, and every row gets a forked process.

    serve(FILE, run)        FILE is CSV; run(row) gets a dictionary and returns when its steps are made

For each row that ended a line "pid,line,status" is appended to FILE.done: the record knows its events by the process. One that failed
leaves "line reason" in FILE.errors as well.
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
                _child(run, row, lambda reason, line=line: _complain(path, line, reason))
            _, status = os.waitpid(pid, 0)
            done.write(f"{pid},{line},{os.waitstatus_to_exitcode(status)}\n")
            done.flush()


def _complain(path, line, reason):
    with open(path + ".errors", "a") as file:
        file.write(f"{line} {' '.join(reason.split())}\n")


def _child(run, row, complain):
    status = 1
    try:
        run(row)
        status = 0
    except SystemExit as leaving:
        if isinstance(leaving.code, str):
            complain(leaving.code)
        else:
            status = leaving.code or 0
    except BaseException as error:
        traceback.print_exc()
        complain(f"{type(error).__name__}: {error}")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
