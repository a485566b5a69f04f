"""Writes pickles of plain data and what they hold, in the words of tests/unit/unpickle.c: FOLDER/N.pickle, FOLDER/N.text;
and hostile ones, FOLDER/bad-N.pickle with the word that must be in the refusal. Prints how many there are of each."""
import collections
import datetime
import pickle
import random
import sys

folder = sys.argv[1]


def words(value):
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return str(value) if -(2**63) <= value < 2**64 else "large"
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, str):
        return "t" + value.encode("utf-8", "surrogatepass").hex()
    if isinstance(value, bytes):
        return "b"
    if isinstance(value, tuple):
        return "(" + " ".join(map(words, value)) + ")"
    if isinstance(value, list):
        return "[" + " ".join(map(words, value)) + "]"
    return "{" + " ".join(words(key) + ":" + words(item) for key, item in value.items()) + "}"


def some(generator, depth):
    kind = generator.randrange(9 if depth else 5)
    if kind == 0:
        return generator.choice([None, True, False])
    if kind == 1:
        return generator.choice([1, -1]) * generator.getrandbits(generator.choice([3, 8, 9, 16, 17, 31, 32, 33, 63, 64, 65, 200]))
    if kind == 2:
        return generator.choice([0.0, -0.0, 1.5, 1e300, 5e-324, generator.random()])
    if kind == 3:
        return "".join(generator.choice("ab\u00e9\u4e2d\U0001f600\0") for _ in range(generator.choice([0, 3, 255, 256, 70000])))
    if kind == 4:
        return generator.randbytes(generator.choice([0, 1, 255, 256]))
    items = [some(generator, depth - 1) for _ in range(generator.choice([0, 1, 2, 3, 4, 20]))]
    if kind == 5:
        return tuple(items)
    if kind == 6:
        return items
    return {str(i) if kind == 7 else i: item for i, item in enumerate(items)}


shared = [1, "two"]
values = [0, -1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, -(2**64), 2**2040, "", b"", (), [], {}, list(range(5000)),
          {str(i): [i] for i in range(3000)}, [shared, shared, (shared, shared)], [[[[[]]]]], {"a": {"b": {"c": (1, 2, 3, 4)}}}]
generator = random.Random(5)
values += [some(generator, 4) for _ in range(60)]
count = 0
for value in values:
    for protocol in (2, 3, 4, 5):
        if protocol == 2 and "b" in {word[:1] for word in words(value).replace("(", " ").replace("[", " ").replace("{", " ").replace(":", " ").split()}:
            continue  # bytes need a function call there
        with open(f"{folder}/{count}.pickle", "wb") as file:
            pickle.dump(value, file, protocol)
        with open(f"{folder}/{count}.text", "w") as file:
            file.write(words(value))
        count += 1


class Evil:
    def __reduce__(self):
        return print, ("executed",)


hostile = [(pickle.dumps(value, protocol), name) for value, name in (
    (Evil(), "GLOBAL"), (collections.OrderedDict(a=1), "GLOBAL"), (datetime.date(2026, 1, 1), "GLOBAL"), (print, "GLOBAL"),
    ({1, 2}, "GLOBAL"), (1j, "GLOBAL")) for protocol in (2, 3)]
hostile += [(pickle.dumps(Evil(), 4), "STACK_GLOBAL"), (pickle.dumps({1}, 4), "EMPTY_SET"), (pickle.dumps(frozenset([1]), 4), "FROZENSET"),
            (pickle.dumps(bytearray(b"x"), 5), "BYTEARRAY8"), (pickle.dumps([1, "x"], 0), "protocol 2 or newer"),
            (pickle.dumps([1, "x"], 1), "protocol 2 or newer"), (b"\x80\x06N.", "protocol 6"), (b"", "protocol 2"), (b"\x80\x02", "no end"),
            (b"\x80\x02.", "one value"), (b"\x80\x02NN.", "one value"), (b"\x80\x02(N.", "one value"), (b"\x80\x02N\x86.", "too few"),
            (b"\x80\x02(\x85.", "too few"), (b"\x80\x02]a.", "too few"), (b"\x80\x02](Na.", "too few"), (b"\x80\x02}NNNs.", "not a container"),
            (b"\x80\x02]e.", "no mark"), (b"\x80\x02}(Nu.", "without a value"), (b"\x80\x02N(Ne.", "not a container"),
            (b"\x80\x02h\x05.", "a memo entry that does not exist"), (b"\x80\x02Nr\xff\xff\xff\xff.", "an impossible memo index"), (b"\x80\x02q\x01.", "too few"),
            (b"\x80\x02X\xff\xff\xff\xffabc", "within a text"), (b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xffabc", "within a text"),
            (b"\x80\x02\x8b\xff\xff\xff\xff1", "within a number"), (b"\x80\x02\x8b\xff\xff\xff\x7f1", "within a number"),
            (b"\x80\x02G123", "within a number"), (b"\x80\x04\x95\xff\0\0\0\0\0\0\0N.", "within a frame"), (b"\x80\x02\xff.", "unknown opcode 0xff"),
            (b"\x80\x02(" * 1, "no end"), (b"\x80\x02" + b"(" * 100000, "no end"), (b"\x80\x02cos\nsystem\n(X\x02\0\0\0idtR.", "GLOBAL"),
            (b"\x80\x02X" + (17 << 20).to_bytes(4, "little") + bytes(17 << 20) + b".", "16 MiB"),
            (b"\x80\x02X\xff\0\0\0" + bytes(255) + b"r\x02\0\0\0.", "an impossible memo index"), (b"\x80\x02N0.", "POP"), (b"\x80\x02Pabc\n.", "PERSID")]
for number, (data, word) in enumerate(hostile):
    with open(f"{folder}/bad-{number}.pickle", "wb") as file:
        file.write(data)
    with open(f"{folder}/bad-{number}.text", "w") as file:
        file.write(word)
print(count, len(hostile))
