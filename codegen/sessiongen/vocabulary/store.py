"""Reads and writes vocabulary files: JSON that can be reviewed as a diff.

Keys are sorted, an object without objects inside is one line, and lines end in LF. A file that
is not a vocabulary is an InputError.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.paths import display
from sessiongen.vocabulary.model import (
    FORMS,
    DIRECTIONS,
    Answer,
    Construction,
    EnvelopeUse,
    Default,
    Driver,
    EnumFact,
    EventName,
    FieldFact,
    Forward,
    Host,
    MapKeys,
    UnionFact,
    Place,
    Reception,
    Record,
    Sending,
    Session,
    IgnoredVariant,
    ValueMap,
    Vocabulary,
    LiteralValue,
)
from sessiongen.vocabulary.ordering import normalized

_Read = Callable[[Any], Any]

_HELP = "write the file anew with `sessiongen vocabulary update`"

# JSON names that differ from the model's: shorter lines read better in a diff.
_NAMES = {"place": "at", "literals": "values"}


def dump(vocabulary: Vocabulary) -> bytes:
    """Return the bytes of a vocabulary file."""
    return (_render(_plain(normalized(vocabulary)), "") + "\n").encode("ascii")


def load(path: Path) -> Vocabulary:
    """Read a vocabulary file; an InputError says what is wrong and where."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _refusal(Span(display(path)), f"the vocabulary cannot be read: {error.strerror}")
    return parse(data, display(path))


def parse(data: bytes, file: str) -> Vocabulary:
    """Return the Vocabulary that a file's bytes hold; file is its name in diagnostics."""
    try:
        value = json.loads(data.decode("utf-8"))
    except json.JSONDecodeError as error:
        raise _refusal(Span(file, error.lineno, error.colno), f"not JSON: {error.msg}")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _refusal(Span(file, line), "not UTF-8")
    except (ValueError, RecursionError):
        raise _refusal(Span(file), "not JSON that can be read")
    try:
        found = _VOCABULARY(value)
    except _Wrong as wrong:
        raise _refusal(Span(file), f"{wrong.at or 'the whole file'}: {wrong.what}")
    assert isinstance(found, Vocabulary)
    return found


def _refusal(span: Span, message: str) -> InputError:
    return InputError([Diagnostic(span, Rule.VOCABULARY, message, _HELP)])


