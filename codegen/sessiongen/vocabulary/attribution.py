"""Checks that every arm an SDK fills belongs to its host or driver.

An event, request or response that is constructed anywhere else is reported: the role's facts may be
incomplete.
"""

from __future__ import annotations

from collections.abc import Iterator

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.behaviours import unread_fields
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import Construction, Vocabulary
from sessiongen.vocabulary.package import Package
from sessiongen.vocabulary.scope import Scope

# Stands for an arm whose name is computed.
_COMPUTED = "*"


def check_attribution(
    vocabulary: Vocabulary, package: Package, scope: Scope, faults: Faults
) -> None:
    """Reports each arm that is filled outside the role class; `*` stands for a computed arm."""
    for construction, arm, role_class in _unattributed(vocabulary, scope):
        span = package.span(construction.place.file, construction.place.line)
        filled = f"{construction.message}.{arm}"
        message = f"{filled} is filled here, in code that {role_class} is not seen to call"
        if arm == _COMPUTED:
            faults.unreadable(span, Rule.SDK_REQUEST, message)
        else:
            # The comparison says that the role lacks the arm.
            faults.warning(span, Rule.SDK_REQUEST, message, "remove it, or call it from the role")


def _unattributed(vocabulary: Vocabulary, scope: Scope) -> Iterator[tuple[Construction, str, str]]:
    host, driver = vocabulary.host, vocabulary.driver
    role_arms: dict[str, tuple[str, set[str | None]]] = {}
    if host is not None:
        role_arms[scope.messages.event] = (host.name, {item.arm for item in host.forwards})
        role_arms[scope.messages.response] = (host.name, {item.response for item in host.answers})
    if driver is not None:
        role_arms[scope.messages.request] = (driver.name, {item.arm for item in driver.sends})
    for construction in vocabulary.constructions:
        role_class, known = role_arms.get(construction.message, ("", set()))
        for arm in construction.fields if role_class else ():
            if "." in arm or arm in known:
                continue
            if f"{construction.message}.{arm}" not in scope.not_arms:
                yield construction, arm, role_class
        unread = unread_fields(construction) in vocabulary.behaviours
        if role_class and construction.open and not unread:
            yield construction, _COMPUTED, role_class
