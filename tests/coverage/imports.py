#!/usr/bin/env python3
"""imports.py FOLDER...: every symbol that these libraries import from NVIDIA's libraries is in a table.

Prints `ok NAME`, or `not ok NAME - reason` and what is missing, per library that needs one of NVIDIA's.
For a PyTorch, FOLDER is its torch/lib; libraries beside it that call CUDA, such as torchvision's, may follow.
"""
import re
import sys
from pathlib import Path

from elf import Elf
from table import tables

# Entry points of NVIDIA's libraries that carry no version say by their names what they are.
ENTRY_POINT = re.compile(r"(cu[A-Z]|cuda[A-Z]|__cuda|cublas|cudnn|cufft|cufile|cuFile|cupti|curand|cusolver|cusparse|nccl"
                         r"|nvjpeg|_*nvJitLink|nvml|nvrtc|nvshmem|nvtx)\w*$")
# A wheel bundles libraries under hashed names: libcudart.41118559.so.12 is libcudart.so.12.
BUNDLED = re.compile(r"(lib[A-Za-z_]+(?:-ml)?)(?:[.-][0-9a-f]{8,})?(\.so\.\d+)[.\d]*$")


def plain(name):
    match = BUNDLED.match(name)
    return match[1] + match[2] if match else name


def generation(needed):
    """The CUDA generation of a library that needs these files, 0 if none tells."""
    for table in tables():
        for cuda, soname in table.sonames.items():
            if cuda and soname in needed and not table.counts_its_own:
                return cuda
    return 0


def missing(elf, inside):
    """(symbol, library) of each import that no table has; `inside` are names that the same folders define."""
    needed = {plain(name) for name in elf.needed}
    cuda = generation(needed)
    by_soname = {soname: (table, its) for table in tables() for its, soname in table.sonames.items()}
    known = {}
    for soname in needed & by_soname.keys():
        table, its = by_soname[soname]
        known[soname] = table.names(its or cuda)
    anywhere = set().union(*known.values()) if known else set()
    for symbol in elf.symbols():
        if symbol.defined or symbol.weak:  # a weak one may stay unresolved
            continue
        file = plain(symbol.file) if symbol.file else None
        if file in known and symbol.name not in known[file]:
            yield symbol.name, file
        elif not file and ENTRY_POINT.match(symbol.name) and symbol.name not in anywhere | inside:
            yield symbol.name, "a library without versions"


def main():
    files = [path for folder in sys.argv[1:] for path in sorted(Path(folder).glob("*.so*")) if path.is_file()]
    elves = {path: Elf(path) for path in files}
    inside = {symbol.name for elf in elves.values() for symbol in elf.symbols() if symbol.defined}
    sonames = {soname for table in tables() for soname in table.sonames.values()}
    failed = seen = 0
    for path, elf in elves.items():
        if not sonames & {plain(name) for name in elf.needed} or plain(path.name) in sonames:
            continue
        seen += 1
        lacking = sorted(missing(elf, inside))
        failed += bool(lacking)
        print(f"not ok imports-{path.name} - {len(lacking)} symbols are in no table" if lacking else f"ok imports-{path.name}")
        for name, library in lacking:
            print(f"  {name} of {library}")
    if not seen:
        print("not ok imports - no library there needs one of NVIDIA's")
    return 1 if failed or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
