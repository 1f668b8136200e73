"""The checked configuration: immutable values with absolute paths."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path

from sessiongen.config.sdks import Sdks
from sessiongen.config.tables import KeyPath, key_span
from sessiongen.diagnostics import Span
from sessiongen.paths import display

ROLES = ("envelope", "event", "request", "response", "correlation", "error", "timestamp")
# The keys of [roles] that select arms by their names, with the role of these arms.
ARM_PATTERNS = {"events": "event", "requests": "request", "responses": "response"}
# The keys of [roles] that take several names.
LISTS = ("error", *ARM_PATTERNS)
ANNOTATIONS = (
    "sdk_class",
    "sdk_field",
    "response",
    "role",
    "sdk_event",
    "sdk_enum",
    "unknown",
    "sdk_value",
)


@dataclass(frozen=True)
class Input:
    """The input; one of protos, descriptor_set and messages is set, or messages and protos.

    protos: .proto files, with the include paths under which imports are found. Beside messages,
        only their comments and positions are used.
    descriptor_set: a serialized google.protobuf.FileDescriptorSet.
    messages: the dotted name of an installed Python module of generated messages.
    oldest: a wheel or a descriptor set with the oldest supported version of `messages`.
    """

    protos: tuple[Path, ...] = ()
    include: tuple[Path, ...] = ()
    descriptor_set: Path | None = None
    messages: str | None = None
    oldest: Path | None = None


@dataclass(frozen=True)
class ConfigValue:
    """A value of the configuration with the path of its key.

    names: empty for `false`, which means that the protocol has no such element.
    """

    names: tuple[str, ...]
    key_path: KeyPath

    @property
    def value(self) -> str | None:
        """The only name, or None for `false`."""
        return self.names[0] if self.names else None


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """The options of an output that its language determines; each target has a subclass.

    folder: the folder of the generated files and of their manifest.
    inputs: files other than the protocol that the generated files depend on.
    cacheable: whether the generated files depend only on files that the cache can check.
    """

    folder: Path
    inputs: tuple[Path, ...] = ()
    cacheable: bool = True


@dataclass(frozen=True)
class Output:
    """One package to generate.

    layers: the layers to generate, including those that others need.
    requested_layers: the layers that the configuration lists; empty if it lists none.
    """

    language: str
    layers: tuple[str, ...]
    options: OutputOptions
    key_path: KeyPath
    requested_layers: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """The folder of the generated files."""
        return self.options.folder


@dataclass(frozen=True)
class Config:
    """A checked codegen.toml. Roles and annotations keep their key paths for diagnostics.

    roles: role name, or key of ARM_PATTERNS, to names of messages, fields or arms.
    annotations: (full name of the element, annotation) to its value.
    """

    path: Path
    text: str = field(repr=False)
    input: Input
    outputs: tuple[Output, ...] = ()
    roles: dict[str, ConfigValue] = field(default_factory=dict)
    annotations: dict[tuple[str, str], ConfigValue] = field(default_factory=dict)
    sdks: Sdks = Sdks()

    @property
    def root(self) -> Path:
        """The folder of codegen.toml, to which its paths are relative."""
        return self.path.parent

    @property
    def option(self) -> str:
        """The option with which a command reads this configuration, "" for the default."""
        path = display(self.path)
        return "" if path == "codegen.toml" else f" --config {shlex.quote(path)}"

    def span(self, key_path: KeyPath) -> Span:
        """Returns the position of a key, for a diagnostic."""
        return key_span(self.path, self.text, key_path)

    def with_descriptor_set(self, path: Path) -> Config:
        """Returns the same configuration with a FileDescriptorSet as its input."""
        return replace(self, input=Input(descriptor_set=path.absolute()))
