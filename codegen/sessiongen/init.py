"""init: a configuration for a protocol that has none yet.

In: a .proto file, a descriptor set, or the name of an installed module. Out: the text of
a codegen.toml in which every role found by shape is written down.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from sessiongen import pipeline
from sessiongen.config import OPTIONAL_ROLES, Config, Input
from sessiongen.diagnostics import Diagnostic, Refusal, Rule, Span
from sessiongen.paths import display
from sessiongen.roles import Roles


@dataclass(frozen=True)
class Source:
    """The input that init is given; exactly one is set."""

    proto: Path | None = None
    descriptor_set: Path | None = None
    messages: str | None = None


def write(source: Source, include: tuple[Path, ...], target: Path) -> list[str]:
    """Write a configuration for an input and return what was found, as lines.

    Raises:
        Refusal: the input is no protocol, or `target` exists.
    """
    if target.exists():
        fault = "there is a configuration here already"
        help_ = "edit it, or write another with --config"
        raise Refusal([Diagnostic(Span(display(target)), Rule.CONFIG_EXISTS, fault, help_)])
    root = target.absolute().parent
    lines = _input_lines(source, include, root)
    config = _config(source, include, target, "\n".join(lines))
    found = pipeline.model(config)
    roles = found.protocol.roles
    text = _text(lines, config.package, roles)
    try:
        target.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        fault = f"cannot write the configuration: {error.strerror}"
        help_ = "choose another place with --config"
        raise Refusal([Diagnostic(Span(display(target)), Rule.OUTPUT, fault, help_)]) from None
    said = [f"{role}: {name}" for role, name in roles.named()]
    said += [f"requests: {len(found.protocol.calls)}", f"events: {len(found.protocol.events)}"]
    return [*said, f"wrote {display(target)}; now run `sessiongen generate`"]


def _config(source: Source, include: tuple[Path, ...], target: Path, text: str) -> Config:
    protos = (source.proto.absolute(),) if source.proto else ()
    folders = tuple(path.absolute() for path in include)
    given = Input(
        protos=protos,
        include=folders or tuple(path.parent for path in protos),
        descriptor_set=source.descriptor_set.absolute() if source.descriptor_set else None,
        messages=source.messages,
    )
    root = target.absolute().parent
    return Config(target.absolute(), text, given, root / "generated" / "python", _package(source))


def _package(source: Source) -> str:
    name = source.messages or (source.proto or source.descriptor_set or Path("protocol")).stem
    stem = re.sub(r"\W", "_", name.rsplit(".", 1)[-1].removesuffix("_pb2"), flags=re.ASCII)
    return f"{stem.lower().strip('_') or 'my'}_protocol" if not stem[:1].isdigit() else f"p{stem}_protocol"


def _input_lines(source: Source, include: tuple[Path, ...], root: Path) -> list[str]:
    if source.messages is not None:
        return [f"messages = {json.dumps(source.messages)}"]
    if source.descriptor_set is not None:
        return [f"descriptor_set = {json.dumps(_relative(source.descriptor_set, root))}"]
    proto = source.proto or Path()
    folders = [_relative(path, root) for path in include or (proto.parent,)]
    return [
        f"protos = [{json.dumps(_relative(proto, root))}]",
        f"include = {json.dumps(folders)}",
    ]


def _relative(path: Path, root: Path) -> str:
    full = path.absolute()
    return full.relative_to(root).as_posix() if full.is_relative_to(root) else full.as_posix()


def _text(lines: list[str], package: str, roles: Roles) -> str:
    named = [
        f"{role} = false" if name == "-" else f"{role} = {json.dumps(name)}"
        for role, name in roles.named()
        if name != "-" or role in OPTIONAL_ROLES
    ]
    return "\n".join(
        [
            "[input]",
            *lines,
            "",
            "[output]",
            'path = "generated/python"',
            f"package = {json.dumps(package)}",
            "",
            "# Found by shape; a line may be left out where the shape is unmistakable.",
            "[roles]",
            *named,
            "",
        ]
    )
