"""Whether a program that tests a truth value goes on with either answer. `assert (widths > 0).all()` and `if not ok.all(): raise ...` make
sure of something that is so in any run that is worth an estimate: an answer that nobody computed must not end the program there.

It is read off the code that is being run, at the instruction where the frame stands."""

import dis

_LINE = 40  # instructions from a branch to its `raise`, which makes a message
_KEPT = 512

_answers = {}  # (code, instruction) → True, False, or None: both ways go on


def _raises(instructions, number):
    """Whether the way from there leads to `raise`, and nowhere else."""
    for instruction in instructions[number:number + _LINE]:
        if instruction.opname == "RAISE_VARARGS":
            return True
        if instruction.opname.startswith(("RETURN", "FOR_ITER", "YIELD")) or "JUMP" in instruction.opname:
            return False
    return False


def ways(instructions, at):
    """Where it goes on with False and with True, as places among the instructions; None: no branch follows."""
    number = next((place for place, instruction in enumerate(instructions) if instruction.offset == at), None)
    if number is None:
        return None
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
    found = ways(instructions, at)
    if found is None:
        return None
    false, true = (_raises(instructions, way) for way in found)
    return None if false == true else false


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
