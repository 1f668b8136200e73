"""Generates the modules of a TypeScript output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2 import Environment

from sessiongen.config.model import Output
from sessiongen.diagnostics import Diagnostic, InputError
from sessiongen.ir.model import Model
from sessiongen.ir.protocol import Protocol
from sessiongen.targets.typescript import overrides, published
from sessiongen.targets.typescript.arms import arm_type, arms_model
from sessiongen.targets.typescript.clashes import clashes
from sessiongen.targets.typescript.client import client_model
from sessiongen.targets.typescript.context import Context
from sessiongen.targets.typescript.encoders import encoders_model, override_names
from sessiongen.targets.typescript.enums import enums_model
from sessiongen.targets.typescript.events import events_model
from sessiongen.targets.typescript.helpers import without_unused
from sessiongen.targets.typescript.options import TypeScriptOptions
from sessiongen.targets.layers import layer_faults
from sessiongen.targets.templates import environment
from sessiongen.targets.typescript.imports import with_imports
from sessiongen.targets.typescript.layout import bracketed
from sessiongen.targets.typescript.requests import requests_model
from sessiongen.targets.typescript.sources import sources_model
from sessiongen.targets.typescript.tsdoc import comment, tsdoc

_Values = dict[str, Any]


def generate(model: Model, output: Output, version: str) -> dict[str, str]:
    """Returns the modules by their path in the output folder.

    Raises:
        InputError: names coincide, a key of the output names nothing, or a file that it
            names cannot be read.
    """
    context = _checked_context(model, output)
    if context.faults:
        raise InputError(context.faults)
    templates = environment("typescript", {"tsdoc": tsdoc}, bracketed=bracketed)
    bodies = _bodies(context, output, templates)
    extra = {"overrides": "./overrides.js"} if context.overrides.functions else {}
    modules = with_imports(bodies, context.message_imports.values(), context.binding, extra)
    modules["index"] = templates.get_template("index.ts.j2").render(model=sorted(bodies))
    if context.overrides.functions and "sources" in bodies:
        modules["overrides"] = context.overrides.text
    header = templates.get_template("_header.j2").render(
        version=version, source=comment(model.compiled.origin), header=context.options.header
    )
    return {f"{name}.ts": _with_header(header, text) for name, text in modules.items()}


def _bodies(context: Context, output: Output, templates: Environment) -> dict[str, str]:
    """Returns the texts of the layers without header and imports."""
    rendered = {
        layer: templates.get_template(f"{layer}.ts.j2").render(
            binding=context.binding, **_VALUES[layer](context)
        )
        for layer in output.layers
        if not _obstacle(layer, context.protocol)
    }
    requested = output.requested_layers
    if "values" in rendered and requested and "values" not in requested:
        users = [text for layer, text in rendered.items() if layer != "values"]
        rendered["values"] = without_unused(rendered["values"], [*users, context.overrides.text])
    # A file without an export would be no module.
    return {layer: text.lstrip("\n") for layer, text in rendered.items() if text.strip()}


def faults(model: Model, output: Output) -> list[Diagnostic]:
    """Returns the faults with which `generate` refuses an output."""
    try:
        return _checked_context(model, output).faults
    except InputError as error:
        return error.diagnostics


def _checked_context(model: Model, output: Output) -> Context:
    """Returns what the layers are generated from, with the faults of the output."""
    context = context_of(model, output)
    context.faults += clashes(context)
    context.faults += context.overrides.faults(override_names(context))
    _check_namespaces(context)
    _check_seconds(context)
    obstacles = {layer: _obstacle(layer, context.protocol) for layer in output.layers}
    context.faults += layer_faults(output, context.options.config, obstacles)
    return context


def _with_header(header: str, text: str) -> str:
    """Returns a module below its header; prettier leaves no blank line before an import."""
    begins_with_import = text.startswith(("import ", "/*"))
    return f"{header}{text}" if begins_with_import else f"{header}\n{text}"


def context_of(model: Model, output: Output) -> Context:
    """Returns what the layers of an output are generated from."""
    assert isinstance(output.options, TypeScriptOptions)
    options = output.options
    protocol = model.protocol
    if options.messages is not None:
        protocol = published.restricted(protocol, published.load(options.messages))
    return Context(model, protocol, options, output.key_path, overrides.load(options.overrides))


def lacking(model: Model, output: Output) -> list[str]:
    """Returns the names of what an output leaves out, as its npm package lacks it."""
    assert isinstance(output.options, TypeScriptOptions)
    path = output.options.messages
    return published.lacking(model.protocol, published.load(path)) if path else []


def _requests(context: Context) -> _Values:
    return {"model": requests_model(context)}


def _client(context: Context) -> _Values:
    response = context.protocol.roles.response
    arm = arm_type(context, response.oneof) if response.present else ""
    return {
        "model": client_model(context),
        "requests": requests_model(context),
        "response_arm": arm,
    }


def _errors(context: Context) -> _Values:
    response = context.protocol.roles.response
    payload = context.union_type(response.oneof) if response.present else "undefined"
    return {"model": {"payload": payload}}


_VALUES: dict[str, Callable[[Context], _Values]] = {
    "arms": lambda context: {"model": arms_model(context)},
    "requests": _requests,
    "client": _client,
    "events": lambda context: {"model": events_model(context)},
    "enums": lambda context: {"model": enums_model(context)},
    "encoders": lambda context: {"model": encoders_model(context)},
    "sources": lambda context: {"model": sources_model(context)},
    "errors": _errors,
    "values": lambda context: {},
}


def _obstacle(layer: str, protocol: Protocol) -> str:
    """Returns why a protocol cannot have a layer, or "" if it can."""
    roles = protocol.roles
    if layer in ("requests", "client") and not roles.request.arms:
        return "the protocol has no requests"
    if layer == "events" and not roles.event.arms:
        return "the protocol has no events"
    if layer in ("encoders", "sources") and not (roles.event.arms or roles.response.arms):
        return "the protocol has neither events nor responses"
    return ""


def _check_namespaces(context: Context) -> None:
    for file in context.options.namespaces:
        if file not in context.message_imports:
            fault = f"{file!r} is not a file of the protocol"
            files = ", ".join(context.message_imports)
            context.option_fault("namespace", fault, f"the files are: {files}")


def _check_seconds(context: Context) -> None:
    known = {
        f"{'.'.join(plan.message.path)}.{source.field.name}"
        for plan in context.plans.values()
        for source in plan.fields
        if source.field.value.type_name == "google.protobuf.Timestamp"
    }
    for name in context.options.seconds:
        if name not in known:
            fault = f"{name!r} is no Timestamp of a message that hosts send"
            context.option_fault("seconds", fault, "write it as Message.field")
