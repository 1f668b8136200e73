"""Finds the symbols of generated TypeScript modules that exist because of an arm."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sessiongen.config.model import Output
from sessiongen.ir.model import Model
from sessiongen.ir.schema import Field, Oneof
from sessiongen.targets.base import Symbol
from sessiongen.targets.typescript import naming
from sessiongen.targets.typescript.client import client_model, method_names
from sessiongen.targets.typescript.generation import context_of
from sessiongen.targets.typescript.requests import requests_model


class SymbolFinder:
    """Finds the generated symbols of an arm, and their lines where files exist."""

    def __init__(self, model: Model, output: Output) -> None:
        self._context = context_of(model, output)
        self._output = output
        self._lines: dict[str, list[str]] = {}

    def find(self, oneof: Oneof, arm: Field) -> Iterator[Symbol]:
        """Yields the symbols of an arm in the layers that the output has.

        There are none of an arm that the npm package lacks.
        """
        known = [item for item in self._context.protocol.unions if item.message == oneof.message]
        found = next((item for item in known if item.name == oneof.name), None)
        if found is None or arm not in found.arms:
            return
        for layer, owner, member in self._symbols(found, arm):
            if layer in self._output.layers:
                name = f"{owner}.{member}"
                yield Symbol(f"{layer}.ts", name, self._line(f"{layer}.ts", owner, member))

    def _symbols(self, oneof: Oneof, arm: Field) -> Iterator[tuple[str, str, str]]:
        """Yields the layer of each symbol, its owner and its name inside of that."""
        roles = self._context.protocol.roles
        name = self._context.binding.arm(arm)
        constant = naming.constant(self._context.union_symbol(oneof))
        yield "arms", f"{constant}_ARMS", name
        if arm in roles.request.arms:
            yield "requests", requests_model(self._context).handler, naming.method(
                naming.camel(arm.name)
            )
            method = naming.method(method_names(self._context)[arm.name])
            yield "client", client_model(self._context).client, method
        if arm in roles.event.arms:
            base = self._context.symbol(roles.event.full_name)
            yield "events", f"{base}Forwarders", name
            yield "events", "EVENT_NAMES", name
            yield "encoders", f"{naming.constant(base)}_ENCODERS", name

    def _line(self, file: str, owner: str, member: str) -> int | None:
        if file not in self._lines:
            path = self._output.folder / file
            text = path.read_text(encoding="utf-8") if path.is_file() else ""
            self._lines[file] = text.split("\n")
        head = re.compile(rf"export (const|class|interface|type) {re.escape(owner)}\b")
        start = re.compile(rf"  (readonly )?{re.escape(naming.key(member))}\??[(:]")
        inside = False
        for number, line in enumerate(self._lines[file], 1):
            inside = inside or head.match(line) is not None
            if inside and start.match(line):
                return number
        return None
