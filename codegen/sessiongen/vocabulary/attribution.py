"""Arms that an SDK fills where no role was seen to: facts would be missing without a word.

In: the vocabulary that was read and its Scope. Out: a fault for each event, request or
response that is made somewhere else than where host and driver were found to make theirs.
"""

from __future__ import annotations

from collections.abc import Iterator

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import Build, Vocabulary
from sessiongen.vocabulary.package import Package
from sessiongen.vocabulary.scope import Scope


def check_placed(vocabulary: Vocabulary, package: Package, scope: Scope, faults: Faults) -> None:
    """Note each arm that is filled and told of nowhere; `*` is one that is computed."""
    for build, arm, who in _stray(vocabulary, scope):
        span = package.span(build.place.file, build.place.line)
        what = f"{build.message}.{arm} is filled here, where {who} is not seen to do so"
        faults.unreadable(span, Rule.SDK_REQUEST, what)


def _stray(vocabulary: Vocabulary, scope: Scope) -> Iterator[tuple[Build, str, str]]:
    host, driver = vocabulary.host, vocabulary.driver
    seen: dict[str, tuple[str, set[str | None]]] = {}
    if host is not None:
        seen[scope.messages.event] = (host.name, {item.arm for item in host.forwards})
        seen[scope.messages.response] = (host.name, {item.response for item in host.answers})
    if driver is not None:
        seen[scope.messages.request] = (driver.name, {item.arm for item in driver.sends})
    for build in vocabulary.builds:
        who, known = seen.get(build.message, ("", set()))
        for arm in build.fields if who else ():
            if arm not in known and f"{build.message}.{arm}" not in scope.plain:
                yield build, arm, who
        if who and build.open:
            yield build, "*", who
