#!/usr/bin/env python3
"""What the hook (hook/plimsoll_hook) decides, without PyTorch and without the virtual device: modules are loaded one by one, beside a
device that only notes what it is told, and with objects that have what they look at. How it goes with PyTorch, tests/groups shows.
The tests of a subject are in hook_SUBJECT.py beside this file.

    tests/unit/hook.py [SUBJECT ...]    prints the name of each test that fails; the status is 1 then
"""
import importlib
import sys
import traceback

sys.dont_write_bytecode = True
import hook_common

SUBJECTS = ("values", "job", "memory", "ranks", "triton", "imports")


def main(wanted):
    failed = 0
    for subject in wanted or SUBJECTS:
        importlib.import_module(f"hook_{subject}")
    for function in hook_common.TESTS:
        try:
            function()
        except BaseException:  # also an exit that a test did not expect
            failed += 1
            print(f"{function.__name__}:\n{traceback.format_exc()}", file=sys.stderr)
    print(f"{len(hook_common.TESTS) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
