"""A pytest plug-in: limits the GPU memory of a test.

    @pytest.mark.gpu_memory(max="2 GiB")
    def test_training_step(): ...

The test fails if PyTorch's allocator reserves more than that on any device, from the set-up of the test's fixtures to
its end. `what="allocated"` limits what the allocator hands out instead. Without a GPU, virtual or real, the test is
skipped: `plimsoll run --until-exit -- pytest` gives it a virtual one. docs/pytest.md tells more.

PyTorch is imported only if there are such tests.
"""

import gc
import os
import re

import pytest

_MARK = "gpu_memory"
_WHATS = ("reserved", "allocated")
_POWERS = "kmgt"
_SIZE = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*([%s]?)(i?b)?" % _POWERS, re.IGNORECASE)


def parse_size(value):
    """Bytes of "2 GiB", "2g" (the same), "2GB" (decimal), or of a number."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        value = str(value)
    match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if not match or ((match[3] or "").lower() == "ib" and not match[2]):
        raise ValueError("%r is not a size; write \"2 GiB\", \"2GB\" or bytes" % (value,))
    if not match[2] and not match[3] and 0 < float(match[1]) < 1000000:  # nobody means 2 bytes
        raise ValueError("%s of what? Write \"%s GiB\", \"%s GB\" or \"%s MiB\"" % ((match[1],) * 4))
    unit = 1000 if match[2] and (match[3] or "").lower() == "b" else 1024
    power = _POWERS.index(match[2].lower()) + 1 if match[2] else 0
    return int(float(match[1]) * unit**power) if "." in match[1] else int(match[1]) * unit**power


def show_size(count):
    """As plimsoll's reports show it."""
    value, units = count / 1024, ["KiB", "MiB", "GiB", "TiB"]
    while value >= 1023.95 and len(units) > 1:  # what one decimal would show as 1024.0
        value /= 1024
        del units[0]
    return "%.1f %s" % (value, units[0]) if count >= 1024 else "%d B" % count


class Limit:
    """What a mark asks for. Raises ValueError with a sentence if that is not clear."""

    def __init__(self, mark):
        unknown = sorted(set(mark.kwargs) - {"max", "what"})
        if mark.args or unknown or "max" not in mark.kwargs:
            raise ValueError("it takes max=\"2 GiB\" and what=\"reserved\" or \"allocated\"")
        self.max = parse_size(mark.kwargs["max"])
        self.what = mark.kwargs.get("what", "reserved")
        if self.what not in _WHATS:
            raise ValueError("what=%r: it is \"reserved\" or \"allocated\"" % (self.what,))

    def peaks(self, torch):
        ask = torch.cuda.max_memory_reserved if self.what == "reserved" else torch.cuda.max_memory_allocated
        return [ask(device) for device in range(torch.cuda.device_count())]

    def verdict(self, before, peaks):
        """A sentence if the largest peak is too much."""
        device = max(range(len(peaks)), key=peaks.__getitem__)
        if peaks[device] <= self.max:
            return None
        # The answer in the first words: pytest cuts its summary at the width of the terminal.
        text = "%s %s, limit %s: %s of GPU memory too much" % (
            self.what, show_size(peaks[device]), show_size(self.max), show_size(peaks[device] - self.max))
        if len(peaks) > 1:
            text += ", on device %d" % device
        if before[device]:
            text += "; %s of it were there before the test" % show_size(before[device])
        return text


def _cuda():
    """PyTorch with a GPU that can be used; otherwise why there is none."""
    try:
        import torch
    except Exception as error:  # PyTorch 2.6 raises ValueError where it finds no CUDA libraries
        return None, "PyTorch cannot be imported (%s)" % error
    if not torch.cuda.is_available():
        return None, "there is no GPU, virtual or real"
    torch.cuda.init()
    return torch, None


_LIMIT = pytest.StashKey()   # Limit of an item
_BEFORE = pytest.StashKey()  # peaks at its start, one per device; only while it is measured


def pytest_configure(config):
    config.addinivalue_line(
        "markers", _MARK + "(max, what=\"reserved\"): the test fails if it takes more GPU memory, for instance max=\"2 GiB\"")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    marked = [item for item in items if item.get_closest_marker(_MARK)]
    for item in marked:
        try:
            item.stash[_LIMIT] = Limit(item.get_closest_marker(_MARK))
        except ValueError as error:
            raise pytest.UsageError("%s: gpu_memory: %s" % (item.nodeid, error))
    # A run that stops after some optimizer steps would end the session in the middle of a test.
    if marked and os.environ.get("PLIMSOLL_RECORD") and os.environ.get("PLIMSOLL_STOP_AFTER", "0") != "0":
        raise pytest.UsageError("plimsoll would end the tests after a few optimizer steps: "
                                "write `plimsoll run --until-exit -- pytest`")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    limit = item.stash.get(_LIMIT, None)
    if limit is None:
        return
    torch, reason = _cuda()
    if torch is None:
        pytest.skip("gpu_memory needs a GPU: %s; `plimsoll run --until-exit -- pytest` gives a virtual one" % reason)
    gc.collect()  # what earlier tests left behind is not this test's
    torch.cuda.empty_cache()
    for device in range(torch.cuda.device_count()):
        torch.cuda.reset_peak_memory_stats(device)
    item.stash[_BEFORE] = limit.peaks(torch)


# After pytest's own, which runs the test; not called if that raised.
@pytest.hookimpl(trylast=True)
def pytest_runtest_call(item):
    before = item.stash.get(_BEFORE, None)
    if before is None:
        return
    import torch

    limit = item.stash[_LIMIT]
    sentence = limit.verdict(before, limit.peaks(torch))
    if sentence:
        pytest.fail(sentence, pytrace=False)
