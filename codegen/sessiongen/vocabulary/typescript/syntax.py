"""Helpers for TypeScript syntax trees: texts, constants and parts of nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

_UPPER = re.compile(r"([A-Z])")
_SPACE = re.compile(r"\s+")
# Expressions that change nothing about what their operand refers to.
_WRAPPERS = {
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
CLASSES = {"class_declaration", "abstract_class_declaration"}


def parser() -> Parser:
    """Return a parser for TypeScript."""
    return Parser(Language(tree_sitter_typescript.language_typescript()))


def field_name(camel: str) -> str:
    """Return the proto's name of a field from protobuf-es's camelCase one."""
    return _UPPER.sub(r"_\1", camel).lower()


def text(node: Node | None) -> str:
    """Return the source text of a node, empty for none."""
    return (node.text or b"").decode("utf-8") if node else ""


def line(node: Node) -> int:
    """Return the one-based line on which a node begins."""
    return node.start_point[0] + 1


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all below it, in the order of the text."""
    stack = [node]
    while stack:
        item = stack.pop()
        yield item
        stack += reversed(item.children)


def child(node: Node, *types: str) -> Node | None:
    """Return the first child of one of these types."""
    return next((item for item in node.children if item.type in types), None)


def bare(node: Node) -> Node:
    """Return an expression without parentheses, `!` and casts."""
    while node.type in _WRAPPERS and node.named_children:
        node = node.named_children[0]
    return node


def constant(node: Node | None) -> str | None:
    """Return the value of a string constant, None for any other expression."""
    if node is None or node.type not in {"string", "template_string"}:
        return None
    parts = []
    for item in node.named_children:
        if item.type not in {"string_fragment", "escape_sequence"}:
            return None
        parts.append(text(item) if item.type == "string_fragment" else _unescape(text(item)))
    # two escapes may be the halves of one character; a half alone is none
    joined = "".join(parts).encode("utf-16", "surrogatepass")
    try:
        return joined.decode("utf-16")
    except UnicodeDecodeError:
        return None


def member(node: Node | None) -> tuple[Node, str] | None:
    """Return object and property name of `a.b`, None for any other expression."""
    if node is None or node.type != "member_expression":
        return None
    owner, name = node.child_by_field_name("object"), node.child_by_field_name("property")
    return (owner, text(name)) if owner and name else None


def own(node: Node | None) -> str:
    """Return `x` for `this.x`, empty for any other expression."""
    found = member(node)
    return found[1] if found and bare(found[0]).type == "this" else ""


def arguments(call: Node) -> list[Node]:
    """Return the arguments of a call or a `new`."""
    found = call.child_by_field_name("arguments")
    return [item for item in found.named_children if item.type != "comment"] if found else []


def around(node: Node, *types: str) -> list[Node]:
    """Return the nodes of these types around a node, nearest first."""
    found = []
    outer = node.parent
    while outer is not None:
        if outer.type in types:
            found.append(outer)
        outer = outer.parent
    return found


def annotation(node: Node) -> Node | None:
    """Return the type in a node's annotation."""
    found = node.child_by_field_name("type")
    if found is not None and found.type == "type_annotation":
        return found.named_children[-1] if found.named_children else None
    return found


def parameters(function: Node) -> list[Node]:
    """Return the parameters of a function."""
    found = function.child_by_field_name("parameters")
    return [
        item
        for item in (found.named_children if found else [])
        if item.type in {"required_parameter", "optional_parameter"}
    ]


def alternatives(node: Node) -> Iterator[Node]:
    """Yield the parts of a type, unions and parentheses taken apart."""
    stack = [node]
    while stack:
        item = stack.pop()
        if item.type in {"union_type", "parenthesized_type"}:
            stack += [part for part in reversed(item.named_children) if part.type != "comment"]
        else:
            yield item


def is_nothing(node: Node) -> bool:
    """Whether a type is null or undefined."""
    return node.type == "literal_type" and text(node) in {"null", "undefined"}


def is_text(node: Node) -> bool:
    """Whether a type is written as a string, one that cannot be read included."""
    return node.type == "literal_type" and node.named_children[0].type == "string"


def literal(node: Node) -> str | None:
    """Return the string of a literal type, None for any other type."""
    return constant(node.named_children[0]) if node.type == "literal_type" else None


def written(node: Node) -> str:
    """Return a type as text, on one line and without comments."""
    data, start, parts = node.text or b"", node.start_byte, []
    at = 0
    for item in walk(node):
        if item.type == "comment":
            parts.append(data[at : item.start_byte - start])
            at = item.end_byte - start
    parts.append(data[at:])
    joined = _SPACE.sub(" ", b"".join(parts).decode("utf-8")).strip()
    return joined.removeprefix("| ")


def _unescape(sequence: str) -> str:
    body = sequence[1:]
    if body[:1] in "xu":
        digits = body[1:].strip("{}")
        return chr(int(digits, 16)) if re.fullmatch(r"[0-9A-Fa-f]{1,5}", digits) else sequence
    return {"n": "\n", "t": "\t", "r": "\r"}.get(body, body)
