"""The Python target: from a Protocol to the files of a typed package.

In: a Protocol and its descriptors. Out: texts by path inside the package, the typed
layers formatted by black.
"""

from __future__ import annotations

from collections.abc import Mapping

from sessiongen.frontend.annotations import Annotated
from sessiongen.frontend.compiler import Compiled
from sessiongen.config.model import Config
from sessiongen.diagnostics import InputError
from sessiongen.targets.python.formatting import Formatter
from sessiongen.targets.python.layout import call
from sessiongen.targets.python.naming import message_faults
from sessiongen.targets.python.overrides import Overrides, load
from sessiongen.ir.protocol import Protocol
from sessiongen.targets.python.rendering import environment, without_unused_imports
from sessiongen.resources import templates_dir
from sessiongen.targets.python import messages
from sessiongen.targets.python.client import client_model
from sessiongen.targets.python.dispatch import dispatch_model
from sessiongen.targets.python.docstrings import docstring
from sessiongen.targets.python.encoders import carried_fields, encoders_model
from sessiongen.targets.python.errors import errors_model
from sessiongen.targets.python.enums import enums_model
from sessiongen.targets.python.events import events_model
from sessiongen.targets.python.context import Context, context
from sessiongen.targets.python.models import plain_model
from sessiongen.targets.python.references import module_faults
from sessiongen.targets.python.requests import requests_model
from sessiongen.targets.python.sources import sources_model

# mypy-protobuf narrows Message.DESCRIPTOR, which pyright takes for an unsound override.
_STUB_COMMENT = "# pyright: reportIncompatibleVariableOverride=false\n"

# Each typed layer: its file, what its template is given, and what it is for.
LAYERS = {
    "dispatch.py": (dispatch_model, "arms, tables and total handler tables of each oneof"),
    "requests.py": (requests_model, "the handler skeleton of a host, and `answer`"),
    "events.py": (events_model, "the event sink of a host, the listeners of a driver"),
    "client.py": (client_model, "a typed method for each request"),
    "enums.py": (enums_model, "enums as the SDK spells them, and as JSON names them"),
    "errors.py": (errors_model, "what a peer refused, what this build does not know"),
    "encoders.py": (encoders_model, "the SDK's objects to messages"),
    "sources.py": (sources_model, "what a host gives for each response"),
    "models.py": (plain_model, "the messages as plain frozen dataclasses"),
    "decoders.py": (plain_model, "messages to plain Python"),
    "fields.py": (None, "how encoders read and write, and how decoders read"),
    "values.py": (None, "natural Python forms of protobuf's own types"),
}

# Layers that are laid out as black leaves them; only what has a long line goes to black.
LAID_OUT = frozenset(LAYERS) - {"requests.py", "client.py", "errors.py"}


def generate(
    protocol: Protocol,
    compiled: Compiled,
    annotated: Annotated,
    config: Config,
    version: str,
    formatter: Formatter,
) -> dict[str, str]:
    """Return the files of the generated package by their path inside it.

    Raises:
        InputError: names fall together, or protoc refuses the descriptors.
    """
    overrides = load(config.overrides)
    context_ = context(protocol, compiled.modules, annotated, overrides.functions)
    context_.faults += message_faults(protocol.schema)
    context_.faults += overrides.faults(carried_fields(context_))
    source = _shown(", ".join(compiled.own) if not compiled.modules else str(config.input.messages))
    if compiled.modules:
        rendered = _render(context_, version, source)
        return {**_layers(rendered, formatter), **_overrides(overrides, version, source)}
    context_.faults += module_faults(compiled.own, protocol.roles.request.span)
    if context_.faults:
        raise InputError(context_.faults)
    running = messages.start(annotated.files, compiled.own, config.package)
    try:
        layers = _layers(_render(context_, version, source), formatter)
    finally:
        texts = messages.finish(running, compiled.sources)
    header = _header(version, source)
    stubs = header + _STUB_COMMENT
    return {
        **layers,
        **_overrides(overrides, version, source),
        **{
            name: (stubs if name.endswith(".pyi") else header) + text
            for name, text in texts.items()
        },
    }


def _render(context_: Context, version: str, source: str) -> dict[str, str]:
    templates = environment(templates_dir() / "python", {"docstring": docstring, "call": call})
    shared = {"version": version, "source": source}
    rendered = {}
    for file, (build, _) in LAYERS.items():
        model = build(context_) if build is not None else None
        template = templates.get_template(f"{file}.j2")
        rendered[file] = without_unused_imports(template.render(**shared, model=model))
    if context_.faults:
        raise InputError(context_.faults)
    listing = "\n".join(
        f"- `{name.removesuffix('.py')}`: {what}" for name, (_, what) in LAYERS.items()
    )
    rendered["__init__.py"] = templates.get_template("init.py.j2").render(**shared, listing=listing)
    return rendered


def _overrides(overrides: Overrides, version: str, source: str) -> dict[str, str]:
    """Return the overrides as a module of the package, which then needs no other."""
    if not overrides.functions:
        return {}
    return {"overrides.py": _header(version, source) + overrides.text}


def _shown(source: str) -> str:
    """Return the names of files as text for a comment and a docstring, whatever they hold."""
    printable = "".join(item if item.isprintable() else "?" for item in source)
    # "coding:" in a file's first lines would name the encoding of the whole file.
    return printable.replace("\\", "/").replace('"', "'").replace("coding", "cod-ing")


def _layers(rendered: Mapping[str, str], formatter: Formatter) -> dict[str, str]:
    formatted = formatter.format(list(rendered.values()), [name in LAID_OUT for name in rendered])
    return {**dict(zip(rendered, formatted, strict=True)), "py.typed": ""}


def _header(version: str, source: str) -> str:
    templates = environment(templates_dir() / "python", {})
    return templates.get_template("_header.j2").render(version=version, source=source)
