"""Divides the arms of a message among the roles that share it.

An arm has the role that its annotation names, or whose pattern in [roles] its name matches.
The arms that are left have the one role that has no pattern.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase

from sessiongen.config.model import ARM_PATTERNS, Config
from sessiongen.diagnostics import Diagnostic, Rule
from sessiongen.frontend.annotations import Annotated, Annotation
from sessiongen.ir.roles import RoleMessage
from sessiongen.ir.schema import Field

_PATTERNS = {role: key for key, role in ARM_PATTERNS.items()}


def divide(
    messages: dict[str, RoleMessage | None],
    config: Config,
    annotated: Annotated,
    diagnostics: list[Diagnostic],
) -> None:
    """Reduce the arms of each message with a role to those that have it.

    messages: the message of each role. Faults go to `diagnostics`.
    """
    groups: dict[str, dict[str, RoleMessage]] = {}
    for role in _PATTERNS:
        message = messages.get(role)
        if message is not None and message.present:
            groups.setdefault(f"{message.full_name}.{message.oneof.name}", {})[role] = message
    for role, key in _PATTERNS.items():
        message = messages.get(role)
        if key in config.roles and message is not None and not message.present:
            fault = f"roles.{key} is given, but roles.{role} is false"
            span = config.span(config.roles[key].key_path)
            diagnostics.append(Diagnostic(span, Rule.ROLE_SHAPE, fault, "remove one of the two"))
    for group in groups.values():
        division = _Division(group, config, annotated, diagnostics)
        if division.needed:
            messages |= division.messages()


def pair_name(arm: str, role: str, config: Config) -> str:
    """Return the part of an arm's name that a request and its response share.

    It is what the `*` of a pattern stands for, or the name itself.
    """
    given = config.roles.get(_PATTERNS[role])
    for pattern in given.names if given else ():
        before, star, after = pattern.partition("*")
        if star and fnmatchcase(arm, pattern) and not any(sign in after for sign in "*?["):
            return arm[len(before) : len(arm) - len(after)]
    return arm


class _Division:
    """The arms of one oneof and the roles that share it."""

    def __init__(
        self,
        group: dict[str, RoleMessage],
        config: Config,
        annotated: Annotated,
        diagnostics: list[Diagnostic],
    ) -> None:
        self.group = group
        self.config = config
        self.diagnostics = diagnostics
        self.message = next(iter(group.values()))
        self.notes: dict[str, str] = {}
        for arm in self.message.arms:
            note = annotated.get(f"{self.message.full_name}.{arm.name}", "role")
            if note is not None:
                self.notes[arm.name] = note.value
                if note.value not in ("", *group):
                    self._wrong(note)
        self.patterns = {
            role: config.roles[_PATTERNS[role]].names
            for role in group
            if _PATTERNS[role] in config.roles
        }

    @property
    def needed(self) -> bool:
        """Whether several roles share the arms, or some arms are left out."""
        return len(self.group) > 1 or bool(self.patterns or self.notes)

    def messages(self) -> dict[str, RoleMessage]:
        """Return the message of each role with its arms."""
        rest = [role for role in self.group if role not in self.patterns]
        if len(rest) > 1 and not self.notes:
            self._undivided(rest)
            return {}
        roles = {arm.name: self._role(arm, rest) for arm in self.message.arms}
        arms = {
            role: tuple(arm for arm in self.message.arms if roles[arm.name] == role)
            for role in self.group
        }
        for role in self.patterns:
            if not arms[role]:
                key = _PATTERNS[role]
                fault = f"roles.{key} matches no arm of {self.message.full_name}"
                help_ = f"arms: {_listed(arm.name for arm in self.message.arms)}"
                span = self.config.span(self.config.roles[key].key_path)
                self.diagnostics.append(Diagnostic(span, Rule.ROLE_SHAPE, fault, help_))
        return {role: replace(item, arms=arms[role]) for role, item in self.group.items()}

    def _role(self, arm: Field, rest: list[str]) -> str:
        """Return the role of an arm, "" if it has none."""
        note = self.notes.get(arm.name)
        if note is not None:
            return note
        fitting = [
            role
            for role, patterns in self.patterns.items()
            if any(fnmatchcase(arm.name, pattern) for pattern in patterns)
        ]
        error = self.config.roles.get("error")
        if "response" in self.group and error is not None and arm.name in error.names:
            fitting = ["response"]
        fitting = fitting or rest
        if len(fitting) != 1:
            self._unclear(arm, fitting)
            return ""
        return fitting[0]

    def _wrong(self, note: Annotation) -> None:
        fault = f"there is no role {note.value!r}"
        help_ = "give event, request or response, or false for none"
        if note.value in _PATTERNS:
            fault = f"{self.message.full_name} is not the {note.value}"
            help_ = f"roles of this message: {', '.join(self.group)}"
        self.diagnostics.append(Diagnostic(note.span, Rule.ANNOTATION, fault, help_))

    def _unclear(self, arm: Field, fitting: list[str]) -> None:
        what = f"may belong to {' and '.join(fitting)}" if fitting else "has no role"
        element = f"{self.message.full_name}.{arm.name}"
        help_ = (
            f'give its role: [(sessiongen.role) = "{next(iter(self.group))}"] on it, or in '
            f'codegen.toml [annotations."{element}"] role = "{next(iter(self.group))}", '
            "or false for none"
        )
        fault = f'arm "{arm.name}" {what}'
        self.diagnostics.append(Diagnostic(arm.span, Rule.ARM_ROLE, fault, help_))

    def _undivided(self, rest: list[str]) -> None:
        fault = f"{self.message.full_name} is the {' and the '.join(rest)}"
        patterns = ", ".join(f'{_PATTERNS[role]} = "*_{role}"' for role in rest)
        help_ = (
            "name another message for one of them, or divide its arms by their names: "
            f"[roles] {patterns}, or with the annotation `role` on each arm"
        )
        given = [self.config.roles[role] for role in rest if role in self.config.roles]
        span = self.config.span(given[-1].key_path) if given else self.message.span
        self.diagnostics.append(Diagnostic(span, Rule.ARM_ROLE, fault, help_))


def _listed(names: Iterable[str], most: int = 12) -> str:
    known = list(names)
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return ", ".join(known[:most]) + more
