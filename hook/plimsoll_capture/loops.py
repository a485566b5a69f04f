"""Which loop of the program is its training loop, and when it comes round.

The optimizer's step and what came before it in the same iteration (a forward pass, zero_grad, a batch) are two positions in the
program: frames and the offsets in their code. The training loop is the innermost loop that has both in it. Frames are compared and
never kept, since they would keep the tensors of functions that have ended.
"""

import dis
import functools
import sys


def stack(frame):
    """The frames from the outermost to this one."""
    found = []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    found.reverse()
    return found


def position(frame):
    """Where the program is: its frames by identity, each with the offset of the call that is under way."""
    return [(id(frame), frame.f_code, frame.f_lasti) for frame in stack(frame)]


def common(a, b):
    """How many frames two positions share."""
    count = 0
    for (frame, code, _), (other, other_code, _) in zip(a, b):
        if frame != other or code is not other_code:
            break
        count += 1
    return count


def came_round(before, now):
    """Whether the program, in the innermost frame that it has not left since `before`, is at an earlier place, or has come to
    the same one again."""
    count = common(before, now)
    return count > 0 and now[count - 1][2] <= before[count - 1][2]


class Loop:
    """Offsets in a function: of the first instruction of a loop, of its jump back, and of the first line of its body."""

    def __init__(self, code, begin, end, names):
        self.begin, self.end = begin, end
        lines = [offset for offset, _ in dis.findlinestarts(code) if begin < offset <= end]
        # A `for` loop begins with what gets the next item; a `while` loop has its condition at the end.
        self.body = lines[0] if names[begin] == "FOR_ITER" and lines else begin

    def has(self, offset):
        return self.begin <= offset <= self.end


@functools.lru_cache(maxsize=None)
def _loops(code):
    """The loops of a function, innermost first."""
    jumps = set(dis.hasjrel) | set(dis.hasjabs)
    found, names = {}, {}
    for instruction in dis.get_instructions(code):
        target = instruction.argval
        names[instruction.offset] = instruction.opname
        if instruction.opcode in jumps and isinstance(target, int) and target < instruction.offset:
            found[target] = max(found.get(target, 0), instruction.offset)
    return [Loop(code, begin, end, names) for begin, end in sorted(found.items(), reverse=True)]


def find(earlier, step, frame):
    """The training loop, and the frame that is in it; None if there is none. `step` is the position of `frame`."""
    frames = stack(frame)
    for index in range(common(earlier, step) - 1, -1, -1):
        for loop in _loops(step[index][1]):
            if loop.has(earlier[index][2]) and loop.has(step[index][2]):
                return frames[index], loop
    return None


class Lines:
    """Calls a function when a loop comes round, before its body does anything. By sys.settrace, which costs a little for each call
    of a Python function; so it is on only from the optimizer's step to the end of the iteration."""

    def __init__(self, come_round, left):
        self.come_round = come_round
        self.left = left  # called when the loop comes to its head, or is left; its frame still has all that is in it
        self.frame = None
        self.loop = None

    def watch(self, frame, loop):
        """False if a debugger has the place."""
        if sys.gettrace() is not None:
            return False
        self.frame, self.loop = frame, loop
        frame.f_trace = self._line
        frame.f_trace_lines = True
        sys.settrace(self._call)
        return True

    def end(self):
        if self.frame is not None:
            self.frame.f_trace = None
            self.frame = None
            sys.settrace(None)

    @staticmethod
    def _call(_frame, _event, _argument):
        return None

    def _line(self, frame, event, _argument):
        at = frame.f_lasti
        if event == "return":
            self.end()
            self.left()
        elif event == "line" and at == self.loop.body:
            self.end()
            self.come_round()
        elif event == "line" and (at == self.loop.begin or not self.loop.has(at)):
            self.left()
        return self._line if self.frame is not None else None
