#!/usr/bin/env python3
"""Gets the packages that a lock file of npm names, web/package-lock.json unless another is given, into plimsoll's cache; prints the folder.

A package stays the archive that the registry gave. Whoever reads it checks the lock file's hash, so an archive
that was damaged or exchanged later is noticed too. Python's standard library alone; no node is needed.
"""
import base64
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOCK = HERE / "package-lock.json"
DEFAULT = "https://registry.npmjs.org"
SECONDS = 30


class Missing(Exception):
    """A package is not here and could not be fetched; the text says why."""


def cache():
    if os.environ.get("PLIMSOLL_CACHE"):
        return Path(os.environ["PLIMSOLL_CACHE"]) / "npm"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll" / "npm"


def registry():
    """Where npm on this machine would look."""
    for name in ("npm_config_registry", "NPM_CONFIG_REGISTRY"):
        if os.environ.get(name):
            return os.environ[name].rstrip("/")
    try:
        asked = subprocess.run(["npm", "config", "get", "registry"], capture_output=True, text=True, timeout=SECONDS)
        if asked.returncode == 0 and asked.stdout.strip().startswith(("http://", "https://")):
            return asked.stdout.strip().rstrip("/")
    except (OSError, subprocess.TimeoutExpired):
        pass
    return DEFAULT


def locked(lock=LOCK):
    """(name, version, integrity) of every package."""
    lock = json.loads(Path(lock).read_text())
    for path, entry in sorted(lock["packages"].items()):
        if path:
            yield path.rpartition("node_modules/")[2], entry["version"], entry["integrity"]


def matches(data, integrity):
    kind, _, value = integrity.partition("-")
    if kind != "sha512":
        raise Missing(f"a lock file has a hash that is not sha512: {integrity}")
    return base64.b64encode(hashlib.sha512(data).digest()).decode() == value


def archive(name, version):
    return cache() / f"{name.replace('/', '-')}-{version}.tgz"


def fetch(name, version, integrity, base):
    path = archive(name, version)
    url = f"{base}/{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
    print(f"plimsoll: fetching {name} {version} (once)", file=sys.stderr)
    try:
        with urllib.request.urlopen(url, timeout=SECONDS) as answer:
            data = answer.read()
    except OSError as error:
        raise Missing(f"{name} {version} could not be fetched: {getattr(error, 'reason', error)}")
    if not matches(data, integrity):
        raise Missing(f"{name} {version} is not what its lock file expects: its sha512 differs")
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_bytes(data)
    new.rename(path)


def fetch_all(lock=LOCK):
    base = None
    for name, version, integrity in locked(lock):
        path = archive(name, version)
        if path.exists() and matches(path.read_bytes(), integrity):
            continue
        base = base or registry()
        fetch(name, version, integrity, base)


def read(package, member):
    """The text of a file in a package, after its archive was checked."""
    name, version, integrity = next(entry for entry in locked() if entry[0] == package)
    path = archive(name, version)
    if not matches(path.read_bytes(), integrity):
        raise Missing(f"{path} is not what web/package-lock.json expects: its sha512 differs")
    with tarfile.open(path) as tar:
        return tar.extractfile(f"package/{member}").read().decode()


if __name__ == "__main__":
    try:
        fetch_all(*sys.argv[1:])
    except Missing as missing:
        sys.exit(f"plimsoll: {missing}")
    print(cache())
