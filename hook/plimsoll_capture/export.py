"""Writes the profiler's trace. The file appears when it is whole."""

import gzip
import os
import shutil

_FAST = 1  # gzip: a trace of 300 MB takes a second a level; what it saves is small


def _pack(plain, packed):
    with open(plain, "rb") as source, gzip.open(packed, "wb", compresslevel=_FAST) as target:
        shutil.copyfileobj(source, target, 1 << 20)


def write(profiler, path, pack):
    plain = f"{path}.{os.getpid()}.json"
    packed = f"{path}.{os.getpid()}.gz"
    try:
        profiler.export_chrome_trace(plain)
        if not os.path.exists(plain):  # it says nothing when a disk is full
            raise OSError("PyTorch's profiler could not write its file; is the disk full?")
        if pack:
            _pack(plain, packed)
            os.replace(packed, path)
        else:
            os.replace(plain, path)
    finally:
        for rest in (plain, packed):
            if os.path.exists(rest):
                os.unlink(rest)
