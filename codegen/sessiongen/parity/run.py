"""Runs a comparison: of the configured vocabularies, or of SDKs that are read for it.

Nothing is written. With a commit, the result has only what changed since. Code that changed is
reported too: that of the commit, or of the vocabulary file, is compared with the code now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from functools import partial
from pathlib import Path

from sessiongen import pipeline
from sessiongen.config import reader
from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, InputError, Rule, Severity, Span, arrange, failed
from sessiongen.parity.compare import Parity, compare
from sessiongen.paths import display
from sessiongen.vocabulary.changed_code import changed_code
from sessiongen.vocabulary.model import Place, Vocabulary
from sessiongen.vocabulary.store import load

Sources = Mapping[str, str | Path]
Vocabularies = tuple[Vocabulary, ...]
# Faults of single definitions; with any other one, too little is known of an SDK.
_READ_ON = (Rule.SDK_ENUM, Rule.SDK_EVENT, Rule.SDK_REQUEST)
_COMPARED_IF_UNREAD = (Rule.PARITY_VALUE, Rule.PARITY_FIELD)


def run(config: Config, sources: Sources, since: str | None = None) -> Parity:
    """Returns the parity of the configured SDKs.

    sources: versions and paths of SDKs by name or language, read in place of their vocabularies.
    since: a commit of the repository of the first of these paths, or of the configuration.

    Raises:
        InputError: an input cannot be read, or there is no such commit.
    """
    now, vocabularies = _parity(config, sources)
    if since is None:
        return now if not sources else _with_changed_code(now, _stored(config), vocabularies)
    # Most runs need neither git nor the readers of packages.
    from sessiongen.parity.since import changes, checkout

    folder = next((item for item in sources.values() if isinstance(item, Path)), config.root)
    with checkout(since, folder if folder.is_dir() else folder.parent) as in_commit:
        path = in_commit(config.path)
        # A change that adds the configuration is judged by it, with the SDK's earlier sources.
        new = bool(sources) and not path.exists()
        config_then = config if new or path == config.path else reader.load(path)
        then = {name: _at(item, in_commit) for name, item in sources.items()}
        before, earlier = _parity(config_then, then)
        if failed(before.reading):
            raise InputError(before.reading)
        return _with_changed_code(changes(now, before, since), earlier, vocabularies)


def _at(source: str | Path, in_commit: Callable[[Path], Path]) -> str | Path:
    return in_commit(source) if isinstance(source, Path) else source


def _parity(config: Config, sources: Sources) -> tuple[Parity, Vocabularies]:
    if not sources:
        model = pipeline.model(config)
        parity = compare(model.protocol, model.annotated, config)
        return parity, model.protocol.vocabularies
    vocabularies, origins, reading, unread = _read(config, sources)
    model = pipeline.model(config, vocabularies)
    parity = compare(model.protocol, model.annotated, config, origins)
    return _without_unread(replace(parity, reading=tuple(reading)), unread), vocabularies


def _without_unread(parity: Parity, unread: Set[str]) -> Parity:
    """Returns a parity without the differences that may follow from code that cannot be read.

    Of an SDK that was read in part, values and fields are compared, but not which events and
    requests it handles, nor whether its gaps exist.
    """
    diagnostics = [
        item
        for item in parity.diagnostics
        if item.rule in _COMPARED_IF_UNREAD or item.message.partition(":")[0] not in unread
    ]
    return replace(parity, diagnostics=diagnostics)


def _stored(config: Config) -> Vocabularies:
    """Returns the vocabularies in the configured files that exist."""
    return tuple(load(path) for path in config.sdks.vocabularies if path.is_file())


def _with_changed_code(parity: Parity, before: Vocabularies, after: Vocabularies) -> Parity:
    """Returns a parity with warnings about code that changed."""
    earlier = {item.sdk: item for item in before}
    changed = [
        item
        for vocabulary in after
        if vocabulary.sdk in earlier
        for item in changed_code(
            earlier[vocabulary.sdk], vocabulary, partial(_span, parity, vocabulary)
        )
    ]
    return replace(parity, reading=(*parity.reading, *arrange(changed)))


def _span(parity: Parity, vocabulary: Vocabulary, place: Place) -> Span:
    """Returns the position of a place in the SDK's sources if they are at hand."""
    origin = parity.origins.get(vocabulary.sdk, f"{vocabulary.sdk} {vocabulary.version}")
    return Span(display(Path(origin, place.file)), place.line)


def _read(
    config: Config, sources: Sources
) -> tuple[Vocabularies, dict[str, str], list[Diagnostic], set[str]]:
    """Returns the vocabularies of all SDKs, the folders of those read from one, and diagnostics.

    The last value has the SDKs that could be read in part only.
    """
    from sessiongen.vocabulary import commands
    from sessiongen.vocabulary.configured import configured_sdks, selected

    sdks = configured_sdks(config, pipeline.roles(config))
    vocabularies: dict[Path, Vocabulary] = {}
    origins: dict[str, str] = {}
    diagnostics: list[Diagnostic] = []
    unread: set[str] = set()
    for sdk, source in selected(config, sdks, sources):
        package = commands.open_source(sdk.scope, source)
        reading = commands.read_package(sdk.scope, package)
        diagnostics += reading.diagnostics
        faults = [item for item in reading.diagnostics if item.severity is Severity.ERROR]
        if reading.vocabulary is None or any(item.rule not in _READ_ON for item in faults):
            raise InputError(diagnostics)
        if faults:
            unread.add(sdk.scope.sdk)
        vocabularies[sdk.path] = reading.vocabulary
        if isinstance(source, Path) and source.is_dir():
            origins[sdk.scope.sdk] = package.origin
    in_order = tuple(vocabularies.get(sdk.path) or load(sdk.path) for sdk in sdks)
    return in_order, origins, arrange(diagnostics), unread