def _plain(value: Any) -> Any:
    if isinstance(value, Place):
        return str(value)
    if hasattr(value, "_asdict"):
        return {_NAMES.get(key, key): _plain(item) for key, item in value._asdict().items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _render(value: Any, indent: str) -> str:
    if not _nested(value):
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


def _nested(value: Any) -> bool:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(isinstance(item, dict) or _nested(item) for item in items)


class _Wrong(Exception):
    """What is wrong with a value, and the path to it."""

    def __init__(self, what: str, at: str = "") -> None:
        self.what = what
        self.at = at
        super().__init__(what)

    def inside(self, step: str) -> _Wrong:
        """Return the same error with one more step at the front of its path."""
        dot = "." if self.at and not self.at.startswith("[") else ""
        return _Wrong(self.what, f"{step}{dot}{self.at}")


def _text(value: Any) -> str:
    if type(value) is not str:
        raise _Wrong("a string is needed here")
    if not value.isascii() and any("\ud800" <= item <= "\udfff" for item in value):
        raise _Wrong("half a character is no text")
    return value


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise _Wrong("true or false is needed here")
    return value


def _line(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise _Wrong("a line number is needed here")
    return value


def _place(value: Any) -> Place:
    file, colon, line = _text(value).rpartition(":")
    if not (file and colon and line.isascii() and line.isdigit() and len(line) < 10):
        raise _Wrong("a place like `file:12` is needed here")
    return Place(file, int(line))


def _one_of(names: tuple[str, ...]) -> _Read:
    def read(value: Any) -> str:
        if value not in names:
            raise _Wrong(f"one of {', '.join(names)} is needed here")
        return str(value)

    return read


def _pair(value: Any) -> tuple[str, ...]:
    found: tuple[str, ...] = _each(_text)(value)
    if len(found) != 2:
        raise _Wrong("two strings are needed here")
    return found


def _maybe(read: _Read) -> _Read:
    return lambda value: None if value is None else read(value)


def _each(read: _Read) -> _Read:
    def every(value: Any) -> tuple[Any, ...]:
        if type(value) is not list:
            raise _Wrong("a list is needed here")
        done = []
        try:
            for item in value:
                done.append(read(item))
        except _Wrong as wrong:
            raise wrong.inside(f"[{len(done)}]") from None
        return tuple(done)

    return every


def _object(kind: Callable[..., Any], **readers: _Read) -> _Read:
    """Return a reader for an object with exactly these keys, in the order of the model."""
    names = {_NAMES.get(name, name): read for name, read in readers.items()}

    def read(value: Any) -> Any:
        if type(value) is not dict:
            raise _Wrong("an object is needed here")
        if value.keys() != names.keys():
            _refuse_keys(value, names)
        done = []
        for name, inner in names.items():
            try:
                done.append(inner(value[name]))
            except _Wrong as wrong:
                raise wrong.inside(name) from None
        return kind(*done)

    return read


def _refuse_keys(value: dict[str, Any], names: dict[str, _Read]) -> None:
    for name in names:
        if name not in value:
            raise _Wrong(f"the key {name!r} is missing")
    raise _Wrong(f"the key {next(name for name in value if name not in names)!r} is not known")


_TEXTS = _each(_text)
_AT = _maybe(_place)
_EVENTS = _each(_object(EventName, name=_text, place=_place))
_LITERALS = _each(_object(LiteralValue, value=_text, member=_maybe(_text), line=_line))
_FIELDS = _each(_object(FieldFact, name=_text, type=_text, optional=_flag, place=_place))
_DEFAULTS = _each(_object(Default, value=_text, within=_text, place=_place))
_FORWARDS = _each(
    _object(
        Forward,
        arm=_text,
        event=_maybe(_text),
        handler=_text,
        place=_place,
        via=_AT,
        event_type=_maybe(_text),
        reads=_TEXTS,
        passes_event=_flag,
    )
)
_ANSWERS = _each(
    _object(Answer, arm=_text, response=_maybe(_text), reads=_TEXTS, errors=_TEXTS, place=_place)
)
_RECEIVES = _each(_object(Reception, arm=_text, event=_text, place=_place))
_SENDS = _each(_object(Sending, arm=_text, method=_text, place=_place))
_ENUM = _object(
    EnumFact, name=_text, form=_one_of(FORMS), open=_flag, place=_place, literals=_LITERALS
)
_MAP_KEYS = _object(
    MapKeys, message=_text, field=_text, within=_text, open=_flag, place=_place, keys=_TEXTS
)
_CONSTRUCTION = _object(
    Construction, message=_text, within=_text, open=_flag, place=_place, fields=_TEXTS
)
_MAP = _object(ValueMap, name=_text, place=_place, pairs=_each(_pair), defaults=_DEFAULTS)
_VOCABULARY = _object(
    Vocabulary,
    sdk=_text,
    language=_text,
    version=_text,
    enums=_each(_ENUM),
    records=_each(_object(Record, name=_text, tag=_maybe(_text), place=_place, fields=_FIELDS)),
    unions=_each(_object(UnionFact, name=_text, place=_place, members=_TEXTS)),
    ignored_variants=_each(_object(IgnoredVariant, tag=_text, within=_text, place=_place)),
    maps=_each(_MAP),
    constructions=_each(_CONSTRUCTION),
    map_keys=_each(_MAP_KEYS),
    envelope_uses=_each(
        _object(EnvelopeUse, arm=_text, direction=_one_of(DIRECTIONS), within=_text, place=_place)
    ),
    session=_maybe(_object(Session, name=_text, place=_place, events=_EVENTS, emits=_EVENTS)),
    host=_maybe(
        _object(
            Host,
            name=_text,
            place=_place,
            unknown_request=_AT,
            forwards=_FORWARDS,
            answers=_ANSWERS,
        )
    ),
    driver=_maybe(
        _object(
            Driver,
            name=_text,
            place=_place,
            emits_by_arm_name=_AT,
            emits_payload_only=_AT,
            events=_EVENTS,
            receives=_RECEIVES,
            sends=_SENDS,
        )
    ),
)
