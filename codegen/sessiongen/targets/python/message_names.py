"""The names under which encoders, models and decoders know each message and enum.

In: the target's Context. Out: parts of function names, class names, and the functions of
enums.py that turn a value of an enum into the SDK's word and back.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.naming import flat_names, identifier, snake
from sessiongen.protocol import BoundEnum
from sessiongen.schema import Message, Value
from sessiongen.targets.python.models import Context

# Names that models.py needs for itself, as names of classes and of fields.
TAKEN = frozenset(
    "Any Literal Mapping TypeAlias Union annotations dataclass pb "
    "str bytes bool int float tuple object type".split()
)


@dataclass(frozen=True)
class EnumWords:
    """How plain Python spells an enum: the type of its words, and the converters.

    imported: the name of the type in enums.py, or "" where words are plain strings.
    """

    type: str
    imported: str
    to_proto: str
    from_proto: str


class MessageNames:
    """Names of the messages that events and responses carry.

    A message declared inside of a role's message goes by its own name alone.
    """

    def __init__(self, context: Context) -> None:
        roles = context.protocol.roles
        holders = {(item.file, item.path) for item in (roles.event, roles.request, roles.response)}
        paths = {}
        for name, shape in context.shapes.items():
            path = shape.message.path
            held = len(path) > 1 and (shape.message.file, path[:1]) in holders
            paths[name] = path[1:] if held else path
        self._flat = flat_names(paths)
        flat = flat_names({item.enum.full_name: item.enum.path for item in context.protocol.enums})
        self._words = {
            item.enum.full_name: _words(item, flat[item.enum.full_name])
            for item in context.protocol.enums
        }

    def function(self, message: Message) -> str:
        """Return a message's part in the names of functions."""
        return snake(self._flat[message.full_name])

    def role(self, message: Message) -> str:
        """Return the part of a role's message in the names of functions."""
        return snake(message.path[-1])

    def title(self, message: Message) -> str:
        """Return the name of a message's class in models.py."""
        return identifier(self._flat[message.full_name], TAKEN)

    def words(self, value: Value) -> EnumWords | None:
        """Return how a value's enum is spelled; None where it is no enum of the protocol."""
        return self._words.get(value.type_name)


def _words(bound: BoundEnum, flat: str) -> EnumWords:
    function = snake(flat)
    if bound.binding is None or not bound.binding.pairs:
        return EnumWords("str", "", f"{function}_from_name", f"{function}_name")
    word = f"{flat}Word"
    type_ = f"{word} | None" if bound.fallback else word
    return EnumWords(type_, word, f"{function}_to_proto", f"{function}_from_proto")
