"""Reads what the dynamic linker reads of a 64-bit little-endian ELF file: names, versions, needed files."""
import mmap
import struct
from collections import namedtuple

DT_NEEDED, DT_STRTAB, DT_SYMTAB, DT_SONAME = 1, 5, 6, 14
SHT_DYNAMIC, SHT_DYNSYM, SHT_VERDEF, SHT_VERNEED, SHT_VERSYM = 6, 11, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF
STB_LOCAL, STT_SECTION, STT_FILE = 0, 3, 4
VER_BASE = 1

# version: the node's name or None; file: for an import, the library that the version is wanted from.
Symbol = namedtuple("Symbol", "name version file defined weak")
Section = namedtuple("Section", "type offset size link info entsize")


class Elf:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path} is not a 64-bit little-endian ELF file")
        (at,) = struct.unpack_from("<Q", self.data, 0x28)
        size, count = struct.unpack_from("<HH", self.data, 0x3A)
        self.sections = []
        for i in range(count):
            _, kind, _, _, offset, length, link, info, _, entsize = struct.unpack_from("<IIQQQQIIQQ", self.data, at + i * size)
            self.sections.append(Section(kind, offset, length, link, info, entsize))
        self.soname, self.needed = None, []
        self._read_dynamic()

    def _section(self, kind):
        return next((s for s in self.sections if s.type == kind), None)

    def _text(self, section, offset):
        start = self.sections[section].offset + offset
        return self.data[start:self.data.find(b"\0", start)].decode()

    def _read_dynamic(self):
        dynamic = self._section(SHT_DYNAMIC)
        for at in range(dynamic.offset, dynamic.offset + dynamic.size, 16):
            tag, value = struct.unpack_from("<QQ", self.data, at)
            if tag == DT_NEEDED:
                self.needed.append(self._text(dynamic.link, value))
            elif tag == DT_SONAME:
                self.soname = self._text(dynamic.link, value)

    def _versions(self):
        """{number: (node, file or None)} of the versions that are defined and wanted."""
        versions = {}
        defined = self._section(SHT_VERDEF)
        at = defined.offset if defined else 0
        for _ in range(defined.info if defined else 0):
            _, flags, number, _, _, aux, step = struct.unpack_from("<HHHHIII", self.data, at)
            (name,) = struct.unpack_from("<I", self.data, at + aux)
            if not flags & VER_BASE:
                versions[number] = (self._text(defined.link, name), None)
            at += step
        wanted = self._section(SHT_VERNEED)
        at = wanted.offset if wanted else 0
        for _ in range(wanted.info if wanted else 0):
            _, count, file, aux, step = struct.unpack_from("<HHIII", self.data, at)
            inner = at + aux
            for _ in range(count):
                _, _, number, name, next_aux = struct.unpack_from("<IHHII", self.data, inner)
                versions[number] = (self._text(wanted.link, name), self._text(wanted.link, file))
                inner += next_aux
            at += step
        return versions

    def symbols(self):
        """The dynamic symbols that other files can see or must provide."""
        table, numbers = self._section(SHT_DYNSYM), self._section(SHT_VERSYM)
        versions = self._versions()
        for i in range(1, table.size // 24):
            name, info, _, section, _, _ = struct.unpack_from("<IBBHQQ", self.data, table.offset + 24 * i)
            if info >> 4 == STB_LOCAL or info & 15 in (STT_SECTION, STT_FILE):
                continue
            number = struct.unpack_from("<H", self.data, numbers.offset + 2 * i)[0] & 0x7FFF if numbers else 1
            text = self._text(table.link, name)
            if section and text == (versions.get(number) or [None])[0]:
                continue  # the node itself
            yield Symbol(text, *versions.get(number, (None, None)), section != 0, info >> 4 == 2)
