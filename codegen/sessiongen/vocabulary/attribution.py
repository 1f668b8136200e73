"""Checks that every arm an SDK fills belongs to its host or driver.

An event, request or response that is constructed anywhere else is a fault: the role's facts
would be incomplete.
"""

from __future__ import annotations

from collections.abc import Iterator

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import Construction, Vocabulary
from sessiongen.vocabulary.package import Package
from sessiongen.vocabulary.scope import Scope


def check_attribution(
    vocabulary: Vocabulary, package: Package, scope: Scope, faults: Faults
) -> None:
    """Reports each arm that is filled outside the role class; `*` stands for a computed arm."""
    for construction, arm, role_class in _unattributed(vocabulary, scope):
        span = package.span(construction.place.file, construction.place.line)
        filled = f"{construction.message}.{arm}"
        message = f"{filled} is filled here, in code that {role_class} is not seen to call"
        faults.unreadable(span, Rule.SDK_REQUEST, message)


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
        if role_class and construction.open:
            yield construction, "*", role_class
