"""Helpers for TypeScript syntax trees."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

_UPPER = re.compile(r"([A-Z])")
_SPACE = re.compile(r"\s+")
# Expressions with the same value as their operand.
_OLD_CAST = "type_assertion"
_WRAPPERS = {
    _OLD_CAST,
    "parenthesized_expression",
    "non_null_expression",
    "as_expression",
    "satisfies_expression",
}

FUNCTIONS = {
    "arrow_function",
    "function_declaration",
    "function_expression",
    "generator_function_declaration",
    "method_definition",
}
LOOPS = {"for_in_statement", "for_statement", "while_statement"}
# The expressions that are one name.
NAMES = {"identifier", "shorthand_property_identifier"}
CLASSES = {"class_declaration", "abstract_class_declaration", "class"}


def parser() -> Parser:
    """Returns a parser for TypeScript."""
    return Parser(Language(tree_sitter_typescript.language_typescript()))


def field_name(camel: str) -> str:
    """Returns the proto's name of a field from protobuf-es's camelCase one."""
    return _UPPER.sub(r"_\1", camel).lower()


def text(node: Node | None) -> str:
    """Returns the source text of a node, empty for none."""
    return (node.text or b"").decode("utf-8") if node else ""


def line(node: Node) -> int:
    """Returns the one-based line on which a node begins."""
    return node.start_point[0] + 1


def walk(node: Node) -> Iterator[Node]:
    """Yields a node and its descendants in source order."""
    stack = [node]
    while stack:
        item = stack.pop()
        yield item
        stack += reversed(item.children)


def child(node: Node, *types: str) -> Node | None:
    """Returns the first child of one of these types."""
    return next((item for item in node.children if item.type in types), None)


def unwrapped(node: Node) -> Node:
    """Returns an expression without parentheses, `!` and casts."""
    while node.type in _WRAPPERS and node.named_children:
        node = node.named_children[-1 if node.type == _OLD_CAST else 0]
    return node


def constant(node: Node | None) -> str | None:
    """Returns the value of a string constant, None for any other expression."""
    if node is None or node.type not in {"string", "template_string"}:
        return None
    parts = []
    for item in node.named_children:
        if item.type not in {"string_fragment", "escape_sequence"}:
            return None
        parts.append(text(item) if item.type == "string_fragment" else _unescape(text(item)))
    # Two escapes may be a surrogate pair; an unpaired surrogate is not a character.
    joined = "".join(parts).encode("utf-16", "surrogatepass")
    try:
        return joined.decode("utf-16")
    except UnicodeDecodeError:
        return None


def member(node: Node | None) -> tuple[Node, str] | None:
    """Returns object and property name of `a.b`, None for any other expression."""
    if node is None or node.type != "member_expression":
        return None
    owner, name = node.child_by_field_name("object"), node.child_by_field_name("property")
    return (owner, text(name)) if owner and name else None


def this_property(node: Node | None) -> str:
    """Returns `x` for `this.x`, empty for any other expression."""
    property_ = member(node)
    if property_ is not None and property_[0].type == "super":
        return f"super.{property_[1]}"
    return property_[1] if property_ and unwrapped(property_[0]).type == "this" else ""


def is_private(node: Node) -> bool:
    """Whether a field, a parameter or a method of a class is private; for a function, its field."""
    outer = node if node.child_by_field_name("name") else node.parent
    member = outer if outer is not None and outer.type == "public_field_definition" else node
    name = member.child_by_field_name("name") or member.child_by_field_name("pattern")
    modifier = child(member, "accessibility_modifier")
    return text(name).startswith("#") or text(modifier) in {"private", "protected"}


def class_constant(node: Node, name: str) -> str | None:
    """Returns the string that a field of a class has from the start, None for any other field."""
    body = node.child_by_field_name("body")
    for item in body.named_children if body else ():
        if item.type == "public_field_definition":
            value = item.child_by_field_name("value")
            if text(item.child_by_field_name("name")) == name and value is not None:
                return constant(unwrapped(value))
    return None


def class_name(node: Node) -> str:
    """Returns the name of a class; that of the variable for a class without a name."""
    name = node.child_by_field_name("name")
    parent = node.parent
    if name is None and parent is not None and parent.type == "variable_declarator":
        name = parent.child_by_field_name("name")
    return text(name)


def class_methods(node: Node) -> dict[str, Node]:
    """Returns the methods of a class, including fields whose value is a function."""
    methods = {}
    body = node.child_by_field_name("body")
    for item in body.named_children if body else ():
        value = item.child_by_field_name("value")
        if item.type == "method_definition":
            methods[text(item.child_by_field_name("name"))] = item
        elif item.type == "public_field_definition" and value and value.type in FUNCTIONS:
            methods[text(item.child_by_field_name("name"))] = value
    return methods


def arguments(call: Node) -> list[Node]:
    """Returns the arguments of a call or a `new`."""
    arguments = call.child_by_field_name("arguments")
    return (
        [item for item in arguments.named_children if item.type != "comment"] if arguments else []
    )


def enclosing(node: Node, *types: str) -> list[Node]:
    """Returns the ancestors of a node that have one of these types, nearest first."""
    nodes = []
    outer = node.parent
    while outer is not None:
        if outer.type in types:
            nodes.append(outer)
        outer = outer.parent
    return nodes


def annotation(node: Node) -> Node | None:
    """Returns the type in a node's annotation."""
    annotation = node.child_by_field_name("type")
    if annotation is not None and annotation.type == "type_annotation":
        return annotation.named_children[-1] if annotation.named_children else None
    return annotation


