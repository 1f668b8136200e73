"""Generates the files of a Python package: message modules, stubs and typed layers."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence

from sessiongen.config.model import Output
from sessiongen.diagnostics import Diagnostic, InputError
from sessiongen.internal_errors import InvalidModules
from sessiongen.targets.python.formatting import Formatter
from sessiongen.targets.python.installed_messages import installed_modules
from sessiongen.targets.python.naming import message_faults
from sessiongen.targets.python.options import LAYERS, PythonOptions
from sessiongen.targets.python.overrides import Overrides, load
from sessiongen.ir.model import Model
from sessiongen.targets.python.imports import arranged
from sessiongen.targets.python.text_wrapping import wrapped
from sessiongen.targets.layers import layer_faults
from sessiongen.targets.templates import environment
from sessiongen.targets.python import messages
from sessiongen.targets.python.client import client_model
from sessiongen.targets.python.dispatch import dispatch_model
from sessiongen.targets.python.docstrings import docstring
from sessiongen.targets.python.encoders import encoded_fields, encoders_model
from sessiongen.targets.python.errors import errors_model
from sessiongen.targets.python.enums import enums_model
from sessiongen.targets.python.events import events_model
from sessiongen.targets.python.context import Context, context
from sessiongen.targets.python.models import plain_model
from sessiongen.targets.python.needed import needed_model, with_known_version
from sessiongen.targets.python.obstacles import obstacle
from sessiongen.targets.python.peer import peer_model
from sessiongen.targets.python.references import module_faults
from sessiongen.targets.python.requests import requests_model
from sessiongen.targets.python.responses import responses_model
from sessiongen.targets.python.syntax import syntax_fault

# mypy-protobuf narrows Message.DESCRIPTOR, which pyright reports as an invalid override.
_STUB_COMMENT = "# pyright: reportIncompatibleVariableOverride=false\n"

# The function that returns the model of each layer's template.
_MODELS: dict[str, Callable[[Context], object] | None] = {
    "dispatch": dispatch_model,
    "requests": requests_model,
    "events": events_model,
    "client": client_model,
    "peer": peer_model,
    "connection": None,
    "enums": enums_model,
    "errors": errors_model,
    "encoders": encoders_model,
    "responses": responses_model,
    "models": plain_model,
    "decoders": plain_model,
    "fields": None,
    "values": None,
}


def generate(model: Model, output: Output, version: str, formatter: Formatter) -> dict[str, str]:
    """Returns the files of the generated package by their path inside it.

    Raises:
        InputError: names of the protocol clash, or protoc rejects the descriptors.
    """
    options = _options(output)
    overrides = load(options.overrides)
    context_ = _context(model, output, overrides)
    source = _printable(model.compiled.origin)
    header = _header(version, source, options)
    if context_.installed:
        rendered = _render(context_, output, source, header)
        layers = _layers(rendered, formatter, options)
        if model.oldest is None:
            path = options.folder / "needed.py"
            layers["needed.py"] = with_known_version(layers["needed.py"], path)
        return {**layers, **_overrides(overrides, header)}
    if context_.faults:
        # Raises these faults together with those of the layers.
        _render(context_, output, source, header)
    running = messages.start(model.annotated.files, model.compiled.own, options.package)
    try:
        layers = _layers(_render(context_, output, source, header), formatter, options)
    finally:
        texts = messages.finish(running, model.compiled.source_map)
    top = _comment(header)
    stubs = top + _STUB_COMMENT
    return {
        **layers,
        **_overrides(overrides, header),
        **{name: (stubs if name.endswith(".pyi") else top) + text for name, text in texts.items()},
    }


def faults(model: Model, output: Output) -> list[Diagnostic]:
    """Returns the faults that `generate` finds before it runs protoc."""
    try:
        context_ = _context(model, output, load(_options(output).overrides))
        _render(context_, output, "", [])
    except InputError as error:
        return error.diagnostics
    return []


def _options(output: Output) -> PythonOptions:
    assert isinstance(output.options, PythonOptions)
    return output.options


def _context(model: Model, output: Output, overrides: Overrides) -> Context:
    """Returns what the layers are generated from, with the faults of names and overrides."""
    installed = installed_modules(model, _options(output))
    result = context(model, installed, overrides.functions, output.layers)
    result.faults += message_faults(model.protocol.schema)
    result.faults += overrides.faults(encoded_fields(result))
    if not installed:
        result.faults += module_faults(model.compiled.own, model.protocol.roles.main.span)
    return result


def _render(
    context_: Context, output: Output, source: str, header: Sequence[str]
) -> dict[str, str]:
    templates = environment("python", {"docstring": docstring})
    shared = {"header": header, "source": source}
    # Modules that share the package's top-level name belong to the same project.
    first_party = (_options(output).package.partition(".")[0],)
    rendered: dict[str, str] = {}
    layers = _possible_layers(context_, output)
    for layer in layers:
        build = _MODELS[layer]
        model = build(context_) if build is not None else None
        template = templates.get_template(f"{layer}.py.j2")
        used = {name for text in rendered.values() for name in _helpers(text)}
        text = template.render(**shared, model=model, used=used)
        rendered[f"{layer}.py"] = arranged(text, first_party)
    if context_.installed:
        template = templates.get_template("needed.py.j2")
        text = template.render(**shared, model=needed_model(context_, _options(output).line_length))
        rendered["needed.py"] = arranged(text, first_party)
    if context_.faults:
        raise InputError(context_.faults)
    listing = "\n".join(f"- `{name}`: {LAYERS[name].summary}" for name in layers)
    rendered["__init__.py"] = templates.get_template("init.py.j2").render(
        **shared, listing=listing, needed="needed.py" in rendered
    )
    return rendered


# What a rendered module imports from the layers of helpers.
_HELPERS = re.compile(r"^from \.(?:fields|values) import (.+)$", re.MULTILINE)


def _helpers(text: str) -> list[str]:
    """Returns the helper functions that a rendered module uses."""
    return [name for names in _HELPERS.findall(text) for name in names.split(", ")]


def _possible_layers(context_: Context, output: Output) -> list[str]:
    """Returns the layers of an output that its protocol can have.

    A layer that is left out is a fault if the configuration requests it.
    """
    obstacles = {layer: obstacle(layer, context_.protocol) for layer in output.layers}
    context_.faults += layer_faults(output, _options(output).config, obstacles)
    unused = {"connection"} - set(output.requested_layers) if obstacles.get("peer") else set()
    return [layer for layer in output.layers if not obstacles[layer] and layer not in unused]


def _overrides(overrides: Overrides, header: Sequence[str]) -> dict[str, str]:
    """Returns a copy of the overrides, which becomes a module of the package."""
    if not overrides.functions:
        return {}
    return {"overrides.py": _comment(header) + overrides.text}


def _comment(lines: Sequence[str]) -> str:
    return "".join(f"{f'# {line}'.rstrip()}\n" for line in lines)


def _printable(source: str) -> str:
    """Returns file names in a form that is safe in a comment and a docstring."""
    printable = "".join(item if item.isprintable() else "?" for item in source)
    # "coding:" in the first lines of a file would declare its encoding.
    return printable.replace("\\", "/").replace('"', "'").replace("coding", "cod-ing")


def _layers(
    rendered: Mapping[str, str], formatter: Formatter, options: PythonOptions
) -> dict[str, str]:
    texts = [wrapped(text, options.line_length) for text in rendered.values()]
    try:
        formatted = formatter.format(texts, options.line_length)
    except RuntimeError:
        # black rejects a module that is not valid Python, without its name.
        _check_syntax(dict(zip(rendered, texts, strict=True)))
        raise
    return {**dict(zip(rendered, formatted, strict=True)), "py.typed": ""}


def _check_syntax(modules: Mapping[str, str]) -> None:
    invalid = [
        (name, text, fault)
        for name, text in modules.items()
        if (fault := syntax_fault(text)) is not None
    ]
    if invalid:
        raise InvalidModules(invalid)


def _header(version: str, source: str, options: PythonOptions) -> list[str]:
    """Returns the lines of comment at the top of each file: the mark, then those of `header`."""
    mark = f"Generated by sessiongen {version} from {source}. Do not edit:"
    wrapped_mark = textwrap.wrap(
        mark, options.line_length - 2, break_long_words=False, break_on_hyphens=False
    )
    instruction = "change the source and run `sessiongen generate`."
    return [*wrapped_mark, instruction, *options.header]
