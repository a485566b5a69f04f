#!/usr/bin/env python3
"""names.py NAMES: tools/names finds names that belong to two rooms, in a small tree of three."""
import subprocess
import sys
import tempfile
from pathlib import Path

TREE = {
    "src/time/clock.h": "struct plm_clock { int now; };\nint plm_clock_run(const struct plm_clock *clock);\n",
    "src/time/clock.c": '#include "time/clock.h"\nstruct plm_time_step { int ms; };\n'
                        "int plm_clock_run(const struct plm_clock *clock)\n{\n"
                        "    return plm_page_width(clock->now);\n}\n",
    "src/report/page.h": "struct plm_clock; /* struct plm_clock { */\nint plm_page_width(int columns);\n"
                         "typedef int plm_report_time(const struct plm_clock *clock);\n"
                         "plm_report_time plm_report_time_text, plm_report_time_json;\n",
    "src/study/estimate/row.h": "extern const int plm_method_one;\n",
    "src/study/learn/row.h": "extern const int plm_method_two;\n",
    "src/study/rows/rows.c": 'static int plm_page_own(void)\n{\n    return plm_clock_run("struct plm_clock {");\n}\n',
}
# (what is planted, {file: its text}, what must be said; None: nothing)
CASES = [
    ("nothing", {}, None),
    ("a tag in two rooms", {"src/study/rows/more.h": "struct plm_clock {\n    int rows;\n};\n"},
     "plm_clock has two meanings: src/study/rows/more.h, src/time/clock.h"),
    ("a tag twice in one room", {"src/time/more.c": "enum plm_clock { ONE };\n"},
     "plm_clock has two meanings: src/time/clock.h, src/time/more.c"),
    ("a second owner of a prefix", {"src/study/rows/more.h": "int plm_page_of(int row);\n"},
     "plm_page_ is of report and study/rows: src/study/rows has plm_page_of"),
    ("one that is inline", {"src/time/more.h": "static inline int plm_page_of(int row)\n{\n    return row;\n}\n"},
     "plm_page_ is of report and time: src/time has plm_page_of"),
    ("a type", {"src/time/more.h": "typedef int plm_page_visit(int row);\n"}, "src/time has plm_page_visit"),
    ("a variable", {"src/time/more.h": "extern const int plm_page_columns[], plm_page_rows;\n"},
     "src/time has plm_page_columns, plm_page_rows"),
    ("one of a list", {"src/time/more.h": "plm_report_time plm_page_text;\n"}, "src/time has plm_page_text"),
    ("the name of another room", {"src/report/more.h": "int plm_time_text(int ms);\n"},
     "plm_time_ is of time: src/report has plm_time_text"),
    ("one more user of a shared prefix", {"src/time/more.h": "int plm_method_of(int ms);\n"},
     "src/time has plm_method_of"),
    ("one fewer", {"src/study/learn/row.h": ""}, "tools/names: src/study/learn has no plm_method_"),
]


def said(names, planted):
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder).resolve()
        for name, text in {**TREE, **planted}.items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(text)
        run = subprocess.run([sys.executable, names, top], capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr


def main():
    failed = 0
    for name, planted, wanted in CASES:
        status, text = said(sys.argv[1], planted)
        right = (status, text) == (0, "") if wanted is None else status == 1 and wanted in text
        print(f"{'ok' if right else 'FAILED'}: {name}" + ("" if right else f": status {status}\n{text}"))
        failed += not right
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
