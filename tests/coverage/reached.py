#!/usr/bin/env python3
"""reached.py LIBRARY USER...: the library exports exactly what its users name.

A user is a folder of Python files (what they take of a library by a name that begins with plm_), a shared object (such
names that it imports) or =NAME.
"""
import re
import sys
from pathlib import Path

from elf import Elf

TAKEN = re.compile(r"\.(plm_\w+)")


def named(user):
    if user.startswith("="):
        return {user[1:]}
    if Path(user).is_dir():
        return {name for file in Path(user).rglob("*.py") for name in TAKEN.findall(file.read_text())}
    return {symbol.name for symbol in Elf(user).symbols() if not symbol.defined and symbol.name.startswith("plm_")}


def problems(library, users):
    exported = {symbol.name for symbol in Elf(library).symbols() if symbol.defined}
    wanted = {name: user for user in users for name in named(user)}
    for name in sorted(wanted.keys() - exported):
        yield f"{name} is not exported; {wanted[name]} names it"
    for name in sorted(exported - wanted.keys()):
        yield f"{name} is exported and nobody names it"


def main():
    found = list(problems(sys.argv[1], sys.argv[2:]))
    print(*found, sep="\n", end="\n" * bool(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
