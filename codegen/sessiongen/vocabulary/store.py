"""Vocabulary files: facts as JSON that can be reviewed as a diff.

In: a Vocabulary, or the bytes of a file. Out: the bytes, or the Vocabulary; a file that
does not hold one is a Refusal. Keys are sorted, a record without records inside is one
line, lines end in LF.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sessiongen.diagnostics import Diagnostic, Refusal, Rule, Span
from sessiongen.paths import display
from sessiongen.vocabulary.model import (
    FORMS,
    Answer,
    Build,
    Driver,
    EnumFact,
    EventName,
    FieldFact,
    Forward,
    Host,
    Place,
    Reception,
    Record,
    Sending,
    Session,
    Vocabulary,
    Word,
)

_T = TypeVar("_T")

_HELP = "write the file anew with `sessiongen vocabulary update`"

# JSON names that differ from the model's: shorter lines read better in a diff.
_NAMES = {"place": "at", "words": "values"}


def dump(vocabulary: Vocabulary) -> bytes:
    """Return the bytes of a vocabulary file."""
    return (_render(_plain(vocabulary), "") + "\n").encode("ascii")


def load(path: Path) -> Vocabulary:
    """Read a vocabulary file, or refuse it with what is wrong and where."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _refusal(Span(display(path)), f"the vocabulary cannot be read: {error.strerror}")
    return parse(data, display(path))


def parse(data: bytes, file: str) -> Vocabulary:
    """Return the Vocabulary that a file's bytes hold; file is its name in a refusal."""
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
        return _vocabulary(_Cursor(value, ""))
    except _Wrong as wrong:
        raise _refusal(Span(file), f"{wrong.at or 'the whole file'}: {wrong.what}")


def _refusal(span: Span, message: str) -> Refusal:
    return Refusal([Diagnostic(span, Rule.VOCABULARY, message, _HELP)])


def _plain(value: Any) -> Any:
    if isinstance(value, Place):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {_NAMES.get(key, key): _plain(item) for key, item in vars(value).items()}
    return value


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
    def __init__(self, at: str, what: str) -> None:
        self.at = at
        self.what = what
        super().__init__(what)


class _Cursor:
    """A value of the file and the way to it, for messages."""

    def __init__(self, value: Any, at: str) -> None:
        self.value = value
        self.at = at

    def keys(self, *names: str) -> None:
        """Require an object of exactly these keys."""
        if not isinstance(self.value, dict):
            raise _Wrong(self.at, "an object is needed here")
        for name in names:
            if name not in self.value:
                raise _Wrong(self.at, f"the key {name!r} is missing")
        for name in self.value:
            if name not in names:
                raise _Wrong(self.at, f"the key {name!r} is not known")

    def __getitem__(self, name: str) -> _Cursor:
        return _Cursor(self.value[name], f"{self.at}.{name}" if self.at else name)

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise _Wrong(self.at, "a string is needed here")
        if any("\ud800" <= item <= "\udfff" for item in self.value):
            raise _Wrong(self.at, "half a character is no text")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise _Wrong(self.at, "true or false is needed here")
        return self.value

    def line(self) -> int:
        if type(self.value) is not int or self.value < 1:
            raise _Wrong(self.at, "a line number is needed here")
        return self.value

    def place(self) -> Place:
        file, colon, line = self.text().rpartition(":")
        if not (file and colon and line.isascii() and line.isdigit() and len(line) < 10):
            raise _Wrong(self.at, "a place like `file:12` is needed here")
        return Place(file, int(line))

    def maybe(self, read: Callable[[_Cursor], _T]) -> _T | None:
        return None if self.value is None else read(self)

    def each(self, read: Callable[[_Cursor], _T]) -> tuple[_T, ...]:
        if not isinstance(self.value, list):
            raise _Wrong(self.at, "a list is needed here")
        return tuple(
            read(_Cursor(item, f"{self.at}[{index}]")) for index, item in enumerate(self.value)
        )


def _vocabulary(at: _Cursor) -> Vocabulary:
    at.keys("sdk", "language", "version", "enums", "records", "builds", "session", "host", "driver")
    return Vocabulary(
        sdk=at["sdk"].text(),
        language=at["language"].text(),
        version=at["version"].text(),
        enums=at["enums"].each(_enum),
        records=at["records"].each(_record),
        builds=at["builds"].each(_build),
        session=at["session"].maybe(_session),
        host=at["host"].maybe(_host),
        driver=at["driver"].maybe(_driver),
    )


def _enum(at: _Cursor) -> EnumFact:
    at.keys("name", "form", "open", "at", "values")
    form = at["form"].text()
    if form not in FORMS:
        raise _Wrong(at["form"].at, f"one of {', '.join(FORMS)} is needed here")
    return EnumFact(
        at["name"].text(), form, at["open"].flag(), at["at"].place(), at["values"].each(_word)
    )


def _word(at: _Cursor) -> Word:
    at.keys("value", "member", "line")
    return Word(at["value"].text(), at["member"].maybe(_Cursor.text), at["line"].line())


def _record(at: _Cursor) -> Record:
    at.keys("name", "tag", "at", "fields")
    return Record(
        at["name"].text(),
        at["tag"].maybe(_Cursor.text),
        at["at"].place(),
        at["fields"].each(_field),
    )


def _field(at: _Cursor) -> FieldFact:
    at.keys("name", "type", "optional", "at")
    return FieldFact(at["name"].text(), at["type"].text(), at["optional"].flag(), at["at"].place())


def _build(at: _Cursor) -> Build:
    at.keys("message", "within", "open", "at", "fields")
    return Build(
        at["message"].text(),
        at["within"].text(),
        at["open"].flag(),
        at["at"].place(),
        at["fields"].each(_Cursor.text),
    )


def _session(at: _Cursor) -> Session:
    at.keys("name", "at", "events", "emits")
    return Session(
        at["name"].text(), at["at"].place(), at["events"].each(_event), at["emits"].each(_event)
    )


def _event(at: _Cursor) -> EventName:
    at.keys("name", "at")
    return EventName(at["name"].text(), at["at"].place())


def _host(at: _Cursor) -> Host:
    at.keys("name", "at", "forwards", "answers")
    return Host(
        at["name"].text(),
        at["at"].place(),
        at["forwards"].each(_forward),
        at["answers"].each(_answer),
    )


def _forward(at: _Cursor) -> Forward:
    at.keys("arm", "event", "handler", "at", "via")
    return Forward(
        at["arm"].text(),
        at["event"].maybe(_Cursor.text),
        at["handler"].text(),
        at["at"].place(),
        at["via"].maybe(_Cursor.place),
    )


def _answer(at: _Cursor) -> Answer:
    at.keys("arm", "response", "reads", "at")
    return Answer(
        at["arm"].text(),
        at["response"].maybe(_Cursor.text),
        at["reads"].each(_Cursor.text),
        at["at"].place(),
    )


def _driver(at: _Cursor) -> Driver:
    at.keys("name", "at", "by_name", "events", "receives", "sends")
    return Driver(
        at["name"].text(),
        at["at"].place(),
        at["by_name"].maybe(_Cursor.place),
        at["events"].each(_event),
        at["receives"].each(_reception),
        at["sends"].each(_sending),
    )


def _reception(at: _Cursor) -> Reception:
    at.keys("arm", "event", "at")
    return Reception(at["arm"].text(), at["event"].text(), at["at"].place())


def _sending(at: _Cursor) -> Sending:
    at.keys("arm", "method", "at")
    return Sending(at["arm"].text(), at["method"].text(), at["at"].place())
