"""Sources whose texts can travel.

Comes in: an object of the SDK with a text that UTF-8 cannot spell, such as half an emoji from a
model that streams. Goes out: the same source, seen with whole texts, for the encoders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from google.protobuf.message import Message

from .transport import logger

_S = TypeVar("_S")
_M = TypeVar("_M")

# What holds no text that is sent as it is; what an exception says is mended where it is told.
_PLAIN = (int, float, bytes, datetime, timedelta, Message, BaseException)


def encoded(encode: Callable[[_S], _M], source: _S) -> _M:
    """Encode a source; if a text in it cannot travel, with a replacement for what is wrong in it.

    Raises what `encode` raises for other reasons.
    """
    try:
        return encode(source)
    except UnicodeEncodeError:
        return encode(mended(source))


def mended(source: Any) -> Any:
    """A source with all its texts as they can travel; halves of one character become one."""
    logger.warning("a text cannot be spelled in UTF-8; what is wrong in it is replaced")
    return _mended(source)


def _mended(source: Any) -> Any:
    if isinstance(source, str):
        return _mended_text(source)
    if isinstance(source, Mapping):
        return {_mended(key): _mended(value) for key, value in source.items()}
    if isinstance(source, (list, tuple)):
        return [_mended(item) for item in source]
    if source is None or isinstance(source, _PLAIN):
        return source
    return _Mended(source)


class _Mended:
    """An object whose attributes are mended as they are read."""

    __slots__ = ("_source",)

    def __init__(self, source: object) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        return _mended(getattr(self._source, name))

    def __str__(self) -> str:
        return _mended_text(str(self._source))

    def __repr__(self) -> str:
        # The text of a list or dict is made of it.
        return _mended_text(repr(self._source))


def _mended_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
