"""What is assumed of a choice that depends on weights: which experts a router sends a token to, in which order something is, which is the
largest. The rows CHOICE, ORDER, PICK, DRAW and WEIGHTS of src/common/policy.def say what; docs/values.md says why. Choices among many (anchors of
a detector, words of a vocabulary) are not assumed. What the program ruled out (scores that are known, as -inf or as no more than what the
others are at least) comes last, if there is anything else."""

import os

from . import host

MOST = 512  # of what there is to choose from
_RULES = ("balanced", "one")


def _rule():
    rule = os.environ.get("PLIMSOLL_ASSUME_ROUTE") or _RULES[0]
    return rule if rule in _RULES else None


class Scores:
    """What a choice is made by: its sizes, and what is known of it. `bounded`: what is not known is not negative. `others`: the tensors that
    the operator is given beside it."""

    def __init__(self, described, bounded=False, others=()):
        self.described, self.bounded, self.shape, self.others = described, bounded, described[2], others

    def standing(self, torch, largest, dimension):
        """Of each element, along the dimension that is then the last: 1 ruled out, -1 before all others, 0 as good as others; None: of all
        of them the last."""
        if len(self.described) < 5 or not self.described[4]:
            return None
        known, values = host.mask_of(self.described), host.tensor_of(self.described)
        low, high = values == -float("inf"), values == float("inf")
        if self.bounded:
            low = low | (values <= 0)
        least, most = (low, high) if largest else (high, low)
        standing = ((known & least).to(torch.int8) - (known & most).to(torch.int8)).movedim(dimension, -1)
        return standing if bool(standing.any()) else None


def _at(arguments, place, otherwise):
    return arguments[place] if len(arguments) > place and arguments[place] is not None else otherwise


class Choice:
    row = "CHOICE"  # of LEAVES in the policy

    def __init__(self, rule, scores, dimension, count, largest):
        self.rule, self.scores, self.dimension, self.count, self.largest = rule, scores, dimension, count, largest
        self.among = scores.shape[dimension]

    @classmethod
    def of(cls, scores, arguments):
        """Of topk(scores, k, dim, largest, ...); None: nothing is assumed of it."""
        count, dimension, shape = arguments[0], _at(arguments, 1, -1), scores.shape
        rule = _rule()
        if rule is None or not shape or not 0 < count < shape[dimension] <= MOST:
            return None
        return cls(rule, scores, dimension, count, _at(arguments, 2, True))

    def put(self, torch, place):
        if not place.numel() or place.shape[self.dimension] != self.count:
            return False
        rows = place.movedim(self.dimension, -1)
        number = rows.numel() // self.count
        first = torch.arange(number if self.rule == "balanced" else 1) * self.count
        standing = self.scores.standing(torch, self.largest, self.dimension)
        if standing is None:
            chosen = (first[:, None] + torch.arange(self.count)) % self.among
        else:
            chosen = self.admitted(torch, standing.reshape(number, self.among), first[:, None])
        rows.copy_(chosen.expand(number, self.count).reshape(rows.shape))
        return True

    def admitted(self, torch, standing, first):
        """In turns among those of a row that are as good as others; after what is before all others, and before what is ruled out."""
        order = standing.argsort(stable=True, dim=-1)
        before, good = (standing < 0).sum(-1, keepdim=True), (standing == 0).sum(-1, keepdim=True)
        place = torch.arange(self.count).expand(len(standing), self.count)
        turned = before + (first + place - before) % good.clamp(min=1)
        return order.gather(-1, torch.where((place >= before) & (self.count - before <= good), turned, place))


class Order:
    """Numbers in the order that is there, from a first one on."""

    rule = ""

    def __init__(self, row, dimension, first=0, among=None, scores=None, descending=False):
        self.row, self.dimension, self.first, self.among = row, dimension, first, among
        self.scores, self.descending = scores, descending

    @classmethod
    def of(cls, scores, arguments):
        """Of sort(scores, ..., dim, descending) or randperm(count, ...)."""
        if not _rule() or not scores.shape:
            return None
        return cls("ORDER", arguments[-2] if len(scores.shape) > 1 else 0, scores=scores, descending=arguments[-1])

    @classmethod
    def drawn(cls, scores, arguments):
        """Of multinomial(scores, ...): from the middle on."""
        return cls("DRAW", -1, scores.shape[-1] // 2, scores.shape[-1]) if _rule() and scores.shape else None

    def put(self, torch, place):
        if not place.numel():
            return False
        rows = place.movedim(self.dimension, -1)
        count = rows.shape[-1]
        standing = self.scores.standing(torch, True, self.dimension) if self.scores else None
        if standing is None:
            rows.copy_(((self.first + torch.arange(count)) % (self.among or count)).expand(rows.shape))
        else:
            rows.copy_(standing.argsort(stable=True, dim=-1, descending=not self.descending))
        return True


class Pick:
    """The first that is not ruled out. Where none is, nothing is assumed: it reads as the first of all."""

    row, rule = "PICK", ""

    def __init__(self, standing, dimension):
        self.standing, self.dimension = standing, dimension

    @classmethod
    def _of(cls, scores, arguments, largest):
        if not _rule() or not scores.shape:
            return None
        dimension = _at(arguments, 0, None)
        standing = scores.standing(host.torch, largest, -1 if dimension is None else dimension)
        return None if standing is None else cls(standing, dimension)

    @classmethod
    def largest(cls, scores, arguments):
        """Of argmax(scores, dim, keepdim) or max(scores, dim, keepdim)."""
        return cls._of(scores, arguments, True)

    @classmethod
    def smallest(cls, scores, arguments):
        return cls._of(scores, arguments, False)

    def put(self, torch, place):
        standing = self.standing.reshape(1, -1) if self.dimension is None else self.standing.reshape(-1, self.standing.shape[-1])
        if place.numel() != len(standing):
            return False
        place.copy_(standing.argsort(stable=True, dim=-1)[:, 0].reshape(place.shape))
        return True


class Weights:
    """What a router puts where it chose: numbers that are not 0, as single ones are not."""

    row, rule, small = "WEIGHTS", "", 2.0**-10

    def __init__(self, into, dimension, places):
        self.into, self.dimension, self.places = into, dimension, places

    @classmethod
    def put_into(cls, into, arguments):
        """Of scatter(into, dim, index, src)."""
        known = all(len(tensor) > 4 and 0 not in tensor[4] for tensor in (into.described, into.others[0]))
        if not _rule() or not known or not host.is_floating(into.described):
            return None
        return cls(host.tensor_of(into.described).clone(), arguments[0], host.tensor_of(into.others[0]).clone())

    def put(self, torch, place):
        if place.shape != self.into.shape:
            return False
        place.copy_(self.into.scatter(self.dimension, self.places, self.small))
        return True


ASSUMED = Choice, Order, Pick, Weights
# By the name of the operator that the card has: (its scores, other arguments) → what is assumed.
KINDS = {"aten::topk": Choice.of, "aten::sort": Order.of, "aten::sort.stable": Order.of,
         "aten::randperm.generator_out": Order.of, "aten::multinomial": Order.drawn,
         "aten::argmax": Pick.largest, "aten::max.dim": Pick.largest, "aten::argmin": Pick.smallest, "aten::min.dim": Pick.smallest,
         "aten::scatter.src": Weights.put_into, "aten::scatter_.src": Weights.put_into}
