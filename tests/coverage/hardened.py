"""Every file that is installed: its stack is not executable, and what the linker has resolved at the start cannot be written to
afterwards. The first is the program, which can be loaded anywhere. Reads the files itself: not every machine has readelf.

    hardened.py PROGRAM LIBRARY...
"""
import struct
import sys

from elf import SHT_DYNAMIC, Elf

PT_GNU_STACK, PT_GNU_RELRO, PF_X = 0x6474E551, 0x6474E552, 1
DT_BIND_NOW, DT_FLAGS, DT_FLAGS_1, DT_TEXTREL = 24, 30, 0x6FFFFFFB, 22
DF_TEXTREL, DF_BIND_NOW, DF_1_NOW, DF_1_PIE = 4, 8, 1, 0x08000000
ET_DYN = 3


def segments(elf):
    """{type: flags}"""
    (at,) = struct.unpack_from("<Q", elf.data, 0x20)
    size, count = struct.unpack_from("<HH", elf.data, 0x36)
    return dict(struct.unpack_from("<II", elf.data, at + i * size) for i in range(count))


def dynamic(elf):
    section = next(s for s in elf.sections if s.type == SHT_DYNAMIC)
    return dict(struct.unpack_from("<QQ", elf.data, at) for at in range(section.offset, section.offset + section.size, 16))


def problems(path, program):
    elf = Elf(path)
    kinds, tags = segments(elf), dynamic(elf)
    flags, more = tags.get(DT_FLAGS, 0), tags.get(DT_FLAGS_1, 0)
    if PT_GNU_STACK not in kinds or kinds[PT_GNU_STACK] & PF_X:
        yield "its stack is executable"
    if PT_GNU_RELRO not in kinds:
        yield "what the linker resolved stays writable (-z relro)"
    if not (DT_BIND_NOW in tags or flags & DF_BIND_NOW or more & DF_1_NOW):
        yield "its functions are resolved when they are called (-z now)"
    if DT_TEXTREL in tags or flags & DF_TEXTREL:
        yield "its code is written to when it is loaded"
    if struct.unpack_from("<H", elf.data, 16)[0] != ET_DYN or (program and not more & DF_1_PIE):
        yield "it is loaded at one address only"


wrong = [f"{path}: {problem}" for number, path in enumerate(sys.argv[1:]) for problem in problems(path, number == 0)]
print("\n".join(wrong) or f"{len(sys.argv) - 1} files are as they should be")
sys.exit(bool(wrong) or len(sys.argv) < 3)
