#!/usr/bin/env python3
"""rooms.py ROOMS CC: tools/rooms finds what goes past a wall, in a small tree of three rooms."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

TREE = {
    "docs/internals/README.md": """
| `src/low` | what others stand on | – |
| `src/high` | what stands on it | low |
| `src/device` | the virtual GPU | low |

| `src/low` | number |
""",
    "src/low/number.h": "int low_number(void);\n",
    "src/low/number.c": '#include "low/number.h"\nint low_number(void) { return 1; }\n',
    "src/high/sum.c": '#include "low/number.h"\nint high_sum(void) { return 1 + low_number(); }\n',
    "src/device/lock.h": "struct plm_lock { int rank; };\n#define PLM_LOCK_INIT(rank) {1}\n",
    "src/device/device.c": '#include "device/lock.h"\n#include "low/number.h"\n'
                           "static struct plm_lock one = PLM_LOCK_INIT(PLM_LOCK_ONE);\n"
                           "int device_number(void) { return one.rank + low_number(); }\n",
    "src/device/meson.build": "files('device.c', '../low/number.c')\n",
    "src/device/locks.def": 'PLM_LOCK_ROW(ONE, "device/device.c", "a number", 0)\n',
}
# (what is planted, {file: its text}, what must be said; None: nothing)
CASES = [
    ("nothing", {}, None),
    ("an include of a room above", {"src/low/more.c": '#include "high/sum.h"\n'}, "low may not include high"),
    ("a declaration by hand", {"src/low/more.c": "int high_sum(void);\nint low_more(void) { return high_sum(); }\n"},
     "src/low/more.c needs high_sum: low may not know high"),
    ("a file in the user's process", {"src/device/meson.build": "files('device.c', '../low/number.c', '../high/sum.c')\n"},
     "src/high/sum.c is compiled into the user's process and not in the table"),
    ("one that nobody needs there",
     {"src/low/more.c": "int low_more(void) { return 2; }\n",
      "src/device/meson.build": "files('device.c', '../low/number.c', '../low/more.c')\n",
      "docs/internals/README.md": TREE["docs/internals/README.md"].replace("number", "more, number")},
     "src/low/more.c is compiled into the user's process, where nobody needs it"),
    ("a lock without a row", {"src/device/locks.def": ""}, "src/device/device.c has a lock of ONE"),
    ("a row without a lock", {"src/device/locks.def": TREE["src/device/locks.def"] + 'PLM_LOCK_OWN("device/gone.c", "x")\n'},
     "src/device/gone.c does not have something to wait for"),
    ("a mutex of its own", {"src/low/number.c": TREE["src/low/number.c"] + "#include <pthread.h>\npthread_mutex_t low_own;\n"},
     "src/low/number.c has something to wait for"),
]


def build(top, compiler):
    made = []
    for source in sorted((top / "src").rglob("*.c")):
        output = source.with_suffix(".o")
        if subprocess.run([*compiler, "-c", f"-I{top / 'src'}", "-o", output, source], stderr=subprocess.DEVNULL).returncode == 0:
            made.append({"directory": str(top), "file": str(source), "output": str(output)})
    (top / "compile_commands.json").write_text(json.dumps(made))


def said(rooms, compiler, planted):
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder).resolve()
        for name, text in {**TREE, **planted}.items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(text)
        build(top, compiler)
        run = subprocess.run([sys.executable, rooms, "--tree", top, top], capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr


def main():
    rooms, *compiler = sys.argv[1:]
    failed = 0
    for name, planted, wanted in CASES:
        status, text = said(rooms, compiler, planted)
        right = (status, text) == (0, "") if wanted is None else status == 1 and wanted in text
        print(f"{'ok' if right else 'FAILED'}: {name}" + ("" if right else f": status {status}\n{text}"))
        failed += not right
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
