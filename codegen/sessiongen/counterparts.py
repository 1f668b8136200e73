"""Finds enums and tagged oneofs of a protocol that an SDK's vocabulary does not have.

The code for them is generated from names alone: an enum has no literals of the SDK, and the tag
of an arm is the name of the arm. At run time such code raises or leaves fields unset, so
`generate` and `check` warn, unless a gap file declares the difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sessiongen.config.model import Config
from sessiongen.config.sdks import gap_file
from sessiongen.diagnostics import Diagnostic, Rule, Severity
from sessiongen.frontend.annotations import Annotated
from sessiongen.ir.encoding_plan import MessagePlan, TaggedOneof, encoding_plans
from sessiongen.ir.enum_mapping import matching_enums
from sessiongen.ir.model import Model
from sessiongen.ir.protocol import Protocol
from sessiongen.ir.reachability import reachable_enums
from sessiongen.ir.record_mapping import find_record
from sessiongen.ir.schema import Enum, Message
from sessiongen.parity.gaps import load_gaps
from sessiongen.paths import display
from sessiongen.vocabulary.model import Vocabulary


def missing_counterparts(model: Model, config: Config) -> list[Diagnostic]:
    """Returns a warning for each missing enum and tagged oneof.

    Each output is compared with the SDK whose objects it converts.
    """
    languages = dict.fromkeys(output.language for output in config.outputs)
    paths = dict(zip(model.protocol.vocabularies, config.sdks.vocabularies, strict=True))
    found = [model.protocol.vocabulary(language) for language in languages]
    return [
        diagnostic
        for vocabulary in found
        if vocabulary is not None
        for diagnostic in _Search(model, vocabulary, paths[vocabulary]).diagnostics()
    ]


class _Search:
    def __init__(self, model: Model, vocabulary: Vocabulary, path: Path) -> None:
        self._protocol: Protocol = model.protocol
        self._annotated: Annotated = model.annotated
        self._vocabulary = vocabulary
        self._gap_file = display(gap_file(path))
        self._declared = {gap.id for gap in load_gaps(path, vocabulary.sdk)}

    def diagnostics(self) -> Iterator[Diagnostic]:
        carried = reachable_enums(self._protocol)
        for bound in self._protocol.enums:
            if bound.enum.full_name in carried and bound.binding(self._vocabulary) is None:
                yield from self._enum(bound.enum)
        plans = encoding_plans(self._protocol, self._annotated, self._vocabulary)
        for plan in plans.values():
            for oneof in plan.tagged_oneofs:
                yield from self._oneof(plan, oneof)

    def _enum(self, enum: Enum) -> Iterator[Diagnostic]:
        difference_id = f"enum {enum.full_name}"
        if difference_id in self._declared:
            return
        names = matching_enums(enum, self._annotated, self._vocabulary)
        hint = f"; with such values it has {', '.join(names)}" if names else ""
        help_ = (
            f'name the SDK\'s enum: [annotations."{enum.full_name}"] sdk_enum = "..."{hint}; '
            f'or declare the gap "{difference_id}" in {self._gap_file}'
        )
        fault = (
            f"{self._vocabulary.sdk} has no enum for {enum.full_name}, so the generated code has "
            "none of its values"
        )
        yield Diagnostic(enum.span, Rule.SDK_COUNTERPART, fault, help_, Severity.WARNING)

    def _oneof(self, plan: MessagePlan, tagged: TaggedOneof) -> Iterator[Diagnostic]:
        messages = {
            item.arm.name: self._protocol.schema.messages[item.arm.value.type_name]
            for item in tagged.arms
        }
        missing = {arm: item for arm, item in messages.items() if self._is_missing(item)}
        if not missing:
            return
        name = f"{tagged.oneof.message}.{tagged.oneof.name}"
        first = next(iter(missing.values()))
        fault = (
            f"{self._vocabulary.sdk} has no class for these arms of {name}, so the generated code "
            f"takes their names as tags: {', '.join(missing)}"
        )
        help_ = (
            f'name the class of each: [annotations."{first.full_name}"] sdk_class = "..."'
            f"{self._members(plan, tagged)}; "
            f'or declare the gap "{_difference_id(first)}" in {self._gap_file}'
        )
        span = tagged.oneof.span
        yield Diagnostic(span, Rule.SDK_COUNTERPART, fault, help_, Severity.WARNING)

    def _is_missing(self, message: Message) -> bool:
        """Whether an arm's message has no class in the SDK and no declared gap."""
        record = find_record(message, self._annotated, self._vocabulary)
        return record is None and _difference_id(message) not in self._declared

    def _members(self, plan: MessagePlan, tagged: TaggedOneof) -> str:
        """Returns the member types of the SDK's union for a oneof, as a part of a help text."""
        record = find_record(plan.message, self._annotated, self._vocabulary)
        name = f"{record.name if record else ''}.{tagged.oneof.name}"
        for union in self._vocabulary.unions:
            if union.name == name:
                return f"; {name} holds {', '.join(union.members)}"
        return ""


def _difference_id(message: Message) -> str:
    """Returns the id under which `parity` reports a message without a class."""
    return f"message {'.'.join(message.path)}"
