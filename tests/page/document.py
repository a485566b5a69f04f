"""The document inside a page (docs/page.md), unpacked and checked against itself. Written apart from web/data.js, on purpose."""
import json
import re


def embedded(html):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)
    assert found, "the page holds no document"
    return json.loads(found[1])


def deltas(values):
    total, out = 0, []
    for value in values:
        total += value
        out.append(total)
    return out


def column(pairs, length, unit):
    out, value = [], 0
    for same, change in zip(pairs[::2], pairs[1::2]):
        out += [value] * same
        value += change * unit
        out.append(value)
    return out + [value] * (length - len(out))


class Lane:
    def __init__(self, page, packed):
        self.packed, self.unit = packed, packed["unit"]
        points = packed["points"]
        self.at, self.us = deltas(points["at"]), deltas(points["us"])
        self.length = len(self.at)
        self.phase = [page["phases"][int(digit)] for digit in points["phase"]]
        self.category = {name: column(pairs, self.length, self.unit) for name, pairs in zip(page["categories"], points["categories"])}
        self.allocated = [sum(column[i] for column in self.category.values()) for i in range(self.length)]
        self.reserved, self.used = (column(points[name], self.length, self.unit) for name in ("reserved", "used"))
        self.snapshots = list(self.unpack_snapshots(page["sites"]))

    def unpack_snapshots(self, sites):
        held = {}
        for packed in self.packed["snapshots"]:
            for key, change in zip(deltas(packed["holders"][::2]), packed["holders"][1::2]):
                held[key] = held.get(key, 0) + change * self.unit
            held = {key: size for key, size in held.items() if size}
            by_module = {}
            for site, size in held.items():
                key = sites["module"][site], sites["category"][site]
                by_module[key] = by_module.get(key, 0) + size
            yield {"point": packed["point"], "held": by_module, "sites": dict(held), "map": packed.get("map") and self.unpack_map(packed["map"])}

    def unpack_map(self, packed):
        merged = dict(zip(deltas(packed["merged"][::3]), zip(packed["merged"][1::3], packed["merged"][2::3])))
        segments, end, entry = [], 0, 0
        for distance, size, kind, blocks in zip(packed["address"], packed["bytes"], packed["kind"], packed["blocks"]):
            address, offset, inside = end + distance, 0, []
            for i in range(entry, entry + blocks):
                offset += packed["gap"][i]
                size_, count = merged.get(i, (packed["span"][i], 1))
                inside.append({"offset": offset * self.unit, "span": packed["span"][i] * self.unit, "bytes": size_ * self.unit, "count": count})
                offset += packed["span"][i]
            assert offset <= size and all(gap >= 0 for gap in packed["gap"][entry:entry + blocks]), "a block outside of its segment"
            entry += blocks
            end = address + size
            segments.append({"address": address * self.unit, "bytes": size * self.unit, "kind": kind, "blocks": inside})
        assert entry == len(packed["span"]) == len(packed["category"]) == len(packed["module"]) == len(packed["op"])
        return segments


