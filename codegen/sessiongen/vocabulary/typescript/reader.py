"""Reads the vocabulary of a TypeScript SDK.

A required definition that is missing or cannot be read is reported.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator

from sessiongen.diagnostics import Rule, arrange, failed
from sessiongen.vocabulary.behaviours import TEXT, unread_fields
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import (
    Behaviour,
    Conversion,
    DefinitionFact,
    Driver,
    FieldSource,
    Host,
    Place,
    Reading,
    Vocabulary,
)
from sessiongen.vocabulary.package import Package
from sessiongen.vocabulary.attribution import check_attribution
from sessiongen.vocabulary.ordering import normalized
from sessiongen.vocabulary.scope import Scope
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.typescript.constructions import constructions_of
from sessiongen.vocabulary.typescript.constants import fixed_values
from sessiongen.vocabulary.typescript.conversions import ConversionReader
from sessiongen.vocabulary.typescript.literals import LiteralReader
from sessiongen.vocabulary.typescript.classes import ClassView
from sessiongen.vocabulary.typescript.definitions import (
    definition_facts,
    file_facts,
    type_facts,
)
from sessiongen.vocabulary.typescript.envelope import envelope_uses_of
from sessiongen.vocabulary.typescript.kinds import kind_behaviours
from sessiongen.vocabulary.typescript.lists import list_behaviours
from sessiongen.vocabulary.typescript.parts import part_behaviours
from sessiongen.vocabulary.typescript.timeouts import timeout_behaviours
from sessiongen.vocabulary.typescript.variants import variant_behaviours
from sessiongen.vocabulary.typescript.written_texts import text_behaviours
from sessiongen.vocabulary.typescript.proto_names import ProtoNames
from sessiongen.vocabulary.typescript.modules import Definition, Modules
from sessiongen.vocabulary.typescript.parsed_file import File, imported_module
from sessiongen.vocabulary.typescript.records import RecordReader
from sessiongen.vocabulary.typescript.roles import RoleReader
from sessiongen.vocabulary.typescript.sending import driver_conditions, host_conditions
from sessiongen.vocabulary.typescript.session import read_session
from sessiongen.vocabulary.typescript.syntax import CLASSES, text
from sessiongen.vocabulary.typescript.sources import field_sources
from sessiongen.vocabulary.typescript.tables import Tables
from sessiongen.vocabulary.required_definitions import RequiredDefinitions

_MANIFEST = "package.json"
_VERSION_FILE = "version.ts"
_IMPORTS = {"import_statement", "export_statement"}


def read(package: Package, scope: Scope) -> Reading:
    """Returns the vocabulary of a package, with the diagnostics of reading it."""
    faults = Faults()
    try:
        vocabulary = _PackageReader(package, scope, faults).read()
        if not failed(faults.items):
            check_attribution(vocabulary, package, scope, faults)
    except RecursionError:
        faults.unreadable(package.span(""), Rule.SDK_SOURCE, "a definition is nested too deeply")
        return Reading(None, arrange(faults.items))
    return Reading(vocabulary, arrange(faults.items))


class _PackageReader:
    def __init__(self, package: Package, scope: Scope, faults: Faults) -> None:
        self.package = package
        self.scope = scope
        self.faults = faults
        self.modules = Modules(package, faults)
        self.roles = RoleReader(self.modules, scope, faults)
        self._required = RequiredDefinitions(package, scope, faults, self.modules)
        self._constructions: dict[str, list[ConstructionBuilder]] = {}
        self._views: dict[tuple[str, str], ClassView] = {}

    def read(self) -> Vocabulary:
        scope, faults = self.scope, self.faults
        session, host, driver = (
            self._required.role(name, _is_class) if name else None
            for name in (scope.session, scope.host, scope.driver)
        )
        protocol_files = self._protocol_files(
            [
                item.file
                for role in (host, driver)
                for item in (self.modules.with_bases(role) if role else ())
            ]
        )
        records = self._records(session, protocol_files)
        constructing = {file.path: file for file in (*protocol_files, *self._constructing_files())}
        in_order = [constructing[path] for path in sorted(constructing)]
        constructions = [it for file in in_order for it in self._constructions_in(file)]
        self._report_imports()
        view = self._view(session) if session else None
        tables = self._tables(constructing.values())
        driver_view = self._view(driver) if driver else None
        driver_facts = self.roles.driver(driver_view) if driver_view else None
        host_view = self._view(host) if host else None
        host_facts = self.roles.host(host_view) if host_view else None
        session_fact, emissions = (
            read_session(self.modules, view, self.roles, faults) if view else (None, [])
        )
        vocabulary = Vocabulary(
            sdk=scope.sdk,
            language=scope.language,
            version=self._version(),
            enums=tuple(records.enums),
            records=tuple(records.records),
            unions=tuple(records.unions),
            ignored_variants=tuple(
                item for item in tables.ignored_variants if records.tagged(item.tag)
            ),
            maps=tuple(tables.maps()),
            conversions=tuple(self._conversions(constructing.values())),
            sources=tuple(self._sources(constructing.values())),
            constants=tuple(fixed_values(self.modules, scope.constants)),
            behaviours=(
                *self._behaviours(constructing.values(), driver_view, driver_facts),
                *self._conditions(host_view, host_facts, driver_view, driver_facts),
            ),
            constructions=tuple(item.build() for item in constructions),
            map_keys=tuple(tables.map_keys),
            envelope_uses=tuple(
                envelope_uses_of(self.modules, scope, self._constructions_in, faults)
            ),
            session=session_fact,
            host=host_facts,
            driver=driver_facts,
            generated=next((Place(it.path, 1) for it in self.modules.generated()), None),
        )
        documents = {it.place.file for it in vocabulary.behaviours if it.kind == TEXT and it.place}
        definitions = self._definitions(
            (host, driver), constructing.values(), protocol_files, records, session, documents
        )
        return normalized(vocabulary._replace(definitions=(*definitions, *emissions)))

    def _tables(self, files: Iterable[File]) -> Tables:
        tables = Tables(self.modules, self.scope.protobuf, self.faults)
        for file in files:
            tables.read(file, self._constructions_in(file))
        return tables

    def _sources(self, files: Iterable[File]) -> Iterator[FieldSource]:
        for file in files:
            yield from field_sources(self.modules, file, self._constructions_in(file))

    def _behaviours(
        self, files: Iterable[File], view: ClassView | None, driver: Driver | None
    ) -> Iterator[Behaviour]:
        scope = self.scope.behaviour
        for file in files:
            constructions = self._constructions_in(file)
            yield from list_behaviours(self.modules, file, constructions, scope.repeated)
            yield from kind_behaviours(file, constructions)
            yield from variant_behaviours(file, constructions)
            yield from (unread_fields(item.build()) for item in constructions if item.open)
            yield from part_behaviours(self.modules, file, constructions, scope.parts)
        if view is not None and driver is not None and scope.timeout is not None:
            yield from timeout_behaviours(self.modules, view, driver, scope.timeout)
        yield from text_behaviours(self.modules, scope.texts, self.scope.protobuf)

    def _conditions(
        self,
        host_view: ClassView | None,
        host: Host | None,
        driver_view: ClassView | None,
        driver: Driver | None,
    ) -> Iterator[Behaviour]:
        if host_view is not None and host is not None:
            branches = self.roles.branches(host_view, self.scope.messages.request)
            yield from host_conditions(self.modules, self.scope, host_view, host, branches)
        if driver_view is not None and driver is not None:
            branches = self.roles.branches(driver_view, self.scope.messages.event)
            yield from driver_conditions(self.scope, driver_view, driver, branches)

    def _definitions(
        self,
        roles: Iterable[Definition | None],
        files: Iterable[File],
        importing: Container[File],
        records: RecordReader,
        session: Definition | None,
        documents: Iterable[str],
    ) -> Iterator[DefinitionFact]:
        """Yields the code of the roles, of what fills messages, of data types and of documents.

        importing: the files of which imported functions and constants are a part.
        """
        classes = [it for role in roles if role for it in self.modules.with_bases(role)]
        whole = {item.file.path for item in classes}
        for file in files:
            constructions = self._constructions_in(file)
            if file.path in whole or constructions:
                within = {item.within for item in constructions}
                yield from file_facts(file, None if file.path in whole else within)
            for item in self._imported(file, values=True) if file in importing else ():
                if not _is_class(item) and not item.path.endswith(_VERSION_FILE):
                    yield from definition_facts(item)
        for item in records.definitions():
            yield from type_facts(item)
        for item in self._event_file(session) if session else ():
            if not records.knows(item.name) and not _is_class(item):
                yield from definition_facts(item)
        for path in documents:
            document = self.modules.parsed(path)
            yield from file_facts(document) if document else ()

    def _report_imports(self) -> None:
        """Reports each import from a module inside the messages' package, which is not followed."""
        inside = f"{self.scope.protobuf[0]}/"
        for file in self.modules.mentioning(self.scope.protobuf[0]):
            self._report_inner_imports(file)
        for file in self.modules.mentioning(inside):
            for item in syntax.walk(file.root):
                source = item.child_by_field_name("source")
                types = any(child.type == "type" for child in item.children)
                if item.type not in _IMPORTS or types or source is None:
                    continue
                if (syntax.constant(source) or "").startswith(inside):
                    message = f"messages that are imported from {text(source)} cannot be followed"
                    span = self.modules.span(file, item)
                    help_ = f"import them from {self.scope.protobuf[0]!r}"
                    self.faults.unreadable(span, Rule.SDK_SOURCE, message, help_)

    def _report_inner_imports(self, file: File) -> None:
        """Reports each import of the messages by a call inside of a function."""
        for item in syntax.walk(file.root):
            if imported_module(item) == self.scope.protobuf[0] and syntax.enclosing(
                item, *syntax.FUNCTIONS
            ):
                message = "messages that are imported inside of a function cannot be followed"
                span = self.modules.span(file, item)
                help_ = "import them at the beginning of the file"
                self.faults.unreadable(span, Rule.SDK_SOURCE, message, help_)

    def _conversions(self, files: Iterable[File]) -> Iterator[Conversion]:
        literals = LiteralReader(self.modules, Faults())
        reader = ConversionReader(
            self.modules, literals, self.scope.protobuf, self.scope.behaviour.zero_values
        )
        for file in files:
            yield from reader.read(file, self._constructions_in(file))

    def _version(self) -> str:
        manifest = json.loads(self.package.files[_MANIFEST])
        version = manifest.get("version")
        if isinstance(version, str):
            return version
        self.faults.unreadable(
            self.package.span(_MANIFEST), Rule.SDK_PACKAGE, "the version is not a string"
        )
        return ""

    def _protocol_files(self, start: list[File]) -> list[File]:
        """Returns the files of the host and the driver, and the encoders that they import."""
        files: dict[str, File] = {}
        queue = list(start)
        while queue:
            file = queue.pop()
            if file.path not in files:
                files[file.path] = file
                queue += [
                    item.file
                    for item in self._imported(file, values=True)
                    if self.modules.uses(item.file, self.scope.protobuf)
                    and not self.modules.is_generated(item.file)
                ]
        return [files[path] for path in sorted(files)]

    def _constructing_files(self) -> Iterator[File]:
        """Yields every file that constructs messages."""
        yield from self.modules.using(self.scope.protobuf)

    def _imported(self, file: File, values: bool) -> Iterator[Definition]:
        for name, imported in sorted(file.imports.items()):
            definition = None if values and imported.types else self.modules.resolve(file, name)
            if definition is not None:
                yield definition

    def _constructions_in(self, file: File) -> list[ConstructionBuilder]:
        if file.path not in self._constructions:
            self._constructions[file.path] = constructions_of(
                self.modules,
                file,
                ProtoNames(self.modules, file, self.scope.protobuf),
                self.scope.behaviour.message_fields,
            )
        return self._constructions[file.path]

    def _view(self, definition: Definition) -> ClassView:
        if definition.key not in self._views:
            self._views[definition.key] = self._new_view(definition)
        return self._views[definition.key]

    def _new_view(self, definition: Definition) -> ClassView:
        classes = self.modules.with_bases(definition)
        files = {item.file.path: item.file for item in classes}
        files.update((item.path, item) for item in self.modules.using(self.scope.protobuf))
        constructions = [it for file in files.values() for it in self._constructions_in(file)]
        return ClassView(self.modules, classes, constructions)

    def _records(self, session: Definition | None, protocol_files: list[File]) -> RecordReader:
        """Returns the types and sets of literals that the protocol's code and the scope refer to."""
        records = RecordReader(self.modules, self.faults)
        start = [
            definition
            for file in (*protocol_files, *self.modules.generated())
            for definition in self._imported(file, values=False)
            if not self.modules.is_generated(definition.file)
        ]
        if session:
            start += self._event_file(session)
        records.read(start)
        for name in self.scope.required:
            self._required.require(records, name)
        self._required.distinct(records)
        return records

    def _event_file(self, session: Definition) -> Iterator[Definition]:
        """Yields the public definitions of the file that defines the session's event names."""
        for file in self._event_files(session):
            for name in sorted(file.exports):
                if name in file.definitions and not name.startswith("_"):
                    yield Definition(file, name, tuple(file.definitions[name]))

    def _event_files(self, session: Definition) -> Iterator[File]:
        for node in self.roles.emitter_types(self._view(session)):
            view = self._view(session)
            target = self.modules.resolve(view.file_of(node), text(node))
            for item in syntax.walk(target.node) if target else ():
                if item.type != "computed_property_name":
                    continue
                owner = syntax.member(item.named_children[0])
                enum = (
                    self.modules.resolve(target.file, text(owner[0])) if owner and target else None
                )
                if enum is not None:
                    yield enum.file
                    return
            if target is not None:
                yield target.file
                return


def _is_class(definition: Definition) -> bool:
    return definition.of(*CLASSES) is not None
