#!/usr/bin/env python3
"""Runs the cases of cases.tsv: whole training scripts under plimsoll, on a real PyTorch.

Environment as tests/run gives it. For every case: the exit status is the expected one, the report names no library of
NVIDIA's and no refused call unless expected, none of NVIDIA's libraries is mapped in any process of the job (looked up in
/proc while it runs), and the peaks equal, to the byte, those in tests/golden/e2e-<torch>.tsv. `run.py --update`
writes that file from what it measures. PLM_GOLDEN=FILE writes another and compares with none (tools/torch does).

The `expect` column holds words: exit=N (status of plimsoll, default 0), steps=N, has=TEXT (in the output; _ is a blank),
allocated=MIB and reserved=MIB (peaks of the first device, within half a MiB), host=MIB (most memory that a process of the job
may take on the host), loose (peaks may differ by 1 %: the job's threads race), reserved-races (only
the reserved peak may differ, by 20 %: when the autograd thread frees during a capture decides how far a private pool grows), refused (calls may be refused), nopeak (peaks
are not compared).
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = Path(os.environ.get("PLM_SOURCE", HERE.parent.parent))
BUILD = Path(os.environ.get("PLM_BUILD", SOURCE / "build"))
TORCH = os.environ.get("PLM_TORCH", "2.15.0")
PYTHON = os.environ["PLM_TEST_PYTHON"]
TIMEOUT = 400
NVIDIA = re.compile(r"/lib(cuda|cudart|cublas|cublasLt|cudnn|cufft|cufile|cupti|curand|cusolver|cusparse|cusparseLt|nccl|"
                    r"nvidia-ml|nvJitLink|nvjpeg|nvrtc|nvshmem_host|nvToolsExt)[\w.-]*\.so")


def read_cases():
    for line in (HERE / "cases.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            fields = line.split("\t")
            if len(fields) != 8:
                sys.exit(f"cases.tsv: {len(fields)} fields: {line}")
            yield dict(zip(("name", "script", "arguments", "options", "environment", "torch", "expect", "tier"), fields))


def words(text):
    return [] if text == "-" else text.split()


def wanted(case):
    version = TORCH.split("-")[0]
    tier = os.environ.get("PLM_TIER", "fast")
    return ((case["torch"] == "all" or version in case["torch"].split(","))
            and (tier == "full" or case["tier"] == "fast")
            and os.environ.get("PLM_PATTERN", "") in case["name"])


class Watch(threading.Thread):
    """Looks at the memory maps of a job's processes while they run."""

    def __init__(self, record):
        super().__init__(daemon=True)
        self.mark = f"PLIMSOLL_RECORD={record}".encode()
        self.foreign = set()
        self.host = 0  # MiB, the largest process
        self.over = threading.Event()

    def run(self):
        while not self.over.wait(0.25):
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    if self.mark in Path(f"/proc/{pid}/environ").read_bytes():
                        self.look(Path(f"/proc/{pid}/maps").read_text())
                        most = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
                        self.host = max(self.host, int(most[1]) // 1024 if most else 0)
                except OSError:
                    pass

    def look(self, maps):
        for line in maps.splitlines():
            path = line.split(None, 5)[-1]
            if NVIDIA.search(path) and str(BUILD) not in path and "memfd:plimsoll-" not in path:
                self.foreign.add(path)


def run_case(case, folder):
    record, report = folder / "job.plm", folder / "report.json"
    # A script may be "-m torch.distributed.run ... script.py": words as they stand.
    # Three steps and one assumption unless the case says otherwise: what is compared is that run, not the rule when to stop.
    options = words(case["options"])
    for option, value in (("--steps", "3"), ("--assume", "all=false")):
        options += [option, value] if option not in options else []
    command = [str(BUILD / "plimsoll"), "run", *options, "-o", str(record), "--json", str(report), "--",
               PYTHON, *case["script"].split(), *words(case["arguments"])]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1", "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
                   "TRITON_CACHE_DIR": str(folder / "triton"), "TOKENIZERS_PARALLELISM": "false",
                   # The cases are about the device. What the formula adds has tests of its own (tests/groups/stack).
                   "PLIMSOLL_CONV_WORKSPACE": "none",
                   **dict(word.split("=", 1) for word in words(case["environment"]))}
    watch = Watch(record)
    watch.start()
    try:
        done = subprocess.run(command, cwd=HERE / "workloads", env=environment, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, timeout=TIMEOUT, errors="replace")
        status, output = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired as expired:
        status, output = "none: timed out", str(expired.stdout)[-3000:] + str(expired.stderr)[-3000:]
    watch.over.set()
    watch.join()
    document = json.loads(report.read_text()) if report.exists() and report.stat().st_size else None
    return status, output, document, watch


