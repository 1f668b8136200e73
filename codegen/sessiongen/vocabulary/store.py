"""Reads and writes vocabulary files: JSON that can be reviewed as a diff.

Keys are sorted, an object without objects inside is one line, and lines end in LF. A file that
is not a vocabulary raises InputError.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.paths import display
from sessiongen.vocabulary.behaviours import BEHAVIOURS
from sessiongen.vocabulary.model import (
    FORMS,
    DIRECTIONS,
    Answer,
    Behaviour,
    ConstantFact,
    Construction,
    Conversion,
    EnvelopeUse,
    Default,
    DefinitionFact,
    Driver,
    EnumFact,
    EventName,
    FieldFact,
    FieldSource,
    Forward,
    Host,
    MapKeys,
    UnionFact,
    Place,
    Reception,
    Record,
    Requirement,
    Sending,
    Session,
    UnusedValue,
    IgnoredVariant,
    ValueMap,
    Vocabulary,
    LiteralValue,
)
from sessiongen.vocabulary.ordering import normalized

_ValueReader = Callable[[Any], Any]

_HELP = "write the file again with `sessiongen vocabulary update`"

# JSON names that differ from the model's: shorter lines read better in a diff.
_NAMES = {"place": "at", "literals": "values"}
# Keys that few objects need, which are left out where they are empty.
_RARE = {"change", "parameter"}


def dump(vocabulary: Vocabulary) -> bytes:
    """Returns the bytes of a vocabulary file."""
    return (_render(_json_value(normalized(vocabulary)), "") + "\n").encode("ascii")


def load(path: Path) -> Vocabulary:
    """Returns the vocabulary in a file.

    Raises:
        InputError: the file cannot be read or is not a vocabulary.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _vocabulary_error(
            Span(display(path)), f"the vocabulary cannot be read: {error.strerror}"
        )
    return parse(data, display(path))


def parse(data: bytes, file: str) -> Vocabulary:
    """Returns the vocabulary in the bytes of a file. file: its name in diagnostics."""
    try:
        value = json.loads(data.decode("utf-8"))
    except json.JSONDecodeError as error:
        raise _vocabulary_error(Span(file, error.lineno, error.colno), f"not JSON: {error.msg}")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _vocabulary_error(Span(file, line), "not UTF-8")
    except (ValueError, RecursionError):
        raise _vocabulary_error(Span(file), "the JSON cannot be read")
    try:
        vocabulary = _VOCABULARY(value)
    except _InvalidValue as error:
        raise _vocabulary_error(Span(file), f"{error.path or 'the whole file'}: {error.message}")
    assert isinstance(vocabulary, Vocabulary)
    return vocabulary


def _vocabulary_error(span: Span, message: str) -> InputError:
    return InputError([Diagnostic(span, Rule.VOCABULARY, message, _HELP)])


def _json_value(value: Any) -> Any:
    if isinstance(value, Place):
        return str(value)
    if hasattr(value, "_asdict"):
        return {
            _NAMES.get(key, key): _json_value(item)
            for key, item in value._asdict().items()
            if item or key not in _RARE
        }
    return [_json_value(item) for item in value] if isinstance(value, tuple) else value


def _render(value: Any, indent: str) -> str:
    if not _has_object_inside(value):
        return json.dumps(value, sort_keys=True)
    deeper = indent + "  "
    if isinstance(value, dict):
        lines = [f"{json.dumps(key)}: {_render(value[key], deeper)}" for key in sorted(value)]
        opening, closing = "{", "}"
    else:
        lines = [_render(item, deeper) for item in value]
        opening, closing = "[", "]"
    body = ",\n".join(deeper + line for line in lines)
    return f"{opening}\n{body}\n{indent}{closing}"


def _has_object_inside(value: Any) -> bool:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(isinstance(item, dict) or _has_object_inside(item) for item in items)


