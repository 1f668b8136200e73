"""Finds the definitions that a scope names: role classes and required definitions.

Both languages share this code. A name that is missing, defined twice or unreadable is reported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Protocol, TypeVar

from sessiongen.diagnostics import Rule, Span
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import EnumFact, FieldFact, UnionFact, Record
from sessiongen.vocabulary.package import Package
from sessiongen.vocabulary.scope import Scope

_DUPLICATE_HELP = "give the two definitions different names"


class NamedDefinition(Protocol):
    """A definition in a package."""

    @property
    def name(self) -> str:
        """The name of the definition."""
        ...

    @property
    def path(self) -> str:
        """The path of its file in the package."""
        ...

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the definition."""
        ...


D = TypeVar("D", bound=NamedDefinition)


class DefinitionFinder(Protocol[D]):
    """Finds definitions in the modules of a package."""

    def locate(self, name: str) -> list[D]:
        """Returns every definition of a name in the package."""
        ...

    def definition_span(self, definition: D) -> Span:
        """Returns the position of a definition."""
        ...


class CollectedDefinitions(ABC, Generic[D]):
    """The types and sets of literals that were read; each definition is read once."""

    def __init__(self) -> None:
        self.enums: list[EnumFact] = []
        self.records: list[Record] = []
        self.unions: list[UnionFact] = []
        self._seen: dict[tuple[str, str], D] = {}

    @abstractmethod
    def definition(self, definition: D) -> Iterator[D]:
        """Reads one definition and yields those that it refers to."""

    def read(self, start: Iterable[D]) -> None:
        """Reads these definitions and all that they refer to."""
        queue = list(start)
        while queue:
            definition = queue.pop()
            if definition.key not in self._seen:
                self._seen[definition.key] = definition
                queue += self.definition(definition)

    def definitions(self) -> list[D]:
        """Returns the definitions of the enums, records and unions that were read."""
        return [item for item in self._seen.values() if self.knows(item.name)]

    def knows(self, name: str) -> bool:
        """Whether an enum, a record or a union of this name was read."""
        facts: list[EnumFact | Record | UnionFact] = [*self.enums, *self.records, *self.unions]
        return any(fact.name == name for fact in facts)

    def tagged(self, tag: str) -> bool:
        """Whether a record of this tag was read."""
        return any(record.tag == tag for record in self.records)

    def field(self, record: str, name: str) -> FieldFact | None:
        """Returns a field of a record that was read."""
        fields = [item for fact in self.records if fact.name == record for item in fact.fields]
        return next((item for item in fields if item.name == name), None)


class RequiredDefinitions(Generic[D]):
    """Finds the definitions that a scope names, and reports those that are missing."""

    def __init__(
        self, package: Package, scope: Scope, faults: Faults, modules: DefinitionFinder[D]
    ) -> None:
        self._package = package
        self._scope = scope
        self._faults = faults
        self._modules = modules

    def role(self, name: str, is_class: Callable[[D], bool]) -> D | None:
        """Returns the class with a role."""
        definitions = [item for item in self._modules.locate(name) if is_class(item)]
        if not definitions:
            self._missing(name, "class")
            return None
        self._report_duplicate(definitions)
        return definitions[0]

    def require(self, records: CollectedDefinitions[D], required: str) -> None:
        """Requires `Name` or `Name.field`; reports it if it is absent or cannot be read."""
        name, _, field = required.partition(".")
        if not records.knows(name) and not self._read(records, name):
            return
        if field and not records.knows(required):
            fact = records.field(name, field)
            if fact is None:
                self._missing(required, "field")
                return
            span = self._package.span(fact.place.file, fact.place.line)
            self._faults.unreadable(span, Rule.SDK_ENUM, f"{required} is not a set of constants")

    def distinct(self, records: CollectedDefinitions[D]) -> None:
        """Reports each name with two definitions: facts are identified by name alone."""
        first: dict[str, EnumFact | Record] = {}
        facts: list[EnumFact | Record] = [*records.enums, *records.records]
        for fact in sorted(facts, key=lambda item: item.place):
            earlier = first.setdefault(fact.name, fact)
            if earlier.place != fact.place:
                message = f"{fact.name} is defined here and in {earlier.place}"
                span = self._package.span(fact.place.file, fact.place.line)
                self._faults.unreadable(span, Rule.SDK_ENUM, message, _DUPLICATE_HELP)

    def _read(self, records: CollectedDefinitions[D], name: str) -> bool:
        definitions = self._modules.locate(name)
        if not definitions:
            self._missing(name, "definition")
            return False
        self._report_duplicate(definitions)
        records.read(definitions[:1])
        if records.knows(name):
            return True
        message = f"{name} is neither a set of literals nor a type with fields that can be read"
        self._faults.unreadable(
            self._modules.definition_span(definitions[0]), Rule.SDK_ENUM, message
        )
        return False

    def _missing(self, name: str, kind: str) -> None:
        message = f"no {kind} {name} is defined in {self._scope.package}"
        help_ = (
            "if it was renamed, change the scope; if this version never had it, ignore the warning"
        )
        self._faults.missing(self._package.span(""), message, help_)

    def _report_duplicate(self, definitions: list[D]) -> None:
        if len(definitions) > 1:
            message = f"{definitions[1].name} is defined here and in {definitions[0].path}"
            span = self._modules.definition_span(definitions[1])
            self._faults.unreadable(span, Rule.SDK_ENUM, message, _DUPLICATE_HELP)
