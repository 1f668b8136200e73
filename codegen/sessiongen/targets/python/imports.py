"""Arranges the imports of rendered modules as isort and ruff do.

Unused names are removed, statements of the same module are merged, and the sections follow
each other: `__future__`, the standard library, third-party packages, first-party packages, the
package itself. The statements of a template need no order.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Mapping

# The import statements at the start of a module; templates write each on one line.
_BLOCK = re.compile(r"^(?:(?:from \S+ )?import [^(\n]+\n|\n)+", re.MULTILINE)
_STATEMENT = re.compile(r"(?:from (?P<module>\S+) )?import (?P<names>.+)")
# A definition, before which black leaves two blank lines.
_DEFINITION = re.compile(r"class |def |async def |@")
# The names that a module exports, which are strings.
_ALL = re.compile(r"^__all__ = \[([^]]*)\]", re.MULTILINE)
# Strings and comments, which do not use the names in them.
_STRING_OR_COMMENT = re.compile(
    r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*', re.DOTALL
)
# A name that is not an attribute.
_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")
_DIGITS = re.compile(r"(\d+)")

# The sections, in their order.
_FUTURE, _STANDARD, _THIRD_PARTY, _FIRST_PARTY, _LOCAL = range(5)


def arranged(text: str, first_party: Collection[str] = ()) -> str:
    """Returns a module with its imports arranged.

    Args:
        text: The module.
        first_party: The top-level packages of the section before the package itself.
    """
    block = next(match for match in _BLOCK.finditer(text) if match.group().strip())
    code = text[block.end() :]
    statements = _merged(block.group().split("\n"), _used_names(code))
    imports = sorted_imports(statements, first_party)
    head = text[: block.start()].rstrip("\n")
    return f"{head}\n\n{imports}\n{_blank_lines(block.group(), code)}{code}"


def sorted_imports(
    statements: Mapping[str, Collection[str]], first_party: Collection[str] = ()
) -> str:
    """Returns import statements in sections; without names, a module is imported itself.

    Args:
        statements: The imported names by module.
        first_party: As in `arranged`.
    """
    sections: list[list[str]] = [[] for _ in range(_LOCAL + 1)]
    for module, names in sorted(statements.items(), key=lambda item: _module_key(item[0])):
        sections[_section(module, first_party)].append(_statement(module, names))
    for section in sections:
        # `import x` comes before `from x import y`.
        section.sort(key=lambda statement: statement.startswith("from "))
    return "\n\n".join("\n".join(section) for section in sections if section)


def _used_names(code: str) -> set[str]:
    names = set(_NAME.findall(_STRING_OR_COMMENT.sub("", code)))
    for exported in _ALL.findall(code):
        names.update(_NAME.findall(exported))
    return names


def _merged(lines: Iterable[str], used: Collection[str]) -> dict[str, set[str]]:
    """Returns the used names by module; `import x` is the module `x` without names."""
    result: dict[str, set[str]] = {}
    for line in filter(None, lines):
        match = _STATEMENT.fullmatch(line)
        assert match is not None, line
        module, names = match["module"], match["names"].split(", ")
        if module is None:
            if _bound_name(names[0]).partition(".")[0] in used:
                result[names[0]] = set()
            continue
        kept = {name for name in names if module == "__future__" or _bound_name(name) in used}
        if kept:
            result.setdefault(module, set()).update(kept)
    return result


def _bound_name(imported: str) -> str:
    """Returns the name that an import such as `a as b` binds."""
    return imported.split(" as ")[-1].strip()


def _section(module: str, first_party: Collection[str]) -> int:
    if module.startswith("."):
        return _LOCAL
    top = module.partition(" ")[0].partition(".")[0]
    if top == "__future__":
        return _FUTURE
    if top in sys.stdlib_module_names:
        return _STANDARD
    return _FIRST_PARTY if top in first_party else _THIRD_PARTY


def _statement(module: str, names: Iterable[str]) -> str:
    ordered = ", ".join(sorted(names, key=_name_key))
    return f"from {module} import {ordered}" if ordered else f"import {module}"


def _module_key(module: str) -> tuple[object, ...]:
    name = module.lstrip(".")
    return _natural(name.lower()), _natural(name)


def _name_key(imported: str) -> tuple[object, ...]:
    """Returns the key of an imported name: constants, then classes, then the others."""
    name = imported.partition(" ")[0]
    kind = 0 if len(name) > 1 and name.isupper() else 1 if name[0].isupper() else 2
    return kind, _natural(name.lower()), _natural(name), imported


def _natural(text: str) -> list[tuple[int, str]]:
    """Returns the key of an order in which `a2` is before `a10`."""
    parts = _DIGITS.split(text)
    return [(int(part), "") if index % 2 else (-1, part) for index, part in enumerate(parts)]


def _blank_lines(block: str, code: str) -> str:
    """Returns the blank lines after the imports as black leaves them."""
    if code.startswith("#"):
        # The template knows what the comment belongs to.
        return "\n" * min(2, len(block) - len(block.rstrip("\n")) - 1)
    return "\n\n" if _DEFINITION.match(code) else "\n"
