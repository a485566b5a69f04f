#!/usr/bin/env python3
"""exports.py TABLE CUDA SHIM: the shim exports exactly the table's rows, under the right node and SONAME.

CUDA is the generation, 0 for a library without generations.
"""
import sys

from elf import Elf
from table import Table


def problems(table, cuda, elf):
    exported = [symbol for symbol in elf.symbols() if symbol.defined]
    names, rows = {symbol.name for symbol in exported}, table.names(cuda)
    for name in sorted(rows - names):
        yield f"{name} is in the table and not exported"
    for name in sorted(names - rows):
        yield f"{name} is exported and not in the table"
    for symbol in exported:
        if symbol.version != table.version(cuda):
            yield f"{symbol.name} has the version {symbol.version}, the table says {table.version(cuda)}"
    if elf.soname != table.soname(cuda):
        yield f"the SONAME is {elf.soname}, the table says {table.soname(cuda)}"


def main():
    path, cuda, shim = sys.argv[1:]
    found = list(problems(Table(path), int(cuda), Elf(shim)))
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
