"""init: a configuration for a protocol that has none yet.

In: a .proto file, a descriptor set, or the name of an installed module. Out: the text of
a codegen.toml in which every role found by shape is written down.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from sessiongen import pipeline
from sessiongen.config import Config, Input
from sessiongen.diagnostics import Diagnostic, Refusal, Rule, Span
from sessiongen.paths import display
from sessiongen.protocol import assemble
from sessiongen.roles import Roles, find, union


@dataclass(frozen=True)
class Source:
    """The input that init is given; exactly one is set."""

    proto: Path | None = None
    descriptor_set: Path | None = None
    messages: str | None = None


def write(
    source: Source, include: tuple[Path, ...], target: Path
) -> tuple[list[str], list[Diagnostic]]:
    """Write a configuration for an input; return what was found, and what is left to say.

    Arms without a partner are left to say: they are named in the configuration.

    Raises:
        Refusal: the input is no protocol, or `target` exists.
    """
    if target.exists():
        fault = "there is a configuration here already"
        help_ = "edit it, or write another with --config"
        raise Refusal([Diagnostic(Span(display(target)), Rule.CONFIG_EXISTS, fault, help_)])
    _refuse_missing([source.proto] if source.proto else [], Path.is_file, "file")
    _refuse_missing(include, Path.is_dir, "folder")
    root = target.absolute().parent
    lines = _input_lines(source, include, root)
    config = _config(source, include, target, "\n".join(lines))
    roles, unpaired = _roles(config)
    text = _text(lines, config.package, roles, unpaired)
    try:
        target.write_bytes(text.encode())
    except (OSError, UnicodeEncodeError) as error:
        reason = getattr(error, "strerror", None) or "a file name in it is not text"
        fault = f"cannot write the configuration: {reason}"
        help_ = "choose another place with --config"
        raise Refusal([Diagnostic(Span(display(target)), Rule.OUTPUT, fault, help_)]) from None
    said = [f"{role}: {name}" for role, name in roles.named()]
    said += [
        f"requests: {len(union(roles.request).arms)}",
        f"events: {len(union(roles.event).arms)}",
    ]
    step = "now name the answers it asks for, and" if unpaired else "now"
    return [*said, f"wrote {display(target)}; {step} run `sessiongen generate`"], unpaired


def _roles(config: Config) -> tuple[Roles, list[Diagnostic]]:
    """Return the roles of an input, and a fault for each arm without a partner."""
    _, annotated, schema = pipeline.read_input(config)
    faults: list[Diagnostic] = []
    roles = find(schema, config, faults)
    if roles is None:
        raise Refusal(faults)
    try:
        assemble(schema, annotated, config)
    except Refusal as refusal:
        if any(item.rule is not Rule.UNPAIRED_ARM for item in refusal.diagnostics):
            raise
        return roles, refusal.diagnostics
    return roles, []


def _refuse_missing(paths: Iterable[Path], fits: Callable[[Path], bool], kind: str) -> None:
    faults = [
        Diagnostic(
            Span(display(path)), Rule.UNREADABLE, f"there is no {kind} here", "check the path"
        )
        for path in paths
        if not fits(path)
    ]
    if faults:
        raise Refusal(faults)


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
    plain = stem.lower().strip("_") or "my"
    return f"p{plain}_protocol" if plain[0].isdigit() else f"{plain}_protocol"


def _input_lines(source: Source, include: tuple[Path, ...], root: Path) -> list[str]:
    if source.messages is not None:
        return [f"messages = {_quoted(source.messages)}"]
    if source.descriptor_set is not None:
        return [f"descriptor_set = {_quoted(_relative(source.descriptor_set, root))}"]
    proto = source.proto or Path()
    folders = [_relative(path, root) for path in include or (proto.parent,)]
    return [
        f"protos = [{_quoted(_relative(proto, root))}]",
        f"include = [{', '.join(map(_quoted, folders))}]",
    ]


def _relative(path: Path, root: Path) -> str:
    try:
        return Path(os.path.relpath(path, root)).as_posix()
    except ValueError:  # on Windows, another drive
        return path.absolute().as_posix()


def _quoted(text: str) -> str:
    """Return a TOML string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda char: f"\\u{ord(char[0]):04x}", escaped) + '"'


def _unanswered(roles: Roles) -> list[str]:
    """Return lines in which a person names the answer of each request that has none."""
    answers = {arm.name for arm in union(roles.response).arms}
    names = [arm.name for arm in union(roles.request).arms if arm.name not in answers]
    head = ["", "# No response arm has the name of these requests: name the one that answers."]
    return [
        *(head if names else []),
        *(
            line
            for name in names
            for line in (
                f"# [annotations.{_quoted(f'{roles.request.full_name}.{name}')}]",
                '# response = "..."',
            )
        ),
    ]


def _text(lines: list[str], package: str, roles: Roles, unpaired: list[Diagnostic]) -> str:
    # A role that nothing plays stays open: the protocol may gain it.
    named = [f"{role} = {_quoted(name)}" for role, name in roles.named() if name != "-"]
    return "\n".join(
        [
            "[input]",
            *lines,
            "",
            "[output]",
            'path = "generated/python"',
            f"package = {_quoted(package)}",
            "",
            "# Found by shape; a line may be left out where the shape is unmistakable.",
            "[roles]",
            *named,
            *(_unanswered(roles) if unpaired else []),
            "",
        ]
    )