def parameters(function: Node) -> list[Node]:
    """Returns the parameters of a function."""
    parameters = function.child_by_field_name("parameters")
    return [
        item
        for item in (parameters.named_children if parameters else [])
        if item.type in {"required_parameter", "optional_parameter"}
    ]


def bindings(pattern: Node) -> Iterator[tuple[str, str]]:
    """Yields the variables that a pattern binds, each with the member that it is bound to."""
    if pattern.type == "identifier":
        yield text(pattern), ""
    for item in pattern.named_children if pattern.type == "object_pattern" else ():
        key, value = item.child_by_field_name("key"), item.child_by_field_name("value")
        if item.type == "shorthand_property_identifier_pattern":
            yield text(item), text(item)
        elif item.type == "object_assignment_pattern":
            name = text(item.child_by_field_name("left"))
            yield name, name
        elif item.type == "pair_pattern" and value is not None:
            inner = value.child_by_field_name("left") or value
            yield text(inner), text(key)


def conjuncts(condition: Node) -> list[Node]:
    """Returns the conditions that are joined by `&&`."""
    node = unwrapped(condition)
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if text(node.child_by_field_name("operator")) != "&&" or left is None or right is None:
        return [node]
    return [*conjuncts(left), *conjuncts(right)]


def parameter_names(function: Node) -> list[str]:
    """Returns the names of the parameters of a function; a pattern is its text."""
    single = function.child_by_field_name("parameter")
    if single is not None:
        return [text(single)]
    return [text(item.child_by_field_name("pattern")) for item in parameters(function)]


def extended(node: Node) -> Node | None:
    """Returns the expression that a class extends."""
    heritage = child(node, "class_heritage")
    clause = child(heritage, "extends_clause") if heritage else None
    return clause.child_by_field_name("value") if clause else None


def alternatives(node: Node) -> Iterator[Node]:
    """Yields the members of a type, without unions and parentheses."""
    stack = [node]
    while stack:
        item = stack.pop()
        if item.type in {"union_type", "parenthesized_type"}:
            stack += [part for part in reversed(item.named_children) if part.type != "comment"]
        else:
            yield item


def is_null(node: Node) -> bool:
    """Whether a type is null or undefined."""
    return node.type == "literal_type" and text(node) in {"null", "undefined"}


def is_string_type(node: Node) -> bool:
    """Whether a type is a string literal, even one that cannot be read."""
    return node.type == "literal_type" and node.named_children[0].type == "string"


def literal(node: Node) -> str | None:
    """Returns the string of a literal type, None for any other type."""
    return constant(node.named_children[0]) if node.type == "literal_type" else None


def type_text(node: Node) -> str:
    """Returns a type as text, on one line and without comments."""
    data, start, parts = node.text or b"", node.start_byte, []
    offset = 0
    for item in walk(node):
        if item.type == "comment":
            parts.append(data[offset : item.start_byte - start])
            offset = item.end_byte - start
    parts.append(data[offset:])
    joined = _SPACE.sub(" ", b"".join(parts).decode("utf-8")).strip()
    return joined.removeprefix("| ")


def _unescape(sequence: str) -> str:
    body = sequence[1:]
    if body[:1] in "xu":
        digits = body[1:].strip("{}")
        return chr(int(digits, 16)) if re.fullmatch(r"[0-9A-Fa-f]{1,5}", digits) else sequence
    return {"n": "\n", "t": "\t", "r": "\r"}.get(body, body)
