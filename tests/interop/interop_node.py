"""Installs the npm packages of a folder of programs.

They are installed again only if the folder's package-lock.json has changed.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

NODE_FOLDER = Path(__file__).parent / "js"
_OLDEST_NODE = 20
_INSTALL_SECONDS = 180.0


@functools.cache
def node_is_missing(folder: Path = NODE_FOLDER) -> str | None:
    """Installs the packages. Returns why the programs cannot run, or None if they can."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return "Node.js with npm is not installed"
    version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip()
    if int(version.lstrip("v").split(".")[0]) < _OLDEST_NODE:
        return f"Node.js {_OLDEST_NODE} is needed, this is {version}"
    with open(folder / "package-lock.json", "rb") as versions:
        # Test processes run at the same time, and `npm ci` first removes what another has installed.
        fcntl.flock(versions, fcntl.LOCK_EX)
        digest = hashlib.sha256(versions.read()).hexdigest()
        stamp = folder / "node_modules" / ".installed"
        if stamp.exists() and stamp.read_text() == digest:
            return None
        failure = _install(folder)
        if failure is None:
            stamp.write_text(digest)
        return failure


def _install(folder: Path) -> str | None:
    what = f"installing the npm packages of tests/interop/{folder.name}"
    print(what, file=sys.stderr, flush=True)
    # Without these, npm retries for minutes if there is no network.
    retry_limits = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000"]
    command = [
        "npm",
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
        *retry_limits,
    ]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_INSTALL_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"npm ci took more than {_INSTALL_SECONDS:.0f} s"
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines() or ["no error output"]
    return f"npm ci failed: {lines[0]}"
