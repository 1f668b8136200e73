"""A protocol together with the descriptors and annotations that it was read from."""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic
from sessiongen.frontend.annotations import Annotated
from sessiongen.frontend.compiler import Compiled
from sessiongen.frontend.oldest import OldestMessages
from sessiongen.ir.protocol import Protocol


@dataclass(frozen=True)
class Model:
    """The input of a target.

    oldest: the oldest supported version of installed messages, if the configuration names one.
    """

    protocol: Protocol
    compiled: Compiled
    annotated: Annotated
    oldest: OldestMessages | None = None

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The warnings of protoc."""
        return self.compiled.warnings

    def cache_inputs(self, config: Config) -> list[str]:
        """Returns the files that were read, by import name or as a descriptor set."""
        descriptor_set = config.input.descriptor_set
        if descriptor_set is not None:
            return [descriptor_set.name]
        return [item.name for item in self.compiled.files]
