"""Downloads published packages with the clients of their registries.

Nothing is installed, and no code of a package is run. A failing client raises InputError.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sessiongen import subprocesses
from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.vocabulary.package import Package, open_package
from sessiongen.vocabulary.scope import PackageSource

_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!-]*")
_TIMEOUT_SECONDS = 300


@dataclass(frozen=True)
class _RegistryClient:
    """The client of a package registry.

    archives: the pattern of the files that a download writes.
    download: returns the command that downloads a version of a distribution into a folder.
    newest: returns the command that prints the newest version of a distribution.
    version: returns the version number in the output of that command, or "".
    versions: returns the command that prints all versions of a distribution.
    listing: returns the part of its output with the versions.
    """

    tool: str
    archives: str
    download: Callable[[str, str, Path], list[str]]
    newest: Callable[[str], list[str]]
    version: Callable[[str], str]
    versions: Callable[[str], list[str]]
    listing: Callable[[str], str]


def fetch(source: PackageSource, version: str) -> Package:
    """Downloads one version of an SDK and reads it."""
    label = f"{source.distribution}@{version}"
    # npm accepts URLs and paths as versions, and would build what they name.
    if not _VERSION.fullmatch(version):
        raise _fetch_error(
            label, f"{version!r} is not a version number", "give a version number such as 1.8.9"
        )
    client = _CLIENTS[source.language]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = client.download(source.distribution, version, folder)
        _run(label, client, command, folder)
        archives = sorted(folder.glob(client.archives))
        if len(archives) != 1:
            raise _fetch_error(
                label, f"{client.tool} wrote no archive", "download the package and name its path"
            )
        return Package(label, open_package(archives[0], source).files)


def newest(source: PackageSource) -> str:
    """Returns the number of the newest published version."""
    label = f"{source.distribution}@newest"
    client = _CLIENTS[source.language]
    with tempfile.TemporaryDirectory() as name:
        output = _run(label, client, client.newest(source.distribution), Path(name))
    version = client.version(output)
    if not _VERSION.fullmatch(version):
        raise _fetch_error(label, f"{client.tool} reported no version", "give the version number")
    return version


def published_versions(source: PackageSource) -> list[str]:
    """Returns the numbers of all published versions, without pre-releases, in any order."""
    label = f"{source.distribution}@all"
    client = _CLIENTS[source.language]
    with tempfile.TemporaryDirectory() as name:
        output = _run(label, client, client.versions(source.distribution), Path(name))
    versions = re.findall(r"(?<![\w.-])\d+(?:\.\d+)+(?![\w.-])", client.listing(output))
    if not versions:
        raise _fetch_error(label, f"{client.tool} reported no version", "name archives instead")
    return list(dict.fromkeys(versions))


def _npm_pack(distribution: str, version: str, folder: Path) -> list[str]:
    options = ["--loglevel=error", "--ignore-scripts", "--pack-destination", str(folder)]
    return ["npm", "pack", f"{distribution}@{version}", *options]


def _npm_view(distribution: str) -> list[str]:
    return ["npm", "view", distribution, "version"]


def _pip_download(distribution: str, version: str, folder: Path) -> list[str]:
    return [*_pip("download"), "--dest", str(folder), f"{distribution}=={version}"]


def _npm_versions(distribution: str) -> list[str]:
    return ["npm", "view", distribution, "versions", "--json"]


def _pip_versions(distribution: str) -> list[str]:
    options = ["--disable-pip-version-check", "--no-input"]
    return subprocesses.module("pip", "index", "versions", *options, distribution)


def _listed_by_pip(output: str) -> str:
    return output.partition("Available versions:")[2].partition("\n")[0]


def _pip_report(distribution: str) -> list[str]:
    options = ["--dry-run", "--ignore-installed", "--report", "-"]
    return [*_pip("install"), *options, distribution]


def _pip(verb: str) -> list[str]:
    options = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-deps"]
    # A source distribution would have to be built, which runs its code.
    return subprocesses.module("pip", verb, *options, "--only-binary", ":all:")


def _reported_version(report: str) -> str:
    try:
        return str(json.loads(report)["install"][0]["metadata"]["version"])
    except (ValueError, LookupError, TypeError):
        return ""


_CLIENTS = {
    "python": _RegistryClient(
        "pip",
        "*.whl",
        _pip_download,
        _pip_report,
        _reported_version,
        _pip_versions,
        _listed_by_pip,
    ),
    "typescript": _RegistryClient(
        "npm", "*.tgz", _npm_pack, _npm_view, str.strip, _npm_versions, str
    ),
}


def _run(label: str, client: _RegistryClient, command: list[str], folder: Path) -> str:
    tool = client.tool
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONSAFEPATH": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except OSError:
        raise _fetch_error(label, f"{tool} could not be started", f"install {tool}, or name a path")
    except subprocess.TimeoutExpired:
        raise _fetch_error(label, f"{tool} gave no result in {_TIMEOUT_SECONDS} s", "try again")
    if done.returncode:
        raise _fetch_error(
            label, f"{tool} failed: {_reason(done.stderr)}", "check the version number"
        )
    return done.stdout.decode("utf-8", errors="replace")


def _reason(output: bytes) -> str:
    lines = [line.strip() for line in output.decode("utf-8", errors="replace").splitlines()]
    npm_errors = [line for line in lines if line.startswith("npm error ")]
    reasons = [
        line for line in npm_errors if not re.match(r"npm error (code|\d+$|A complete log)", line)
    ]
    return (
        reasons[0] if reasons else next((line for line in lines[::-1] if line), "no reason given")
    )


def _fetch_error(label: str, message: str, help_: str) -> InputError:
    return InputError([Diagnostic(Span(label), Rule.SDK_FETCH, message, help_)])
