"""Reads the vocabulary of a Python SDK.

A required definition that is missing or cannot be read is reported.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator

from sessiongen.diagnostics import Rule, arrange, failed
from sessiongen.vocabulary.behaviours import TEXT
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import (
    Behaviour,
    Conversion,
    DefinitionFact,
    Driver,
    FieldSource,
    Place,
    Reading,
    Vocabulary,
)
from sessiongen.vocabulary.package import Package
from sessiongen.vocabulary.attribution import check_attribution
from sessiongen.vocabulary.ordering import normalized
from sessiongen.vocabulary.python.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.python.constructions import constructions_of
from sessiongen.vocabulary.python.constants import fixed_values
from sessiongen.vocabulary.python.conversions import ConversionReader
from sessiongen.vocabulary.python.copying import copy_behaviours
from sessiongen.vocabulary.python.classes import ClassView, Role
from sessiongen.vocabulary.python.definitions import (
    definition_facts,
    module_facts,
    type_facts,
)
from sessiongen.vocabulary.python.driver import read_driver
from sessiongen.vocabulary.python.emitters import emitter_argument
from sessiongen.vocabulary.python.envelope import envelope_uses_of
from sessiongen.vocabulary.python.host import read_host
from sessiongen.vocabulary.python.kinds import kind_behaviours
from sessiongen.vocabulary.python.lists import list_behaviours
from sessiongen.vocabulary.python.parts import part_behaviours
from sessiongen.vocabulary.python.sending import driver_conditions, host_conditions
from sessiongen.vocabulary.python.timeouts import timeout_behaviours
from sessiongen.vocabulary.python.variants import variant_behaviours
from sessiongen.vocabulary.python.written_texts import text_behaviours
from sessiongen.vocabulary.python.modules import Definition, Modules
from sessiongen.vocabulary.python.parsed_module import Module
from sessiongen.vocabulary.python.records import RecordReader
from sessiongen.vocabulary.python.tables import Tables
from sessiongen.vocabulary.python.session import read_session
from sessiongen.vocabulary.python.sources import field_sources
from sessiongen.vocabulary.python.literals import LiteralReader, constant, dotted, last
from sessiongen.vocabulary.scope import Scope
from sessiongen.vocabulary.required_definitions import RequiredDefinitions

_VERSION_FILE = "version.py"
_VERSION = "__version__"
_IMPORTING_CALLS = {"__import__", "import_module"}
_IMPORT_HELP = "import them with an `import` statement"


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
        self._required = RequiredDefinitions(package, scope, faults, self.modules)
        self._constructions: dict[str, list[ConstructionBuilder]] = {}
        self._protobuf = ".".join(scope.protobuf)

    def read(self) -> Vocabulary:
        scope, faults, modules = self.scope, self.faults, self.modules
        session, host, driver = (
            self._required.role(name, _is_class) if name else None
            for name in (scope.session, scope.host, scope.driver)
        )
        protocol_modules = self._protocol_modules(
            [
                item.module
                for role in (host, driver)
                for item in (modules.with_bases(role) if role else ())
            ]
        )
        records = self._records(session, protocol_modules)
        constructing = {
            module.path: module for module in (*protocol_modules, *self._constructing_modules())
        }
        in_order = [constructing[path] for path in sorted(constructing)]
        constructions = [it for module in in_order for it in self._constructions_in(module)]
        self._report_imports()
        tables = self._tables(constructing.values())
        driver_role, host_role = (self._role(it) if it else None for it in (driver, host))
        driver_facts = read_driver(driver_role) if driver_role else None
        host_facts = read_host(host_role) if host_role else None
        session_fact, emissions = read_session(modules, session, faults) if session else (None, [])
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
                *records.defaults,
                *self._behaviours(constructing.values()),
                *self._driver_behaviours(driver_role, driver_facts),
                *(host_conditions(host_role, host_facts) if host_role and host_facts else ()),
            ),
            constructions=tuple(item.build() for item in constructions),
            map_keys=tuple(tables.map_keys),
            envelope_uses=tuple(envelope_uses_of(modules, scope, self._constructions_in, faults)),
            session=session_fact,
            host=host_facts,
            driver=driver_facts,
            generated=next((Place(it.path, 1) for it in modules.generated()), None),
        )
        documents = {it.place.file for it in vocabulary.behaviours if it.kind == TEXT and it.place}
        definitions = self._definitions(
            (host, driver), constructing.values(), protocol_modules, records, session, documents
        )
        return normalized(vocabulary._replace(definitions=(*definitions, *emissions)))

    def _tables(self, modules: Iterable[Module]) -> Tables:
        tables = Tables(self.modules, self._protobuf, self.faults)
        for module in modules:
            tables.read(module, self._constructions_in(module))
        return tables

    def _conversions(self, modules: Iterable[Module]) -> Iterator[Conversion]:
        literals = LiteralReader(self.modules, Faults())
        reader = ConversionReader(
            self.modules, literals, self._protobuf, self.scope.behaviour.zero_values
        )
        for module in modules:
            yield from reader.read(module, self._constructions_in(module))

    def _sources(self, modules: Iterable[Module]) -> Iterator[FieldSource]:
        for module in modules:
            yield from field_sources(self.modules, module, self._constructions_in(module))

    def _behaviours(self, modules: Iterable[Module]) -> Iterator[Behaviour]:
        scope = self.scope.behaviour
        for module in modules:
            constructions = self._constructions_in(module)
            yield from list_behaviours(self.modules, module, constructions, scope.repeated)
            yield from kind_behaviours(module, constructions)
            yield from variant_behaviours(self.modules, module, constructions)
            yield from copy_behaviours(self.modules, module, constructions)
            yield from part_behaviours(self.modules, module, constructions, scope.parts)
        yield from text_behaviours(self.modules, scope.texts, self._protobuf)

    def _driver_behaviours(self, role: Role | None, driver: Driver | None) -> Iterator[Behaviour]:
        timeout = self.scope.behaviour.timeout
        if role is not None and driver is not None:
            yield from driver_conditions(role, driver)
            yield from timeout_behaviours(role, driver, timeout) if timeout else ()

    def _definitions(
        self,
        roles: Iterable[Definition | None],
        modules: Iterable[Module],
        importing: Container[Module],
        records: RecordReader,
        session: Definition | None,
        documents: Iterable[str],
    ) -> Iterator[DefinitionFact]:
        """Yields the code of the roles, of what fills messages, of data types and of documents.

        importing: the modules of which imported functions and constants are a part.
        """
        classes = [it for role in roles if role for it in self.modules.with_bases(role)]
        whole = {item.module.path for item in classes}
        for module in modules:
            constructions = self._constructions_in(module)
            if module.path in whole or constructions:
                within = {item.within for item in constructions}
                yield from module_facts(module, None if module.path in whole else within)
            for item in self._imported(module, False) if module in importing else ():
                if not _is_class(item) and not item.path.endswith(_VERSION_FILE):
                    yield from definition_facts(item)
        for item in records.definitions():
            yield from type_facts(item)
        for item in self._event_module(session) if session else ():
            if not records.knows(item.name) and not _is_class(item):
                yield from definition_facts(item)
        for path in documents:
            document = self.modules.parsed(path)
            yield from module_facts(document) if document else ()

    def _report_imports(self) -> None:
        """Reports each call that imports the messages, which cannot be followed."""
        package = self.scope.protobuf[0]
        for module in self.modules.mentioning(package):
            for node in ast.walk(module.tree):
                name = last(node.func) if isinstance(node, ast.Call) else ""
                if name not in _IMPORTING_CALLS or not isinstance(node, ast.Call):
                    continue
                if any((constant(item) or "").startswith(package) for item in node.args):
                    message = "messages that are imported by a call cannot be followed"
                    span = self.modules.span(module, node)
                    self.faults.unreadable(span, Rule.SDK_SOURCE, message, _IMPORT_HELP)

    def _version(self) -> str:
        path = f"{self.scope.package.replace('.', '/')}/{_VERSION_FILE}"
        module = self.modules.parsed(path) if path in self.package.files else None
        definition = self.modules.resolve(module, _VERSION) if module else None
        version = constant(definition.value) if definition else None
        if version is not None:
            return version
        span = self.package.span(path)
        self.faults.unreadable(span, Rule.SDK_PACKAGE, f"{_VERSION} is not a constant here")
        return ""

    def _protocol_modules(self, start: list[Module]) -> list[Module]:
        """Returns the modules of the host and the driver, and the encoders that they import."""
        modules: dict[str, Module] = {}
        queue = list(start)
        while queue:
            module = queue.pop()
            if module.path in modules:
                continue
            modules[module.path] = module
            queue += [
                item.module
                for item in self._imported(module, True)
                if self._constructs_messages(item.module)
            ]
        return [modules[path] for path in sorted(modules)]

    def _constructing_modules(self) -> Iterator[Module]:
        """Yields every module that constructs messages."""
        yield from self.modules.using(self._protobuf)

    def _constructs_messages(self, module: Module) -> bool:
        uses = self.modules.uses(module, self._protobuf)
        return uses and not self.modules.is_generated(module)

    def _imported(self, module: Module, always: bool) -> Iterator[Definition]:
        for head, imported in sorted(module.imports.items()):
            if imported.always or not always:
                definition = self.modules.resolve(module, head)
                if definition is not None:
                    yield definition

    def _constructions_in(self, module: Module) -> list[ConstructionBuilder]:
        if module.path not in self._constructions:
            self._constructions[module.path] = constructions_of(
                self.modules, module, self._protobuf
            )
        return self._constructions[module.path]

    def _role(self, definition: Definition) -> Role:
        classes = self.modules.with_bases(definition)
        modules = {item.module.path: item.module for item in classes}
        modules.update((item.path, item) for item in self.modules.using(self._protobuf))
        constructions = [it for module in modules.values() for it in self._constructions_in(module)]
        view = ClassView(self.modules, classes, constructions)
        return Role(self.modules, view, self.scope, self.faults)

    def _records(self, session: Definition | None, protocol_modules: list[Module]) -> RecordReader:
        """Returns the types and sets of literals that the protocol's code and the scope refer to."""
        records = RecordReader(self.modules, self.faults, self.scope.required)
        start = [
            definition
            for module in (*protocol_modules, *self.modules.generated())
            for definition in self._imported(module, False)
            if not self.modules.is_generated(definition.module)
        ]
        if session:
            start += self._event_module(session)
        records.read(start)
        for name in self.scope.required:
            self._required.require(records, name)
        self._required.distinct(records)
        return records

    def _event_module(self, session: Definition) -> Iterator[Definition]:
        """Yields the public definitions of the module that defines the session's event names."""
        classes = self.modules.with_bases(session)
        emitter = next((item for item in classes if emitter_argument(item)), session)
        argument = emitter_argument(emitter)
        name = dotted(argument) if argument is not None else None
        definition = self.modules.resolve(emitter.module, name) if name else None
        return _public((definition or session).module)


def _public(module: Module) -> Iterator[Definition]:
    for name, nodes in sorted(module.definitions.items()):
        if not name.startswith("_"):
            yield Definition(module, name, nodes[-1])


def _is_class(definition: Definition) -> bool:
    return isinstance(definition.node, ast.ClassDef)