class _InvalidValue(Exception):
    """A value in a vocabulary file is invalid. path: where the value is in the document."""

    def __init__(self, message: str, path: str = "") -> None:
        self.message = message
        self.path = path
        super().__init__(message)

    def inside(self, step: str) -> _InvalidValue:
        """Returns the same error with one more step at the front of its path."""
        dot = "." if self.path and not self.path.startswith("[") else ""
        return _InvalidValue(self.message, f"{step}{dot}{self.path}")


def _string(value: Any) -> str:
    if type(value) is not str:
        raise _InvalidValue("expected a string")
    if not value.isascii() and any("\ud800" <= item <= "\udfff" for item in value):
        raise _InvalidValue("the string has an unpaired surrogate")
    return value


def _boolean(value: Any) -> bool:
    if type(value) is not bool:
        raise _InvalidValue("expected true or false")
    return value


def _number(value: Any) -> float:
    if type(value) not in (int, float):
        raise _InvalidValue("expected a number")
    return float(value)


def _line(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise _InvalidValue("expected a line number")
    return value


def _place(value: Any) -> Place:
    file, colon, line = _string(value).rpartition(":")
    if not (file and colon and line.isascii() and line.isdigit() and len(line) < 10):
        raise _InvalidValue("expected a place such as `file:12`")
    return Place(file, int(line))


def _one_of(names: tuple[str, ...]) -> _ValueReader:
    def read(value: Any) -> str:
        if value not in names:
            raise _InvalidValue(f"expected one of {', '.join(names)}")
        return str(value)

    return read


def _pair(value: Any) -> tuple[str, ...]:
    pair: tuple[str, ...] = _each(_string)(value)
    if len(pair) != 2:
        raise _InvalidValue("expected two strings")
    return pair


def _optional(read: _ValueReader) -> _ValueReader:
    return lambda value: None if value is None else read(value)


def _each(read: _ValueReader) -> _ValueReader:
    def every(value: Any) -> tuple[Any, ...]:
        if type(value) is not list:
            raise _InvalidValue("expected a list")
        values = []
        try:
            for item in value:
                values.append(read(item))
        except _InvalidValue as error:
            raise error.inside(f"[{len(values)}]") from None
        return tuple(values)

    return every


def _object(kind: Callable[..., Any], /, **readers: _ValueReader) -> _ValueReader:
    """Returns a reader for an object with these keys, in the order of the model.

    A key may be missing if the model has a default: older files lack facts of a later kind.
    """
    names = {_NAMES.get(name, name): read for name, read in readers.items()}
    model_defaults: dict[str, Any] = getattr(kind, "_field_defaults", {})
    defaults = {_NAMES.get(name, name): value for name, value in model_defaults.items()}

    def read(value: Any) -> Any:
        if type(value) is not dict:
            raise _InvalidValue("expected an object")
        if value.keys() != names.keys():
            _check_keys(value, names, defaults)
        values = []
        for name, inner in names.items():
            try:
                values.append(inner(value[name]) if name in value else defaults[name])
            except _InvalidValue as error:
                raise error.inside(name) from None
        return kind(*values)

    return read


def _check_keys(
    value: dict[str, Any], names: dict[str, _ValueReader], defaults: dict[str, Any]
) -> None:
    for name in names:
        if name not in value and name not in defaults:
            raise _InvalidValue(f"the key {name!r} is missing")
    for name in value:
        if name not in names:
            raise _InvalidValue(f"the key {name!r} is unknown")


_STRINGS = _each(_string)
_OPTIONAL_PLACE = _optional(_place)
_EVENTS = _each(_object(EventName, name=_string, place=_place))
_LITERALS = _each(_object(LiteralValue, value=_string, member=_optional(_string), line=_line))
_FIELDS = _each(_object(FieldFact, name=_string, type=_string, optional=_boolean, place=_place))
_DEFAULTS = _each(_object(Default, value=_string, within=_string, place=_place))
_FORWARDS = _each(
    _object(
        Forward,
        arm=_string,
        event=_optional(_string),
        handler=_string,
        place=_place,
        via=_OPTIONAL_PLACE,
        event_type=_optional(_string),
        reads=_STRINGS,
        passes_event=_boolean,
    )
)
_ANSWERS = _each(
    _object(
        Answer,
        arm=_string,
        response=_optional(_string),
        reads=_STRINGS,
        errors=_STRINGS,
        place=_place,
        error_beside_result=_optional(_boolean),
    )
)
_RECEIVES = _each(_object(Reception, arm=_string, event=_string, place=_place))
_SENDS = _each(_object(Sending, arm=_string, method=_string, place=_place))
_ENUM = _object(
    EnumFact, name=_string, form=_one_of(FORMS), open=_boolean, place=_place, literals=_LITERALS
)
_MAP_KEYS = _object(
    MapKeys,
    message=_string,
    field=_string,
    within=_string,
    open=_boolean,
    place=_place,
    keys=_STRINGS,
    forms=_each(_pair),
)
_CONSTRUCTION = _object(
    Construction, message=_string, within=_string, open=_boolean, place=_place, fields=_STRINGS
)
_MAP = _object(ValueMap, name=_string, place=_place, pairs=_each(_pair), defaults=_DEFAULTS)
_CONVERSION = _object(
    Conversion,
    message=_string,
    field=_string,
    within=_string,
    place=_place,
    table=_string,
    pairs=_each(_pair),
    default=_string,
)
_VOCABULARY = _object(
    Vocabulary,
    sdk=_string,
    language=_string,
    version=_string,
    enums=_each(_ENUM),
    records=_each(
        _object(Record, name=_string, tag=_optional(_string), place=_place, fields=_FIELDS)
    ),
    unions=_each(_object(UnionFact, name=_string, place=_place, members=_STRINGS)),
    ignored_variants=_each(_object(IgnoredVariant, tag=_string, within=_string, place=_place)),
    maps=_each(_MAP),
    conversions=_each(_CONVERSION),
    constructions=_each(_CONSTRUCTION),
    map_keys=_each(_MAP_KEYS),
    envelope_uses=_each(
        _object(
            EnvelopeUse, arm=_string, direction=_one_of(DIRECTIONS), within=_string, place=_place
        )
    ),
    session=_optional(_object(Session, name=_string, place=_place, events=_EVENTS, emits=_EVENTS)),
    host=_optional(
        _object(
            Host,
            name=_string,
            place=_place,
            unknown_request=_OPTIONAL_PLACE,
            forwards=_FORWARDS,
            answers=_ANSWERS,
        )
    ),
    driver=_optional(
        _object(
            Driver,
            name=_string,
            place=_place,
            emits_by_arm_name=_OPTIONAL_PLACE,
            emits_payload_only=_OPTIONAL_PLACE,
            events=_EVENTS,
            receives=_RECEIVES,
            sends=_SENDS,
        )
    ),
    generated=_OPTIONAL_PLACE,
    requirement=_optional(
        _object(Requirement, distribution=_string, versions=_string, minimum=_string, place=_place)
    ),
    unused_values=_each(_object(UnusedValue, enum=_string, value=_string, place=_place)),
    sources=_each(
        _object(
            FieldSource,
            message=_string,
            field=_string,
            within=_string,
            place=_place,
            path=_string,
            constant=_string,
            factor=_number,
            condition=_string,
            change=_string,
            parameter=_string,
        )
    ),
    constants=_each(
        _object(
            ConstantFact,
            name=_string,
            definition=_string,
            expected=_string,
            value=_string,
            place=_OPTIONAL_PLACE,
        )
    ),
    behaviours=_each(
        _object(
            Behaviour,
            kind=_one_of(BEHAVIOURS),
            subject=_string,
            within=_string,
            value=_string,
            place=_OPTIONAL_PLACE,
        )
    ),
    definitions=_each(_object(DefinitionFact, name=_string, digest=_string, place=_place)),
)
