"""An invalid protocol or configuration, and the expected diagnostic."""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen_command import CONFIG, PROTO, place_of

from sessiongen.diagnostics import Rule

SMALL = "proto/small.proto"


@dataclass(frozen=True)
class Case:
    """A fault. mark: a text that occurs once in the file, at the position of the fault."""

    rule: Rule
    message: str
    help: str
    mark: str = ""
    proto: str = PROTO
    config: str = CONFIG
    file: str = SMALL
    verb: tuple[str, ...] = ("generate",)

    def place(self) -> tuple[int, int]:
        text = self.config if self.file == "codegen.toml" else self.proto
        return place_of(text, self.mark) if self.mark else (1, 1)


def edited(old: str, new: str, text: str = PROTO) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


def with_roles(roles: str) -> str:
    return f"{CONFIG}\n[roles]\n{roles}\n"


def with_input(lines: str) -> str:
    return edited('protos = ["proto/small.proto"]', lines, CONFIG)


def toml(
    message: str,
    help_: str,
    mark: str,
    config: str,
    rule: Rule = Rule.CONFIG_KEY,
    proto: str = PROTO,
) -> Case:
    return Case(rule, message, help_, mark, proto, config, "codegen.toml")