def judge(case, status, output, document, watch, golden):
    """Yields what is wrong."""
    expect = dict(word.partition("=")[::2] for word in words(case["expect"]))
    if str(status) != expect.get("exit", "0"):
        yield f"exit status {status}, expected {expect.get('exit', '0')}"
    if "has" in expect and expect["has"].replace("_", " ") not in output:
        yield f"the output lacks '{expect['has'].replace('_', ' ')}'"
    if watch.foreign:
        yield f"libraries of NVIDIA's are mapped: {', '.join(sorted(watch.foreign))}"
    if "host" in expect and not 0 < watch.host <= int(expect["host"]):
        yield f"{watch.host} MiB of host memory, expected at most {expect['host']}"
    if document is None:
        yield "no report"
        return
    if "steps" in expect and document["job"]["steps"] != int(expect["steps"]):
        yield f"{document['job']['steps']} steps"
    if not document["devices"]:
        yield "no device in the report"
        return
    refused = {item["symbol"] for item in document["devices"][0]["unmodelled"]}
    if refused and "refused" not in expect:
        yield f"refused: {', '.join(sorted(refused))}"
    for name in ("allocated", "reserved"):
        mib = document["devices"][0]["peak"][name] / 2**20
        if name in expect and abs(mib - float(expect[name])) > 0.5:
            yield f"{mib:.1f} MiB {name}, expected {expect[name]}"
    if "nopeak" in expect:
        return
    have = peaks(document)
    want = golden.get(case["name"])
    if want is None:
        yield f"no golden figure; measured {have} (run.py --update writes it)"
    elif len(have) != len(want):
        yield f"{len(have)} devices, golden has {len(want)}"
    else:
        loose = 0.01 if "loose" in expect else 0
        slack = (loose, 0.2 if "reserved-races" in expect else loose)
        for mine, theirs in zip(have, want):
            if any(abs(a - b) > s * b for a, b, s in zip(mine, theirs, slack)):
                yield f"allocated, reserved = {mine}, golden {theirs}"


def peaks(document):
    return [(device["peak"]["allocated"], device["peak"]["reserved"]) for device in document["devices"]]


def golden_path():
    return Path(os.environ.get("PLM_GOLDEN") or SOURCE / "tests" / "golden" / f"e2e-{TORCH.split('-')[0]}.tsv")


def read_golden():
    figures = {}
    if golden_path().exists():
        for line in golden_path().read_text().splitlines():
            if not line.startswith("#"):
                name, *rest = line.split("\t")
                figures[name] = [tuple(map(int, pair.split("/"))) for pair in rest]
    return figures


def write_golden(figures):
    order = [case["name"] for case in read_cases()]
    lines = ["# Peaks in bytes, allocated/reserved, a column per rank and device. Written by tests/e2e/run.py --update."]
    lines += ["\t".join([name, *(f"{a}/{r}" for a, r in figures[name])]) for name in order if name in figures]
    golden_path().write_text("\n".join(lines) + "\n")


def main():
    update = "--update" in sys.argv or "PLM_GOLDEN" in os.environ
    golden = read_golden()
    cases = [case for case in read_cases() if wanted(case)]
    tmp = Path(tempfile.mkdtemp(dir=os.environ.get("PLM_TMP")))

    def one(case):
        folder = tmp / case["name"]
        folder.mkdir()
        start = time.monotonic()
        result = run_case(case, folder)
        return case, result, time.monotonic() - start

    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("PLM_JOBS", "2"))) as pool:
        for future in concurrent.futures.as_completed([pool.submit(one, case) for case in cases]):
            case, (status, output, document, watch), seconds = future.result()
            if update and document and document["devices"] and "nopeak" not in case["expect"]:
                golden[case["name"]] = peaks(document)
            wrong = list(judge(case, status, output, document, watch, golden))
            if wrong:
                print(f"not ok e2e/{TORCH}/{case['name']} - {'; '.join(wrong)}")
                for line in output.splitlines()[-25:]:
                    print("   ", line)
            else:
                print(f"ok e2e/{TORCH}/{case['name']}", flush=True)
                if update:
                    write_golden(golden)
            if os.environ.get("PLM_VERBOSE"):
                print(f"    {seconds:.1f} s {peaks(document) if document else ''}", flush=True)
            sys.stdout.flush()


main()
