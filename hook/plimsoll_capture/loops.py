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


@functools.lru_cache(maxsize=None)
def _loops(code):
    """The loops of a function: (offset of the first instruction, of the jump back), innermost last."""
    jumps = set(dis.hasjrel) | set(dis.hasjabs)
    found = {}
    for instruction in dis.get_instructions(code):
        target = instruction.argval
        if instruction.opcode in jumps and isinstance(target, int) and target < instruction.offset:
            found[target] = max(found.get(target, 0), instruction.offset)
    return sorted(found.items())


def _has_loop(code, first, last):
    low, high = min(first, last), max(first, last)
    return any(begin <= low and high <= end for begin, end in _loops(code))


def find(earlier, step, frame):
    """The frame of the training loop and an offset in it: whoever gets to that offset or one before it begins the next iteration.
    None if there is no such loop. `step` is the position of `frame`."""
    frames = stack(frame)
    for index in range(common(earlier, step) - 1, -1, -1):
        first, last = earlier[index][2], step[index][2]
        if _has_loop(step[index][1], first, last):
            return frames[index], min(first, last)
    return None


class Lines:
    """Calls a function when a loop comes round, before it does anything else. By sys.settrace, which costs a little for each call
    of a Python function; so it is on only from the optimizer's step to the end of the iteration."""

    def __init__(self, act):
        self.act = act
        self.frame = None
        self.offset = -1

    def watch(self, frame, offset):
        """False if a debugger has the place."""
        if sys.gettrace() is not None:
            return False
        self.frame, self.offset = frame, offset
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
        if event == "line" and frame.f_lasti <= self.offset:
            self.end()
            self.act()
            return None
        if event == "return":  # the loop was left some other way
            self.end()
            return None
        return self._line
