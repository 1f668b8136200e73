"""Positions of keys in a TOML text.

Lines and columns count from 1, columns in characters.
"""

from __future__ import annotations

from functools import lru_cache

import tomli
import tree_sitter_toml
from tree_sitter import Language, Node, Parser

Keys = tuple[str, ...]


def place(text: str, keys: Keys) -> tuple[int, int]:
    """Returns the position of the longest prefix of `keys` in the text, 1:1 if there is none."""
    places = _places(text)
    for length in range(len(keys), 0, -1):
        if keys[:length] in places:
            return places[keys[:length]]
    return 1, 1


@lru_cache(maxsize=4)
def _places(text: str) -> dict[Keys, tuple[int, int]]:
    data = text.encode()
    root = Parser(Language(tree_sitter_toml.language())).parse(data).root_node
    places: dict[Keys, tuple[int, int]] = {}
    elements: dict[Keys, int] = {}

    def add(keys: Keys, node: Node) -> None:
        row, offset = node.start_point
        line = data.split(b"\n")[row]
        position = row + 1, len(line[:offset].decode(errors="replace")) + 1
        # `a.b = 1` is also the position of `a`, unless `a` has an earlier one.
        for length in range(1, len(keys) + 1):
            places.setdefault(keys[:length], position)

    def resolved(keys: Keys) -> Keys:
        """Returns the keys of a header with the index of the last element of each array."""
        result: Keys = ()
        for part in keys[:-1]:
            result = (*result, part)
            if result in elements:
                result = (*result, str(elements[result]))
        return (*result, keys[-1])

    def walk(node: Node, prefix: Keys) -> None:
        for child in node.named_children:
            if child.type in ("table", "table_array_element"):
                head = child.named_children[0]
                keys = resolved(_keys(head))
                add(keys, head)
                if child.type == "table_array_element":
                    elements[keys] = elements.get(keys, -1) + 1
                    keys = (*keys, str(elements[keys]))
                    add(keys, head)
                walk(child, keys)
            elif child.type == "pair":
                keys = (*prefix, *_keys(child.named_children[0]))
                add(keys, child.named_children[0])
                walk(child, keys)
            elif child.type == "array":
                values = [item for item in child.named_children if item.type != "comment"]
                for index, value in enumerate(values):
                    add((*prefix, str(index)), value)
            elif child.type == "inline_table":
                walk(child, prefix)

    walk(root, ())
    return places


def _keys(node: Node) -> Keys:
    """Returns the parts of a bare, quoted or dotted key, with escapes decoded."""
    keys: list[str] = []
    value: object = tomli.loads(f"{(node.text or b'').decode()} = 0")
    while isinstance(value, dict):
        [(key, value)] = value.items()
        keys.append(key)
    return tuple(keys)