def check_lane(page, packed, exact=True):
    lane = Lane(page, packed)
    if not packed["events"]:
        assert not lane.length
        return lane
    assert lane.at == sorted(set(lane.at)) and lane.at[-1] < packed["events"] and lane.us == sorted(lane.us)
    assert len(lane.phase) == lane.length <= 4200 + len(packed["steps"]["peak"]) and 1 <= len(lane.snapshots) <= 150
    peak = packed["at_peak"]["point"]
    assert lane.allocated[peak] == max(lane.allocated) == packed["peak"]["allocated"], "the peak is not among the points"
    assert any(snapshot["point"] == peak and snapshot["map"] for snapshot in lane.snapshots), "the peak has no map"
    for snapshot in lane.snapshots:
        here = snapshot["point"]
        assert sum(snapshot["held"].values()) == lane.allocated[here], f"modules do not sum up at point {here}"
        for number, name in enumerate(page["categories"]):
            assert sum(size for (_, kind), size in snapshot["held"].items() if kind == number) == lane.category[name][here]
        if snapshot["map"]:
            blocks = [block for segment in snapshot["map"] for block in segment["blocks"]]
            assert sum(block["bytes"] for block in blocks) == lane.allocated[here], f"blocks do not sum up at point {here}"
            assert all(block["bytes"] <= block["span"] for block in blocks) and len(blocks) <= 1200
            if exact:
                assert sum(segment["bytes"] for segment in snapshot["map"]) == lane.reserved[here], f"segments are not what is reserved at {here}"
    steps = packed["steps"]
    assert len(steps["allocated"]) == len(steps["reserved"]) == len(steps["end"]) == len(steps["peak"]) <= 4000
    assert -(-steps["count"] // steps["each"]) == len(steps["allocated"])
    if exact:
        drawn = dict(zip(lane.at, lane.allocated))
        assert [drawn[at] for at in steps["peak"]] == steps["allocated"], "the peak of a step is not among the points"
    return lane


class Track:
    def __init__(self, packed):
        self.begin, self.end, at = [], [], 0
        for gap, length in zip(packed["gap"], packed["ns"], strict=True):
            assert gap >= 0 and length >= 0, "pieces of a track overlap"
            self.begin.append(at + gap)
            at += gap + length
            self.end.append(at)
        self.us, self.kind, self.length = deltas(packed["us"]), packed["kind"], len(packed["ns"])
        assert len(self.us) == len(self.kind) == self.length and self.us == sorted(self.us)
        merged = dict(zip(deltas(packed["merged"][::3]), zip(packed["merged"][1::3], packed["merged"][2::3])))
        assert all(entry < self.length and count > 1 for entry, (count, _) in merged.items())
        self.count = [merged.get(i, (1, 0))[0] for i in range(self.length)]
        self.busy = [merged[i][1] if i in merged else self.end[i] - self.begin[i] for i in range(self.length)]
        self.waits = dict(zip(deltas(packed.get("waits", [])[::2]), packed.get("waits", [])[1::2]))


class StepTime:
    """The modelled step of a lane, checked against itself."""

    def __init__(self, page, lane):
        self.packed = packed = lane["time"]
        self.host = Track(packed["calls_of_host"])
        self.streams = {stream["stream"]: Track(stream) for stream in packed["streams"]}
        assert len(self.streams) == len(packed["streams"])
        assert sum(self.host.count) == packed["calls"] and sum(sum(track.count) for track in self.streams.values()) == packed["spans"]
        for track in (self.host, *self.streams.values()):
            assert track.length == 0 or track.end[-1] <= packed["length"] + 1
            assert all(busy <= end - begin + 1 for busy, begin, end in zip(track.busy, track.begin, track.end))
        assert packed["low"] <= packed["step"] <= packed["high"] and packed["busy"] <= packed["step"] + 1
        assert abs(sum(packed["bound"].values()) - packed["step"]) <= 10, "what bounds the step is not all of it"
        assert all(0 <= value <= 1 for value in packed["metrics"].values())


def check_time(page):
    time = page["time"]
    if "card" not in time:
        assert time["why"] and not any("time" in lane for lane in page["lanes"])
        return
    kinds = time["kinds"]
    assert len({len(column) for column in kinds.values()}) == 1 and len(kinds["name"]) <= 4000
    assert max(kinds["name"] + kinds["module"] + kinds["kernel"]) < len(time["names"])
    steps = [StepTime(page, lane) for lane in page["lanes"] if "time" in lane]
    used = [kind for step in steps for track in (step.host, *step.streams.values()) for kind in track.kind]
    assert steps and max(used) < len(kinds["name"]) and len(used) <= 20000


def check_sites(page):
    sites = page["sites"]
    assert len({len(column) for column in sites.values()}) == 1 and len(sites["module"]) <= 6000 + 10 * len(page["modules"])
    assert max(sites["module"], default=0) < len(page["modules"]) and max(sites["op"], default=0) < len(page["ops"])
    assert max(sites["line"], default=0) < len(page["lines"]) and page["lines"][0] == ""
    folded = [module for fold in page["folds"] for module in fold["modules"]]
    assert len(folded) == len(set(folded)) and max(folded, default=0) < len(page["modules"])


def check(page, exact=True):
    check_sites(page)
    assert page["schema"] == "plimsoll.page/1" and len(page["categories"]) == 10 and len(page["modules"]) <= 1200
    usable = [gpu["usable"] for gpu in page["gpus"]]
    assert usable == sorted(usable) and len(usable) > 60
    low, high = (max(lane[name] for lane in page["lanes"]) for name in ("low", "high"))
    for gpu in page["gpus"]:
        assert gpu["verdict"] == ("fits" if high <= gpu["usable"] else "tight" if low <= gpu["usable"] else "no")
    check_time(page)
    return [check_lane(page, lane, exact) for lane in page["lanes"]]
