"""`python -m plimsoll` is the program of this environment."""

import os
import sys

import plimsoll

try:
    path = plimsoll.program()
except plimsoll.Error as error:
    print(f"plimsoll: {error}", file=sys.stderr)
    sys.exit(error.status)
os.execv(path, ["plimsoll", *sys.argv[1:]])
