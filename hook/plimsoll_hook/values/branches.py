"""Whether a program that tests a truth value goes on with either answer. `assert (widths > 0).all()` and `if not ok.all(): raise ...` make
sure of something that is so in any run that is worth an estimate: an answer that nobody computed must not end the program there. And a
loop that waits for such a value would wait for ever.

It is read off the code that is being run, at the instruction where the frame stands."""

import dis

_LINE = 40  # instructions from a branch to its `raise`, which makes a message
_LOOPS = 20000  # times that one frame asks at the same place before it gets the other answer
_KEPT = 512

_answers = {}  # (code, instruction) → True, False, or None: both ways go on
_waiting = [None, 0]  # (frame, instruction), how often in succession


def _raises(instructions, number):
    """Whether the way from there leads to `raise`, and nowhere else."""
    for instruction in instructions[number:number + _LINE]:
        if instruction.opname == "RAISE_VARARGS":
            return True
        if instruction.opname.startswith(("RETURN", "FOR_ITER", "YIELD")) or "JUMP" in instruction.opname:
            return False
    return False


def _ways(instructions, number):
    """Where it goes on with False and with True; None: no branch follows."""
    if instructions[number].opname.startswith(("CALL", "PRECALL")):
        number += 1
    while instructions[number].opname in ("PRECALL", "CALL", "TO_BOOL", "NOP"):  # `not` is in the branch
        number += 1
    branch = instructions[number]
    if not (branch.opname.startswith("POP_JUMP") and branch.opname.endswith(("IF_TRUE", "IF_FALSE"))):
        return None
    places = {instruction.offset: place for place, instruction in enumerate(instructions)}
    jumps = branch.opname.endswith("IF_TRUE")
    return [places[branch.argval] if answer == jumps else number + 1 for answer in (False, True)]


def _answer(code, at):
    instructions = list(dis.get_instructions(code))
    number = next((place for place, instruction in enumerate(instructions) if instruction.offset == at), None)
    ways = None if number is None else _ways(instructions, number)
    if ways is None:
        return None
    false, true = (_raises(instructions, way) for way in ways)
    return None if false == true else false


def waits(frame):
    """Whether the frame has asked there again and again."""
    key = id(frame), frame.f_lasti
    _waiting[:] = [key, _waiting[1] + 1] if _waiting[0] == key else [key, 1]
    if _waiting[1] < _LOOPS:
        return False
    _waiting[1] = 0
    return True


def answer(frame):
    """True or False: what lets the program go on; None: either does."""
    code, at = frame.f_code, frame.f_lasti
    if (code, at) not in _answers:
        if len(_answers) >= _KEPT:
            _answers.clear()
        try:
            _answers[code, at] = _answer(code, at)
        except (IndexError, KeyError, ValueError):
            _answers[code, at] = None
    return _answers[code, at]
