"""Checks a snapshot with PyTorch's own torch/cuda/_memory_viz.py. Runs on a Python that has PyTorch.

    snapshot.py sound SNAPSHOT                prints {"allocated": [per device], "reserved": [...], "modules": N} as JSON
    snapshot.py same OWN SNAPSHOT             OWN is what torch.cuda.memory._dump_snapshot wrote at the end of the job
    snapshot.py viewer SNAPSHOT FOLDER        the sub-commands of _memory_viz; what they write goes to FOLDER
"""
import base64
import importlib.util
import json
import pickle
import subprocess
import sys
from pathlib import Path

# Without importing torch, which would want the CUDA libraries.
VIZ = Path(importlib.util.find_spec("torch").submodule_search_locations[0]) / "cuda" / "_memory_viz.py"


def module():
    spec = importlib.util.spec_from_file_location("memory_viz", VIZ)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:2] == b"\x80\x04", "it is not a pickle of protocol 4"
    return pickle.loads(data)


def check_segment(segment):
    at = segment["address"]
    for block in segment["blocks"]:
        assert block["address"] == at and block["size"] > 0, f"a gap or an overlap in segment {segment['address']:#x}"
        assert block["state"] in ("active_allocated", "inactive")
        at += block["size"]
    assert at == segment["address"] + segment["total_size"], f"segment {segment['address']:#x} is not filled"
    active = sum(b["size"] for b in segment["blocks"] if b["state"] == "active_allocated")
    assert active == segment["allocated_size"] == segment["active_size"]


def replay(trace):
    """The blocks and the mapped bytes that the operations lead to; a viewer goes the same way backwards."""
    blocks, reserved = {}, 0
    for entry in trace:
        action = entry["action"]
        if action == "alloc":
            assert entry["addr"] not in blocks, "allocated twice"
            blocks[entry["addr"]] = entry["size"]
        elif action == "free_completed":
            assert blocks.pop(entry["addr"]) == entry["size"], "freed with another size"
        elif action in ("segment_alloc", "segment_map"):
            reserved += entry["size"]
        elif action in ("segment_free", "segment_unmap"):
            reserved -= entry["size"]
        else:
            assert action in ("free_requested", "oom"), action
    return blocks, reserved


def check_steps(notes):
    """Each step begins where the one before it ended: (name, begin, end), from START and END in pairs."""
    pairs = list(zip(notes[::2], notes[1::2]))
    assert [(a["stage"], b["stage"], a["name"] == b["name"]) for a, b in pairs] == [("START", "END", True)] * (len(notes) // 2)
    assert all(a["time_us"] <= b["time_us"] for a, b in pairs), "a step ends before it begins"
    assert all(b["time_us"] == a["time_us"] for (_, b), (a, _) in zip(pairs, pairs[1:])), "steps overlap"


def sound(path):
    snapshot = load(path)
    answer = {"allocated": [], "reserved": [], "modules": 0, "trace": 0}
    for segment in snapshot["segments"]:
        check_segment(segment)
    for device, trace in enumerate(snapshot["device_traces"]):
        segments = [s for s in snapshot["segments"] if s["device"] == device]
        live = {b["address"]: b["size"] for s in segments for b in s["blocks"] if b["state"] == "active_allocated"}
        blocks, reserved = replay(trace)
        assert blocks == live, "the operations do not lead to the blocks"
        assert reserved == sum(s["total_size"] for s in segments), "the operations do not lead to the segments"
        answer["allocated"].append(sum(live.values()))
        answer["reserved"].append(reserved)
        answer["trace"] += len(trace)
    for device in range(len(snapshot["device_traces"])):
        check_steps([note for note in snapshot["external_annotations"] if note["device"] == device])
    frames = [f for s in snapshot["segments"] for b in s["blocks"] for f in b["frames"]]
    answer["modules"] = len({f["name"] for f in frames if f["filename"] == "module"})
    print(json.dumps(answer))


def same(own_path, path):
    own, ours = load(own_path), load(path)

    def segments(snapshot):
        return sorted((s["address"], s["total_size"], s["segment_type"], s["is_expandable"]) for s in snapshot["segments"])

    def blocks(snapshot):
        return sorted((b["address"], b["size"]) for s in snapshot["segments"] for b in s["blocks"]
                      if b["state"] == "active_allocated")

    def trace(snapshot):
        return [(e["action"], e["addr"]) for e in snapshot["device_traces"][0]]

    assert len(segments(own)) >= 3 and len(blocks(own)) >= 8 and len(trace(own)) >= 100, "the job is too small to tell"
    assert segments(own) == segments(ours), f"segments differ\n{segments(own)}\n{segments(ours)}"
    assert blocks(own) == blocks(ours), "blocks differ"
    assert trace(own) == trace(ours), "operations differ"


def viewer(path, folder):
    folder, made = Path(folder), {}
    for command in ("stats", "trace", "trace_plot", "segment_plot"):
        output = ["-o", command] if command.endswith("plot") else []
        done = subprocess.run([sys.executable, str(VIZ), command, path, *output], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        made[command] = (folder / command).read_text() if output else done.stdout
    assert "total_reserved" in made["stats"] and "cudaMalloc" in made["trace"]
    assert all(len(made[plot]) > len(base64.b64encode(Path(path).read_bytes())) for plot in ("trace_plot", "segment_plot"))

    # The others pipe what they make into flamegraph.pl, which they would download; here it is kept as it is. The
    # sub-command `compare` fails with PyTorch's own snapshots as well: the function wants the segments.
    snapshot, viz, keep = load(path), module(), {"format_flamegraph": lambda lines: lines}
    total = sum(s["total_size"] for s in snapshot["segments"])
    for lines in (viz.memory(snapshot, **keep), viz.segments(snapshot, **keep), viz.compare([], snapshot["segments"], **keep)):
        assert sum(int(line.rsplit(" ", 1)[1]) for line in lines.splitlines()) == total > 0
        assert "phase:0:" in lines and "module:0:" in lines, "it does not say which module"


{"sound": sound, "same": same, "viewer": viewer}[sys.argv[1]](*sys.argv[2:])
