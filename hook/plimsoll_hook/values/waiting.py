"""Loops that wait for a value that nobody computed: rejection sampling, an error that shall become small, steps of a solver that are all
refused. On a card they end; here the value stays what it is. So a loop that reads the same from assumed numbers soon gets smaller ones,
and one that still waits after a while gets another answer.

What a loop is, is read off the code that is being run. A loop that makes something (a text, a rollout, a history) is no such loop: an
optimizer steps, what is allocated changes from time to time, or it goes through something with `for`. Those end by themselves, unless they
repeat very often."""

import dis
import time

from .. import device
from . import branches

_OFTEN = 20000  # times that the same place asks, in whatever loop
_TIMES, _SECONDS, _LAUNCHES = 500, 2.0, 20000  # in a `while` loop that allocates as much each time: so often, and one of the others
_SMALLER = 16  # times after which assumed numbers become smaller
_LEAST = 8  # times, where a loop was ended again and again
_NUMBERS = 0, 0x4b, 0xcb  # in each of its bytes: zero, then a large and a negative number, of whatever type
_COMPARED = 8  # instructions from a number to what compares it
_STRAIGHT = 20  # from a branch to where its way leaves a loop
_KEPT = 512

_places = {}  # (code, instruction) → Place
_loops = {}  # (code, instruction) → whether the innermost loop around it is a `while`; None: there is none
_left = {}  # (code, instruction) → whether the branch there enters or leaves a `while`, or another loop; None: neither


class Place:
    """Where a value that is not known was read, again and again."""

    def __init__(self):
        self.ended = 0  # how often a loop was given another answer here
        self.start(*device.progress())

    def start(self, step, launches, allocated):
        self.times, self.since = 0, time.monotonic()
        self.step, self.launches = step, launches
        self.changes(allocated)

    def changes(self, allocated):
        self.allocated, self.alike = allocated, 0  # how often as much was allocated

    def asked(self, zero):
        step, launches, allocated = device.progress()
        if step != self.step:
            self.start(step, launches, allocated)
        elif allocated != self.allocated:
            self.changes(allocated)
        self.same = self.same + 1 if self.times and zero == self.zero else 1
        self.zero = zero
        self.times += 1
        self.alike += 1
        self.launched = launches - self.launches

    def waits(self, frame):
        """Whether it has asked for long enough. What was ended before is not waited for as long again."""
        if self.times >= _OFTEN:
            return True
        share = 2 ** min(self.ended, 10)
        if self.alike < max(_LEAST, _TIMES // share):
            return False
        return (self.launched >= _LAUNCHES / share or time.monotonic() - self.since >= _SECONDS / share) and bool(in_while(frame))


def _found(kept, key, find):
    """What find(code, instruction) says, remembered."""
    if key not in kept:
        if len(kept) >= _KEPT:
            kept.clear()
        try:
            kept[key] = find(*key)
        except (IndexError, KeyError, TypeError, ValueError):
            kept[key] = None
    return kept[key]


def _loops_of(instructions):
    """(first instruction, last instruction, whether it is a `while`) of each loop."""
    names = {instruction.offset: instruction.opname for instruction in instructions}
    return [(jump.argval, jump.offset, names[jump.argval] != "FOR_ITER") for jump in instructions
            if "JUMP" in jump.opname and jump.argval <= jump.offset]


def _loop(code, at):
    around = [(last - first, is_while) for first, last, is_while in _loops_of(list(dis.get_instructions(code))) if first <= at <= last]
    return min(around)[1] if around else None


def _stays(instructions, number, first, last):
    """Whether the way from there goes on in the loop, as far as it leads straight on. A `return` in it leaves it."""
    for instruction in instructions[number:number + _STRAIGHT]:
        if not first <= instruction.offset <= last or instruction.opname.startswith("RETURN"):
            return False
        if "JUMP" in instruction.opname:
            return "IF" in instruction.opname or first <= instruction.argval <= last
    return True


def _leaves(code, at):
    instructions = list(dis.get_instructions(code))
    ways = branches.ways(instructions, at)
    if ways is None:
        return None
    left = [is_while for first, last, is_while in _loops_of(instructions)
            if _stays(instructions, ways[0], first, last) != _stays(instructions, ways[1], first, last)]
    return any(left) if left else None


def in_while(frame):
    """Whether the innermost loop that the program is in is a `while`; None: it is in none."""
    while frame is not None:
        found = _found(_loops, (frame.f_code, frame.f_lasti), _loop)
        if found is not None:
            return found
        frame = frame.f_back
    return None


def compared(frame):
    """Whether the number that is read decides a branch at once: `while error.item() > 0.1`."""
    following = [instruction.opname for instruction in dis.get_instructions(frame.f_code) if instruction.offset > frame.f_lasti]
    for number, name in enumerate(following[:_COMPARED]):
        if name == "COMPARE_OP":
            return any(next_name.startswith("POP_JUMP") for next_name in following[number + 1:number + 4])
        if name.startswith(("STORE", "RETURN", "POP", "JUMP")):
            return False
    return False


def place_of(frame):
    return _found(_places, (frame.f_code, frame.f_lasti), lambda code, at: Place())


def other(frame, truth, zero, assumed):
    """The byte that ends the loop, if it has waited for long enough; None: it has not, or what it reads is no condition."""
    place = place_of(frame)
    place.asked(zero)
    turns, rest = divmod(place.same, _SMALLER)
    if assumed and turns and not rest and in_while(frame) and (truth or compared(frame)):
        device.smaller(turns)
    if not place.waits(frame):
        return None
    ended = place.ended
    place.ended += 1
    place.start(*device.progress())
    if truth:
        return int(zero)
    if not compared(frame):
        return None if zero else 0
    return _NUMBERS[(ended + zero) % len(_NUMBERS)]


def decides(frame):
    """Whether the truth value that is read decides how often a loop runs: it is the condition of a `while`, or leaves one; or a loop
    reads it again without a step of the optimizer since, which is a `while` or is left by it."""
    leaves = _found(_left, (frame.f_code, frame.f_lasti), _leaves)
    return bool(leaves) or place_of(frame).times > 1 and (leaves is not None or bool(in_while(frame)))
