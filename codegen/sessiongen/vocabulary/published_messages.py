"""Lists the messages and enums of a protocol in an npm package of protobuf-es 1 messages.

This is the command `vocabulary messages`. The list is a JSON file with the package (`distribution`,
`version`), the proto package of its messages (`package`), the fields of each message, and the
values of each enum. They are read from the comments that protobuf-es writes into declaration files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.ir.schema import Schema
from sessiongen.paths import display
from sessiongen.vocabulary.fetch import fetch
from sessiongen.vocabulary.package import Package, open_package
from sessiongen.vocabulary.scope import PackageSource

_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")
_GENERATED = re.compile(r"@generated from (message|field|enum value|enum):? ([^\n]+)")
_HELP = "it is a JSON object with `distribution`, `version` and `package`, each a string"


@dataclass(frozen=True)
class _Origin:
    """The package of a list."""

    distribution: str
    version: str
    package: str


def update_list(path: Path, source: str | Path | None, schema: Schema) -> bool:
    """Reads a package again and writes its list; returns whether the list changed.

    source: a version, or the path of a folder or archive; None for the version in the list.

    Raises:
        InputError: the list or the package cannot be read.
    """
    origin = _origin(path)
    package, version = _open(origin, source)
    names = _names(package, origin.package)
    data = {
        "distribution": origin.distribution,
        "version": version,
        "package": origin.package,
        "messages": _own(names["message"], [item.path for item in schema.own_messages()]),
        "enums": _own(
            names["enum"],
            [item.path for item in schema.enums.values() if item.file in schema.own],
        ),
    }
    text = json.dumps(data, indent=2) + "\n"
    changed = path.read_text(encoding="utf-8") != text
    if changed:
        path.write_text(text, encoding="utf-8", newline="\n")
    return changed


def _origin(path: Path) -> _Origin:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        values = [data[key] for key in ("distribution", "version", "package")]
        if all(isinstance(value, str) for value in values):
            return _Origin(*values)
        fault = "a value is not a string"
    except (OSError, ValueError, LookupError, TypeError) as error:
        fault = f"{type(error).__name__}: {error}"
    fault = f"the list of published messages cannot be read: {fault}"
    raise InputError([Diagnostic(Span(display(path)), Rule.UNREADABLE, fault, _HELP)])


def _open(origin: _Origin, source: str | Path | None) -> tuple[Package, str]:
    published = PackageSource("typescript", origin.distribution, origin.distribution)
    if not isinstance(source, Path):
        version = source or origin.version
        return fetch(published, version), version
    package = open_package(source, published)
    return package, str(json.loads(package.files["package.json"]).get("version", origin.version))


def _names(package: Package, proto_package: str) -> dict[str, dict[str, list[str]]]:
    """Returns the fields of each message, and the values of each enum, of a proto package."""
    names: dict[str, dict[str, list[str]]] = {"message": {}, "enum": {}}
    prefix = f"{proto_package}."
    for name, data in sorted(package.files.items()):
        if not name.endswith(_DECLARATIONS):
            continue
        members: list[str] = []
        for kind, text in _GENERATED.findall(data.decode("utf-8", errors="replace")):
            if kind in names:
                members = []
                if text.startswith(prefix):
                    # Declarations for other module systems repeat the same messages.
                    members = names[kind][text.split()[0].removeprefix(prefix)] = members
            else:
                members.append(text.partition(" = ")[0].split(" ")[-1])
    return names


def _own(members: Mapping[str, list[str]], paths: list[tuple[str, ...]]) -> dict[str, list[str]]:
    own_names = [".".join(path) for path in paths]
    return {name: members[name] for name in own_names if name in members}
