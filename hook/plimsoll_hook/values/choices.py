"""What is assumed of a choice that depends on weights: which experts a router sends a token to, and in which order something is.
The rows CHOICE, ORDER and DRAW of src/common/policy.def say what; docs/values.md says why. Choices among many (anchors of a detector,
words of a vocabulary) are not assumed."""

import os

MOST = 512  # of what there is to choose from
_RULES = ("balanced", "one")


def _rule():
    rule = os.environ.get("PLIMSOLL_ASSUME_ROUTE") or _RULES[0]
    return rule if rule in _RULES else None


class Choice:
    row = "CHOICE"  # of LEAVES in the policy

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


class Order:
    """Numbers in the order that is there, from a first one on."""

    rule = ""

    def __init__(self, row, dimension, first=0, among=None):
        self.row, self.dimension, self.first, self.among = row, dimension, first, among

    @classmethod
    def of(cls, shape, arguments):
        """Of sort(shape, ..., dim, descending) or randperm(count, ...)."""
        return cls("ORDER", arguments[-2] if len(shape) > 1 else 0) if _rule() and shape else None

    @classmethod
    def drawn(cls, shape, arguments):
        """Of multinomial(shape, ...): from the middle on."""
        return cls("DRAW", -1, shape[-1] // 2, shape[-1]) if _rule() and shape else None

    def put(self, torch, place):
        if not place.numel():
            return False
        rows = place.movedim(self.dimension, -1)
        count = rows.shape[-1]
        rows.copy_(((self.first + torch.arange(count)) % (self.among or count)).expand(rows.shape))
        return True


ASSUMED = Choice, Order
# By the name of the operator that the card has: (shape of its first tensor, other arguments) → what is assumed.
KINDS = {"aten::topk": Choice.of, "aten::sort": Order.of, "aten::sort.stable": Order.of,
         "aten::randperm.generator_out": Order.of, "aten::multinomial": Order.drawn}
