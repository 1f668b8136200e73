"""Divides the arms of a message among the roles that share it.

The role of an arm is the one that its annotation names, or the one whose pattern in [roles]
matches its name. All other arms have the role without a pattern.
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
    """Removes the arms of other roles from the message of each role.

    messages: the message of each role, which is replaced.
    diagnostics: faults are appended.
    """
    groups: dict[str, dict[str, RoleMessage]] = {}
    for role in _PATTERNS:
        message = messages.get(role)
        if message is not None and message.present:
            groups.setdefault(f"{message.full_name}.{message.oneof.name}", {})[role] = message
    for role, key in _PATTERNS.items():
        message = messages.get(role)
        if key in config.roles and message is not None and not message.present:
            fault = f"roles.{key} is set, but roles.{role} is false"
            span = config.span(config.roles[key].key_path)
            diagnostics.append(Diagnostic(span, Rule.ROLE_SHAPE, fault, "remove one of the two"))
    for group in groups.values():
        division = _Division(group, config, annotated, diagnostics)
        if division.needed:
            messages |= division.messages()


def pair_name(arm: str, role: str, config: Config) -> str:
    """Returns the part of an arm's name that a request and its response share.

    It is the part that the `*` of a pattern matches, or the whole name.
    """
    configured = config.roles.get(_PATTERNS[role])
    for pattern in configured.names if configured else ():
        prefix, star, suffix = pattern.partition("*")
        if star and fnmatchcase(arm, pattern) and not any(sign in suffix for sign in "*?["):
            return arm[len(prefix) : len(arm) - len(suffix)]
    return arm


def arm_name(shared: str, role: str, config: Config) -> str | None:
    """Returns the name of an arm of a role with this part; None if the patterns do not give it."""
    configured = config.roles.get(_PATTERNS[role])
    if configured is None:
        return shared
    return next((item.replace("*", shared) for item in configured.names if "*" in item), None)


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
        self.annotated_roles: dict[str, str] = {}
        self.unclear: set[str] = set()
        for arm in self.message.arms:
            annotation = annotated.get(f"{self.message.full_name}.{arm.name}", "role")
            if annotation is not None:
                self.annotated_roles[arm.name] = annotation.value
                if annotation.value not in ("", *group):
                    self._report_wrong_role(annotation)
        self.patterns = {
            role: config.roles[_PATTERNS[role]].names
            for role in group
            if _PATTERNS[role] in config.roles
        }

    @property
    def needed(self) -> bool:
        """Whether several roles share the arms, or some arms are left out."""
        return len(self.group) > 1 or bool(self.patterns or self.annotated_roles)

    def messages(self) -> dict[str, RoleMessage]:
        """Returns the message of each role with its arms."""
        rest = [role for role in self.group if role not in self.patterns]
        if len(rest) > 1 and not self.annotated_roles:
            self._report_undivided(rest)
            return {}
        roles = {arm.name: self._role(arm, rest) for arm in self.message.arms}
        arms = {
            role: tuple(arm for arm in self.message.arms if roles[arm.name] == role)
            for role in self.group
        }
        for role in self.patterns:
            if not arms[role]:
                self._report_empty(role)
        return {role: replace(item, arms=arms[role]) for role, item in self.group.items()}

    def _role(self, arm: Field, rest: list[str]) -> str:
        """Returns the role of an arm, "" if it has none."""
        annotated_role = self.annotated_roles.get(arm.name)
        if annotated_role is not None:
            return annotated_role
        matching = [role for role in self.patterns if self._matches(arm, role)]
        error = self.config.roles.get("error")
        if "response" in self.group and error is not None and arm.name in error.names:
            matching = ["response"]
        matching = matching or rest
        if len(matching) != 1:
            self._report_unclear(arm, matching)
            return ""
        return matching[0]

    def _matches(self, arm: Field, role: str) -> bool:
        return any(fnmatchcase(arm.name, pattern) for pattern in self.patterns[role])

    def _report_empty(self, role: str) -> None:
        key = _PATTERNS[role]
        matching = {arm.name for arm in self.message.arms if self._matches(arm, role)}
        if matching & self.unclear:
            return
        fault = f"roles.{key} matches no arm of {self.message.full_name}"
        help_ = f"arms: {_shortened(arm.name for arm in self.message.arms)}"
        if matching:
            fault = f"annotations give each arm that roles.{key} matches another role"
        span = self.config.span(self.config.roles[key].key_path)
        self.diagnostics.append(Diagnostic(span, Rule.ROLE_SHAPE, fault, help_))

    def _report_wrong_role(self, annotation: Annotation) -> None:
        fault = f"there is no role {annotation.value!r}"
        help_ = "use event, request or response, or false for no role"
        if annotation.value in _PATTERNS:
            fault = f"{self.message.full_name} is not the {annotation.value}"
            help_ = f"roles of this message: {', '.join(self.group)}"
        self.diagnostics.append(Diagnostic(annotation.span, Rule.ANNOTATION, fault, help_))

    def _report_unclear(self, arm: Field, roles: list[str]) -> None:
        self.unclear.add(arm.name)
        reason = f"may belong to {' and '.join(roles)}" if roles else "has no role"
        element = f"{self.message.full_name}.{arm.name}"
        help_ = (
            f'name its role: [(sessiongen.role) = "{next(iter(self.group))}"] on it, or in '
            f'codegen.toml [annotations."{element}"] role = "{next(iter(self.group))}", '
            "or false for no role"
        )
        fault = f'arm "{arm.name}" {reason}'
        self.diagnostics.append(Diagnostic(arm.span, Rule.ARM_ROLE, fault, help_))

    def _report_undivided(self, rest: list[str]) -> None:
        fault = f"{self.message.full_name} is the {' and the '.join(rest)}"
        patterns = ", ".join(f'{_PATTERNS[role]} = "*_{role}"' for role in rest)
        help_ = (
            "name another message for one of the roles, or tell its arms apart by their names: "
            f"[roles] {patterns}, or by the annotation `role` on each arm"
        )
        configured = [self.config.roles[role] for role in rest if role in self.config.roles]
        span = self.config.span(configured[-1].key_path) if configured else self.message.span
        self.diagnostics.append(Diagnostic(span, Rule.ARM_ROLE, fault, help_))


def _shortened(names: Iterable[str], most: int = 12) -> str:
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
