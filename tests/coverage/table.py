"""Reads data/symbols/<library>.tsv, as src/gen/symgen.c does at build time (which also checks it)."""
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "data" / "symbols"


def _generations(text):
    """'-' every one, '12' that one, '12-' from it on, '-12' up to it."""
    first, dash, last = text.partition("-")
    if not dash:
        return int(first), int(first)
    return int(first or 0), int(last or 99)


class Table:
    def __init__(self, path):
        self.library, self.node, self.sonames, self.rows = None, None, {}, []
        for line in Path(path).read_text().splitlines():
            field = line.split("\t")
            if field[0] == "@library":
                self.library = field[1]
            elif field[0] == "@node":
                self.node = field[1]
            elif field[0] == "@soname":
                self.sonames[0 if field[1] == "-" else int(field[1])] = field[2]
            elif line and line[0] not in "#@":
                self.rows.append((field[0], *_generations(field[2])))

    @property
    def counts_its_own(self):
        """Whether the generations are the library's and not CUDA's."""
        return self.library == "cudnn"

    def names(self, cuda):
        """The entry points of a generation; 0 is for a library without generations."""
        return {name for name, first, last in self.rows if not cuda or first <= cuda <= last}

    def soname(self, cuda):
        return self.sonames.get(cuda, self.sonames.get(0))

    def version(self, cuda):
        """The node that every symbol has; None for none."""
        return {"soname": self.soname(cuda), "none": None}.get(self.node, self.node)


def tables():
    return [Table(path) for path in sorted(FOLDER.glob("*.tsv"))]
