"""Follows calls of TypeScript code to functions of the package, and variables to their values."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.modules import Definition, Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import CLASSES, FUNCTIONS, class_methods, text


def called_function(modules: Modules, file: File, call: Node) -> tuple[Node | None, File]:
    """Returns the function of the package or the method of the class that a call calls."""
    function = call.child_by_field_name("function")
    name = syntax.this_property(function)
    owner = next(iter(syntax.enclosing(call, *CLASSES)), None)
    if name and owner is not None:
        return class_methods(owner).get(name), file
    if function is None or function.type not in {"identifier", "member_expression"}:
        return None, file
    local = _local_function(function) if function.type == "identifier" else None
    if local is not None:
        return local, file
    definition = modules.resolve(file, text(function))
    if definition is not None:
        return function_of(definition), definition.file
    member = syntax.member(function)
    static = modules.resolve(file, text(member[0])) if member is not None else None
    owner = static.of(*CLASSES) if static is not None else None
    if static is None or member is None or owner is None:
        return None, file
    return class_methods(owner).get(member[1]), static.file


def _local_function(name: Node) -> Node | None:
    """Returns the function that a variable or a declaration of a function around a name is."""
    functions = syntax.enclosing(name, *FUNCTIONS)
    for item in syntax.walk(functions[-1]) if functions else ():
        if item.type == "function_declaration" and item != functions[-1]:
            if text(item.child_by_field_name("name")) == text(name):
                return item
        elif item.type == "variable_declarator":
            value = item.child_by_field_name("value")
            if value is not None and value.type in FUNCTIONS:
                if text(item.child_by_field_name("name")) == text(name):
                    return value
    return None


def function_of(definition: Definition) -> Node | None:
    """Returns the function that a definition is, None for any other definition."""
    declared = definition.of("function_declaration")
    value = declared or definition.node.child_by_field_name("value")
    return value if value is not None and value.type in FUNCTIONS else None


def returned(function: Node) -> Iterator[Node]:
    """Yields the values that a function returns."""
    body = function.child_by_field_name("body")
    if body is None:
        return
    if body.type != "statement_block":
        yield body
        return
    for item in syntax.walk(body):
        if item.type == "return_statement" and item.named_children:
            if syntax.enclosing(item, *FUNCTIONS)[0] == function:
                yield item.named_children[0]


def values_of(name: Node) -> Iterator[Node]:
    """Yields the values that are assigned to a variable of the function around a name."""
    functions = syntax.enclosing(name, *FUNCTIONS)
    for item in syntax.walk(functions[-1]) if functions else ():
        if item.type == "variable_declarator":
            target, value = item.child_by_field_name("name"), item.child_by_field_name("value")
        elif item.type == "assignment_expression":
            target, value = item.child_by_field_name("left"), item.child_by_field_name("right")
        else:
            continue
        if value is not None and text(target) == text(name):
            yield value
