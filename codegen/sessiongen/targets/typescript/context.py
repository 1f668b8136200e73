"""What the layers are generated from: the protocol as the npm package has it, and its names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto

from sessiongen.config.tables import KeyPath, file_key_span
from sessiongen.diagnostics import Diagnostic, Rule
from sessiongen.ir.encoding_plan import MessagePlan, encoding_plans
from sessiongen.ir.model import Model
from sessiongen.ir.protocol import BoundEnum, Protocol
from sessiongen.ir.record_mapping import find_record
from sessiongen.ir.schema import Enum, Message, Oneof
from sessiongen.targets.typescript import naming
from sessiongen.targets.typescript.bindings import Binding, binding
from sessiongen.targets.typescript.message_imports import MessageImport, message_imports
from sessiongen.targets.typescript.options import TypeScriptOptions
from sessiongen.targets.typescript.overrides import Overrides
from sessiongen.vocabulary.model import Record, Vocabulary


@dataclass
class Context:
    """The protocol of an output.

    key_path: the key path of the output's table in codegen.toml.
    overrides: the handwritten conversions.
    faults: collected while the layers are generated.
    """

    model: Model
    protocol: Protocol
    options: TypeScriptOptions
    key_path: KeyPath
    overrides: Overrides
    faults: list[Diagnostic] = field(default_factory=list)

    @cached_property
    def binding(self) -> Binding:
        """How the messages are used."""
        names = {
            f"{self.message_imports[item.file].name}.{'_'.join(item.path)}"
            for item in definitions(self.model.protocol)
        }
        return binding(self.options.protobuf_es, frozenset(names))

    @cached_property
    def message_imports(self) -> dict[str, MessageImport]:
        """The import of the messages of each of the protocol's own files."""
        return message_imports(self.options, self.model.protocol.schema.own)

    @cached_property
    def vocabulary(self) -> Vocabulary | None:
        """The SDK whose objects are encoded."""
        return self.protocol.vocabulary("typescript")

    @cached_property
    def plans(self) -> dict[str, MessagePlan]:
        """How each message is encoded, by its full name."""
        return encoding_plans(self.protocol, self.model.annotated, self.vocabulary)

    def encoder(self, full_name: str) -> str:
        """Returns the name of a message's encoder."""
        return f"encode{self.symbol(full_name)}"

    @cached_property
    def empty_encoders(self) -> frozenset[str]:
        """The encoders of the messages that have no fields."""
        return frozenset(
            self.encoder(name) for name, plan in self.plans.items() if not plan.message.fields
        )

    @cached_property
    def enums(self) -> dict[str, BoundEnum]:
        """The protocol's enums by full name."""
        return {item.enum.full_name: item for item in self.protocol.enums}

    @cached_property
    def wide(self) -> frozenset[str]:
        """The full names of the fields of 64 bits, which are bigints."""
        return frozenset(_wide_fields(self.model))

    def record(self, message: Message) -> Record | None:
        """Returns the SDK's class that a message is made from."""
        if self.vocabulary is None:
            return None
        return find_record(message, self.model.annotated, self.vocabulary)

    def message(self, full_name: str) -> Message:
        """Returns a message by its full name."""
        return self.protocol.schema.messages[full_name]

    def message_type(self, full_name: str) -> str:
        """Returns the class of one of the protocol's own messages."""
        return self.class_of(self.message(full_name))

    def class_of(self, item: Message | Enum) -> str:
        """Returns the class of a message or enum."""
        return f"{self.message_imports[item.file].name}.{self.binding.message_class(item.path)}"

    def union_type(self, oneof: Oneof) -> str:
        """Returns the type of a oneof."""
        return f"{self.message_type(oneof.message)}['{self.binding.oneof_property(oneof)}']"

    def union_symbol(self, oneof: Oneof) -> str:
        """Returns the name of a oneof in generated code."""
        return self.symbol(oneof.message if oneof.main else f"{oneof.message}.{oneof.name}")

    def symbol(self, full_name: str) -> str:
        """Returns the name of a message, enum or further oneof in generated code."""
        return self._symbols[full_name]

    @cached_property
    def _symbols(self) -> dict[str, str]:
        """Those of the whole protocol, so that no name depends on what a package lacks."""
        schema = self.model.protocol.schema
        paths = {name: item.path for name, item in schema.messages.items()}
        paths |= {item.enum.full_name: item.enum.path for item in self.model.protocol.enums}
        for oneof in self.model.protocol.unions:
            if not oneof.main:
                name = naming.capital(naming.camel(oneof.name))
                paths[f"{oneof.message}.{oneof.name}"] = (
                    *schema.messages[oneof.message].path,
                    name,
                )
        return naming.symbols({"": ("",), **paths})

    def has_defaults(self, full_name: str) -> bool:
        """Whether fields of a message that are not set have their default value.

        Version 2 of protobuf-es has it so, except in proto3.
        """
        file = self.message(full_name).file
        syntax = {item.name: item.syntax for item in self.model.annotated.files}[file]
        return self.binding.version == 2 and syntax != "proto3"

    def is_own(self, full_name: str) -> bool:
        """Whether a message is declared in the protocol's own files."""
        message = self.protocol.schema.messages.get(full_name)
        return message is not None and message.file in self.protocol.schema.own

    def option_fault(self, key: str, fault: str, help_: str) -> None:
        """Reports a fault of a key of the output."""
        span = file_key_span(self.options.config, (*self.key_path, key))
        self.faults.append(Diagnostic(span, Rule.CONFIG_KEY, fault, help_))


def definitions(protocol: Protocol) -> list[Message | Enum]:
    """Returns the messages and enums of a protocol's own files."""
    return [*protocol.schema.own_messages(), *(item.enum for item in protocol.enums)]


_WIDE = {
    FieldDescriptorProto.TYPE_INT64,
    FieldDescriptorProto.TYPE_UINT64,
    FieldDescriptorProto.TYPE_SINT64,
    FieldDescriptorProto.TYPE_FIXED64,
    FieldDescriptorProto.TYPE_SFIXED64,
}


def _wide_fields(model: Model) -> Iterator[str]:
    def fields(prefix: str, message: DescriptorProto) -> Iterator[str]:
        name = f"{prefix}.{message.name}" if prefix else message.name
        yield from (f"{name}.{item.name}" for item in message.field if item.type in _WIDE)
        for nested in message.nested_type:
            yield from fields(name, nested)

    for file in model.annotated.files:
        for message in file.message_type:
            yield from fields(file.package, message)
