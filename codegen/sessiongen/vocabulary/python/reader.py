"""Reads the vocabulary of a Python SDK.

A definition that the scope requires and that is absent, or that cannot be read, is a fault.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sessiongen.diagnostics import Rule, arrange, failed
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import Reading, Vocabulary
from sessiongen.vocabulary.package import Package
from sessiongen.vocabulary.attribution import check_attribution
from sessiongen.vocabulary.ordering import normalized
from sessiongen.vocabulary.python.constructions import ConstructionBuilder, constructions_of
from sessiongen.vocabulary.python.classes import ClassView, Role
from sessiongen.vocabulary.python.driver import read_driver
from sessiongen.vocabulary.python.emitters import emitter_argument
from sessiongen.vocabulary.python.envelope import envelope_uses_of
from sessiongen.vocabulary.python.host import read_host
from sessiongen.vocabulary.python.modules import Definition, Module, Modules
from sessiongen.vocabulary.python.records import RecordReader
from sessiongen.vocabulary.python.tables import Tables
from sessiongen.vocabulary.python.session import read_session
from sessiongen.vocabulary.python.literals import constant, dotted
from sessiongen.vocabulary.scope import Scope
from sessiongen.vocabulary.required_definitions import RequiredDefinitions

_VERSION_FILE = "version.py"
_VERSION = "__version__"


def read(package: Package, scope: Scope) -> Reading:
    """Return the facts of a package."""
    faults = Faults()
    try:
        vocabulary = _PackageReader(package, scope, faults).read()
        if not failed(faults.items):
            check_attribution(vocabulary, package, scope, faults)
    except RecursionError:
        faults.unreadable(package.span(""), Rule.SDK_SOURCE, "a definition is nested too deep")
        return Reading(None, arrange(faults.items))
    return Reading(vocabulary, arrange(faults.items))


class _PackageReader:
    def __init__(self, package: Package, scope: Scope, faults: Faults) -> None:
        self.package = package
        self.scope = scope
        self.faults = faults
        self.modules = Modules(package, faults)
        self._required = RequiredDefinitions(package, scope, faults, self.modules)
        self._made: dict[str, list[ConstructionBuilder]] = {}
        self._protobuf = ".".join(scope.protobuf)

    def read(self) -> Vocabulary:
        scope, faults, modules = self.scope, self.faults, self.modules
        session, host, driver = (
            self._required.role(name, _is_class)
            for name in (scope.session, scope.host, scope.driver)
        )
        wire = self._wire([found.module for found in (host, driver) if found])
        records = self._records(session, wire)
        builders = {module.path: module for module in (*wire, *self._makers())}
        made = [item for path in sorted(builders) for item in self._builds(builders[path])]
        tables = Tables(modules, self._protobuf, faults)
        for module in builders.values():
            tables.read(module, self._builds(module))
        found = Vocabulary(
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
            constructions=tuple(item.build() for item in made),
            map_keys=tuple(tables.map_keys),
            envelope_uses=tuple(envelope_uses_of(modules, scope, self._builds, faults)),
            session=read_session(modules, session, faults) if session else None,
            host=read_host(self._role(host)) if host else None,
            driver=read_driver(self._role(driver)) if driver else None,
        )
        return normalized(found)

    def _version(self) -> str:
        path = f"{self.scope.package.replace('.', '/')}/{_VERSION_FILE}"
        module = self.modules.at(path) if path in self.package.files else None
        found = self.modules.resolve(module, _VERSION) if module else None
        version = constant(found.value) if found else None
        if version is not None:
            return version
        span = self.package.span(path)
        self.faults.unreadable(span, Rule.SDK_PACKAGE, f"{_VERSION} is not a constant here")
        return ""

    def _wire(self, start: list[Module]) -> list[Module]:
        """Return the modules of the host and the driver, and the encoders they load."""
        found: dict[str, Module] = {}
        queue = list(start)
        while queue:
            module = queue.pop()
            if module.path in found:
                continue
            found[module.path] = module
            queue += [
                item.module for item in self._imported(module, True) if self._makes(item.module)
            ]
        return [found[path] for path in sorted(found)]

    def _makers(self) -> Iterator[Module]:
        """Yield every module that constructs messages."""
        for module in self.modules.mentioning(self.scope.protobuf[0]):
            if self._makes(module):
                yield module

    def _makes(self, module: Module) -> bool:
        return any(self.modules.external(module, head) == self._protobuf for head in module.imports)

    def _imported(self, module: Module, always: bool) -> Iterator[Definition]:
        for head, imported in sorted(module.imports.items()):
            if imported.always or not always:
                found = self.modules.resolve(module, head)
                if found is not None:
                    yield found

    def _builds(self, module: Module) -> list[ConstructionBuilder]:
        if module.path not in self._made:
            self._made[module.path] = constructions_of(self.modules, module, self._protobuf)
        return self._made[module.path]

    def _role(self, definition: Definition) -> Role:
        view = ClassView(definition, self._builds(definition.module))
        return Role(self.modules, view, self.scope, self.faults)

    def _records(self, session: Definition | None, wire: list[Module]) -> RecordReader:
        """Read the classes that become messages, as the scope says."""
        records = RecordReader(self.modules, self.faults)
        start = [found for module in wire for found in self._imported(module, False)]
        if session:
            start += self._event_module(session)
        records.read(start)
        for name in self.scope.required:
            self._required.require(records, name)
        self._required.distinct(records)
        return records

    def _event_module(self, session: Definition) -> Iterator[Definition]:
        """Yield all that is public in the module that names the session's events."""
        argument = emitter_argument(session)
        name = dotted(argument) if argument is not None else None
        found = self.modules.resolve(session.module, name) if name else None
        return _public((found or session).module)


def _public(module: Module) -> Iterator[Definition]:
    for name, nodes in sorted(module.definitions.items()):
        if not name.startswith("_"):
            yield Definition(module, name, nodes[-1])


def _is_class(definition: Definition) -> bool:
    return isinstance(definition.node, ast.ClassDef)
