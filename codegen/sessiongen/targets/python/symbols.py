"""Finds the symbols of a generated Python package that are generated for an arm."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from sessiongen.config.model import Output
from sessiongen.ir.model import Model
from sessiongen.ir.schema import Field, Oneof
from sessiongen.targets.base import Symbol
from sessiongen.targets.python.client import client_model
from sessiongen.targets.python.context import context
from sessiongen.targets.python.dispatch import dispatch_model
from sessiongen.targets.python.errors import error_names
from sessiongen.targets.python.events import events_model
from sessiongen.targets.python.installed_messages import installed_modules
from sessiongen.targets.python.payload_names import PayloadNames
from sessiongen.targets.python.options import PythonOptions
from sessiongen.targets.python.requests import requests_model
from sessiongen.targets.python.responses import response_plans


class SymbolFinder:
    """Finds the generated symbols of an arm, and their lines if the files exist."""

    def __init__(self, model: Model, output: Output) -> None:
        assert isinstance(output.options, PythonOptions)
        installed = installed_modules(model, output.options)
        self._context = context(model, installed, {}, output.layers)
        self._dispatch = dispatch_model(self._context)
        self._names = PayloadNames(self._context)
        self._output = output
        self._lines: dict[str, dict[str, int]] = {}
        self._roles = model.protocol.roles
        if self._roles.request.present:
            self._requests = requests_model(self._context)
            self._client = client_model(self._context)
        if self._roles.event.present:
            self._events = events_model(self._context)

    def find(self, oneof: Oneof, arm: Field) -> Iterator[Symbol]:
        """Yields the symbols of an arm in the layers that the output has."""
        for layer, name in self._symbols(oneof, arm):
            if layer in self._output.layers:
                yield Symbol(f"{layer}.py", name, self._line(f"{layer}.py", name))

    def _symbols(self, oneof: Oneof, arm: Field) -> Iterator[tuple[str, str]]:
        for union_model in self._dispatch.unions:
            if union_model.full_name == f"{oneof.message}.{oneof.name}":
                attribute = next(
                    item.attribute for item in union_model.arms if item.name == arm.name
                )
                yield "dispatch", union_model.table
                yield "dispatch", f"{union_model.handlers}.{attribute}"
        if arm in self._roles.request.arms:
            handler = next(item for item in self._requests.methods if item.arm == arm.name)
            yield "requests", f"{self._requests.handler}.{handler.name}"
            method = next(item for item in self._client.methods if item.arm == arm.name)
            yield "client", f"{self._client.client}.{method.name}"
        if arm in self._roles.event.arms:
            event = next(item for item in self._events.events if item.arm == arm.name)
            yield "events", f"{self._events.base}Sink.{event.name}"
            yield "events", f"{self._events.base}Forwarders.{event.forwarder}"
            yield "events", f"{self._events.base}Listeners.{event.listener}"
        if any(arm is item.arm for item in self._roles.error_arms):
            yield "errors", error_names(self._context)[arm.name]
        yield from self._coders(oneof, arm)

    def _coders(self, oneof: Oneof, arm: Field) -> Iterator[tuple[str, str]]:
        """Yields the encoder, the models and the decoder of an arm's payload that a host sends."""
        plans = self._context.plans
        sent = {self._roles.event.full_name, self._roles.response.full_name, *plans}
        if oneof.message in sent and arm.value.type_name in plans:
            message = plans[arm.value.type_name].message
            name = self._names.function(message)
            title = self._names.title(message)
            yield "encoders", f"encode_{name}"
            if any(item.message is message for item in response_plans(self._context)):
                yield "responses", title
            yield "models", title
            yield "decoders", f"decode_{name}"

    def _line(self, file: str, symbol: str) -> int | None:
        if file not in self._lines:
            self._lines[file] = _symbol_lines(self._output.folder / file)
        return self._lines[file].get(symbol)


def _symbol_lines(path: Path) -> dict[str, int]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    lines: dict[str, int] = {}
    for node in tree.body:
        lines.update({name: node.lineno for name in _names(node)})
        if isinstance(node, ast.ClassDef):
            lines.update(
                {f"{node.name}.{n}": item.lineno for item in node.body for n in _names(item)}
            )
    return lines


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []
