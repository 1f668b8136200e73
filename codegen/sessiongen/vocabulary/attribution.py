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
    """Report each arm that is filled outside the role class; `*` is a computed arm."""
    for build, arm, who in _unattributed(vocabulary, scope):
        span = package.span(build.place.file, build.place.line)
        what = (
            f"{build.message}.{arm} is filled here, in code that the reader cannot reach from {who}"
        )
        faults.unreadable(span, Rule.SDK_REQUEST, what)


def _unattributed(vocabulary: Vocabulary, scope: Scope) -> Iterator[tuple[Construction, str, str]]:
    host, driver = vocabulary.host, vocabulary.driver
    seen: dict[str, tuple[str, set[str | None]]] = {}
    if host is not None:
        seen[scope.messages.event] = (host.name, {item.arm for item in host.forwards})
        seen[scope.messages.response] = (host.name, {item.response for item in host.answers})
    if driver is not None:
        seen[scope.messages.request] = (driver.name, {item.arm for item in driver.sends})
    for build in vocabulary.constructions:
        who, known = seen.get(build.message, ("", set()))
        for arm in build.fields if who else ():
            if arm not in known and f"{build.message}.{arm}" not in scope.plain:
                yield build, arm, who
        if who and build.open:
            yield build, "*", who
