"""What is assumed of a choice that depends on weights: which experts a router sends a token to.

`topk` of scores that nobody computed, among a few, is taken to choose them in turns: row r gets the k that follow those of row
r - 1. That is what a router is trained for. `--assume route=one` has all rows choose the first k, the other end; `route=none`
leaves the choice unknown. Choices among many (anchors of a detector, words of a vocabulary) are not assumed."""

import os

MOST = 512  # of what there is to choose from
_RULES = ("balanced", "one")


def chooses(qualified, overload_name):
    return qualified == "aten::topk" and not overload_name


def _rule():
    rule = os.environ.get("PLIMSOLL_ASSUME_ROUTE") or _RULES[0]
    return rule if rule in _RULES else None


class Choice:
    def __init__(self, rule, among, dimension, count):
        self.rule, self.among, self.dimension, self.count = rule, among, dimension, count

    @classmethod
    def of(cls, shape, arguments):
        """Of topk(shape, k, dim, ...); None: nothing is assumed of it."""
        count, dimension = arguments[0], arguments[1] if len(arguments) > 1 and arguments[1] is not None else -1
        rule = _rule()
        if rule is None or not shape or not 0 < count < shape[dimension] <= MOST:
            return None
        return cls(rule, shape[dimension], dimension, count)

    def put(self, torch, place):
        if not place.numel() or place.shape[self.dimension] != self.count:
            return False
        rows = place.movedim(self.dimension, -1)
        first = torch.arange(rows.numel() // self.count if self.rule == "balanced" else 1) * self.count
        chosen = (first[:, None] + torch.arange(self.count)) % self.among
        rows.copy_(chosen.expand(rows.numel() // self.count, self.count).reshape(rows.shape))
        return True
