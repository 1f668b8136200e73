"""Published packages, through the registries' own clients.

In: an SDK and a version. Out: its Package, or the newest version's number. Nothing is
installed and nothing of the package is run; what a client complains of is a InputError.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from sessiongen.output import subprocesses
from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.vocabulary.package import Package, open_package
from sessiongen.vocabulary.scope import Scope

_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!-]*")
_TIMEOUT = 300


def fetch(scope: Scope, version: str) -> Package:
    """Download one version of an SDK and read it."""
    label = f"{scope.distribution}@{version}"
    # A version that is an address or a path would make npm fetch and build that.
    if not _VERSION.fullmatch(version):
        raise _refusal(label, f"{version!r} is not a version number", "name one, as in 1.8.9")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run(label, _download(scope, version, folder), folder)
        found = sorted(folder.glob("*.whl" if scope.language == "python" else "*.tgz"))
        if len(found) != 1:
            raise _refusal(label, "the client left no archive behind", "fetch it by hand")
        return Package(label, open_package(found[0], scope).files)


def newest(scope: Scope) -> str:
    """Return the number of the newest published version."""
    label = f"{scope.distribution}@newest"
    with tempfile.TemporaryDirectory() as name:
        if scope.language == "typescript":
            text = _run(label, ["npm", "view", scope.distribution, "version"], Path(name)).strip()
        else:
            text = _resolved(_run(label, _resolve(scope), Path(name)))
    if not _VERSION.fullmatch(text):
        raise _refusal(label, "the client named no version", "name the version yourself")
    return text


def _download(scope: Scope, version: str, folder: Path) -> list[str]:
    if scope.language == "typescript":
        spec = f"{scope.distribution}@{version}"
        return [
            "npm",
            "pack",
            spec,
            "--loglevel=error",
            "--ignore-scripts",
            "--pack-destination",
            str(folder),
        ]
    return [
        *_pip("download"),
        "--dest",
        str(folder),
        f"{scope.distribution}=={version}",
    ]


def _resolve(scope: Scope) -> list[str]:
    options = ["--dry-run", "--ignore-installed", "--report", "-"]
    return [*_pip("install"), *options, scope.distribution]


def _pip(verb: str) -> list[str]:
    options = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-deps"]
    # A source distribution would have to be built, which runs its code.
    return subprocesses.module("pip", verb, *options, "--only-binary", ":all:")


def _resolved(report: str) -> str:
    try:
        return str(json.loads(report)["install"][0]["metadata"]["version"])
    except (ValueError, LookupError, TypeError):
        return ""


def _run(label: str, command: list[str], folder: Path) -> str:
    tool = "npm" if command[0] == "npm" else "pip"
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONSAFEPATH": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except OSError:
        raise _refusal(label, f"{tool} could not be started", f"install {tool}, or name a path")
    except subprocess.TimeoutExpired:
        raise _refusal(label, f"{tool} gave no result in {_TIMEOUT} s", "try again")
    if done.returncode:
        raise _refusal(label, f"{tool} failed: {_reason(done.stderr)}", "check the version number")
    return done.stdout.decode("utf-8", errors="replace")


def _reason(output: bytes) -> str:
    lines = [line.strip() for line in output.decode("utf-8", errors="replace").splitlines()]
    npm = [line for line in lines if line.startswith("npm error ")]
    telling = [line for line in npm if not re.match(r"npm error (code|\d+$|A complete log)", line)]
    return (
        telling[0] if telling else next((line for line in lines[::-1] if line), "no reason given")
    )


def _refusal(label: str, message: str, help_: str) -> InputError:
    return InputError([Diagnostic(Span(label), Rule.SDK_FETCH, message, help_)])
