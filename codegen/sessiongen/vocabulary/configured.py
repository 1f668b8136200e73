"""The SDKs that a configuration names, and those that a command selects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.ir.roles import Roles
from sessiongen.paths import display
from sessiongen.vocabulary.scope import Scope, load_scope

# The source of an SDK that is its newest published version.
NEWEST = "newest"


@dataclass(frozen=True)
class Sdk:
    """An SDK that a configuration names: its vocabulary file and its scope."""

    path: Path
    scope: Scope


def require_sdk(config: Config) -> None:
    """Checks that a configuration names an SDK.

    Raises:
        InputError: it names none, so there is nothing to compare.
    """
    if config.sdks.vocabularies:
        return
    fault = "nothing to compare: the configuration names no SDK"
    help_ = (
        'name the vocabulary file of an SDK: [sdks] vocabularies = ["vocabularies/NAME.json"]; '
        "write its scope beside it as NAME.scope.toml, then run `sessiongen vocabulary update`"
    )
    raise InputError([Diagnostic(config.span(("sdks",)), Rule.NO_SDK, fault, help_)])


def configured_sdks(config: Config, roles: Roles) -> list[Sdk]:
    """Returns the SDKs of a configuration.

    Raises:
        InputError: it names none, or an SDK has no scope that can be read.
    """
    require_sdk(config)
    return [Sdk(path, load_scope(path, roles)) for path in config.sdks.vocabularies]


def selected(
    config: Config, sdks: list[Sdk], sources: Mapping[str, str | Path]
) -> list[tuple[Sdk, str | Path]]:
    """Returns the SDKs to read with their sources; without sources, the newest of each.

    sources: by an SDK's name, or by a language that one SDK has.

    Raises:
        InputError: a name or language matches no SDK, or a language several.
    """
    if not sources:
        return [(sdk, NEWEST) for sdk in sdks]
    return [(_selected_sdk(config, sdks, name), source) for name, source in sources.items()]


def _selected_sdk(config: Config, sdks: list[Sdk], name: str) -> Sdk:
    matches = [item for item in sdks if item.scope.sdk == name]
    matches = matches or [item for item in sdks if item.scope.language == name]
    if len(matches) == 1:
        return matches[0]
    names = ", ".join(item.scope.sdk for item in matches or sdks)
    fault = (
        f"several SDKs match {name!r}: {names}"
        if matches
        else f"no configured SDK matches {name!r}"
    )
    help_ = f"name one SDK with --sdk; configured: {names}"
    raise InputError([Diagnostic(Span(display(config.path)), Rule.USAGE, fault, help_)])
