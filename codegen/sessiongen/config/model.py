"""The checked configuration as frozen values, with absolute paths."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from sessiongen.config.sdks import Sdks
from sessiongen.config.tables import KeyPath, key_span
from sessiongen.diagnostics import Span
from sessiongen.paths import display

OPTIONAL_ROLES = ("envelope", "correlation", "error", "timestamp")
ROLES = ("envelope", "event", "request", "response", "correlation", "error", "timestamp")
ANNOTATIONS = (
    "sdk_class",
    "sdk_field",
    "response",
    "sdk_event",
    "sdk_enum",
    "unknown",
    "sdk_value",
)


@dataclass(frozen=True)
class Input:
    """Where the protocol is read from: exactly one of the three kinds is set.

    protos: .proto files, with the include paths under which imports are found.
    descriptor_set: a serialized google.protobuf.FileDescriptorSet.
    messages: the dotted name of an installed Python module of generated messages.
    """

    protos: tuple[Path, ...] = ()
    include: tuple[Path, ...] = ()
    descriptor_set: Path | None = None
    messages: str | None = None


@dataclass(frozen=True)
class ConfigValue:
    """A value of the configuration with the path of its key.

    value: None where the configuration says `false`: the protocol has none.
    """

    value: str | None
    key_path: KeyPath


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """What one language needs to know of an output; each target has a subclass of its own.

    folder: the folder of the generated files, which holds their manifest.
    inputs: files other than the protocol that the generated files depend on.
    cacheable: whether the generated files depend on nothing but files that can be named.
    """

    folder: Path
    inputs: tuple[Path, ...] = ()
    cacheable: bool = True


@dataclass(frozen=True)
class Output:
    """One package to generate.

    layers: the names of the layers to generate, those that others need included.
    requested_layers: the names that the configuration lists; none if it leaves the choice open.
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

    roles: role name to message or field name.
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
        """The folder of codegen.toml, against which its paths are read."""
        return self.path.parent

    @property
    def option(self) -> str:
        """The option that a command needs to read this configuration, or nothing."""
        shown = display(self.path)
        return "" if shown == "codegen.toml" else f" --config {shown}"

    def span(self, key_path: KeyPath) -> Span:
        """Return the position of a key, for a diagnostic."""
        return key_span(self.path, self.text, key_path)

    def with_descriptor_set(self, path: Path) -> Config:
        """Return the same configuration with a FileDescriptorSet as its input."""
        return replace(self, input=Input(descriptor_set=path.absolute()))
