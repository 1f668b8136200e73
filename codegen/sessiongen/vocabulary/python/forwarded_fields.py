"""Follows the fields that a function takes from its callers, who name them, to the calls.

Such a function passes `**fields` on to a message, or the name of a field and its value. Each of its
calls then counts as a construction of the message, with the fields that it names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sessiongen.vocabulary.python.construction_builder import (
    CallSite,
    ConstructionBuilder,
    ForwardedFields,
    is_kwargs,
    is_parameter,
)
from sessiongen.vocabulary.python.constants import default_of
from sessiongen.vocabulary.python.dict_entries import dict_entries
from sessiongen.vocabulary.python.literals import constant, dotted, self_attribute
from sessiongen.vocabulary.python.parsed_module import Module

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_MAX_CONSTRUCTIONS = 1000


class _Arguments(NamedTuple):
    """The arguments of a call by their parameters, and those that `**` of the function takes."""

    named: dict[str, ast.expr]
    extra: list[tuple[str, ast.expr]]
    unpacked: list[ast.expr]


def forwarding_calls(
    module: Module, forwarded: Iterable[ForwardedFields], calls: list[CallSite]
) -> Iterator[ConstructionBuilder]:
    """Yields a construction for each call of a function that takes fields from its callers.

    A construction whose fields no call names is open.
    """
    pending = list(forwarded)
    constructions: dict[tuple[int, str], ConstructionBuilder] = {}
    while pending and len(constructions) < _MAX_CONSTRUCTIONS:
        item = pending.pop()
        own = [site for site in calls if _calls(site, item)]
        item.construction.open |= not own
        for site in own:
            key = id(site.node), item.construction.message
            if key not in constructions:
                constructions[key] = _construction(module, item, site)
            pending += _fill(constructions[key], item, site)
    yield from constructions.values()


def _calls(site: CallSite, item: ForwardedFields) -> bool:
    """Whether a call is that of the function, a method by `self`."""
    name = item.function.name
    if item.construction.owner is not None:
        return site.owner is not None and self_attribute(site.node.func) == name
    return dotted(site.node.func) == name


def _construction(module: Module, item: ForwardedFields, site: CallSite) -> ConstructionBuilder:
    """Returns the construction at a call, with the fields that the function fills itself."""
    inner = item.construction
    construction = ConstructionBuilder(
        inner.message,
        site.within,
        module.place(site.node),
        site.node,
        owner=site.owner,
        function=site.function,
    )
    arguments = _arguments(site.node, item.function)
    for name in inner.fields:
        value = inner.values.get(name)
        if isinstance(value, ast.Name) and is_parameter(value.id, item.function):
            argument = arguments.named.get(value.id)
            default = default_of(item.function, value.id)
            given = argument if argument is not None else default
            # A parameter that this call leaves at an empty default fills nothing.
            construction.fill(name, given)
        else:
            construction.fields.add(name)
    return construction


def _fill(
    construction: ConstructionBuilder, item: ForwardedFields, site: CallSite
) -> Iterator[ForwardedFields]:
    """Fills what a call names; yields the fields that the caller takes from its own callers."""
    arguments = _arguments(site.node, item.function)
    if item.name:
        yield from _fill_named(construction, item, site, arguments)
        return
    for name, value in arguments.extra:
        construction.fill(name, value)
    for value in arguments.unpacked:
        entries = dict_entries(value, site.function)
        if entries is None and is_kwargs(value, site.function):
            assert isinstance(site.function, _Function)
            yield ForwardedFields(construction, site.function)
        construction.open |= entries is None and not is_kwargs(value, site.function)
        for name, entry in entries or ():
            construction.fill(name, entry)


def _fill_named(
    construction: ConstructionBuilder, item: ForwardedFields, site: CallSite, arguments: _Arguments
) -> Iterator[ForwardedFields]:
    """Fills the field whose name is an argument of a call."""
    argument = arguments.named.get(item.name)
    name = constant(argument)
    value = arguments.named.get(item.value)
    if name is not None:
        construction.fill(name, value)
    elif isinstance(argument, ast.Name) and is_parameter(argument.id, site.function):
        assert isinstance(site.function, _Function)
        inner = value.id if isinstance(value, ast.Name) else ""
        yield ForwardedFields(construction, site.function, argument.id, inner)
    else:
        construction.open = True


def _arguments(call: ast.Call, function: _Function) -> _Arguments:
    positional = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
    positional = positional[1:] if positional[:1] in (["self"], ["cls"]) else positional
    known = {*positional, *(item.arg for item in function.args.kwonlyargs)}
    named = dict(zip(positional, call.args))
    extra: list[tuple[str, ast.expr]] = []
    unpacked = []
    for keyword in call.keywords:
        if keyword.arg is None:
            unpacked.append(keyword.value)
        elif keyword.arg in known:
            named[keyword.arg] = keyword.value
        else:
            extra.append((keyword.arg, keyword.value))
    return _Arguments(named, extra, unpacked)
