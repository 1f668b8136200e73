"""Sources whose texts can travel.

Comes in: an object of the SDK with a text that UTF-8 cannot spell, such as half an emoji from a
model that streams. Goes out: the same source, seen with whole texts, for the encoders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from numbers import Number
from typing import Any, TypeVar

from google.protobuf.message import Message

from .transport.base import logger

_S = TypeVar("_S")
_M = TypeVar("_M")

# What holds no text that is sent as it is; what an exception says is mended where it is told.
_PLAIN = (Number, bytes, datetime, timedelta, Message, BaseException)


def encoded(encode: Callable[[_S], _M], source: _S) -> _M:
    """Encode a source; if a text in it cannot travel, with a replacement for what is wrong in it.

    Raises what `encode` raises for other reasons.
    """
    try:
        return encode(source)
    except ValueError as error:
        if not _cannot_be_spelled(error):
            raise
    return encode(mended(source))


def _cannot_be_spelled(error: ValueError) -> bool:
    """Whether an encoder failed on a text that UTF-8 cannot spell.

    protobuf raises Python's own error for it, or, where it is not compiled, one in its place.
    """
    return any(isinstance(each, UnicodeEncodeError) for each in (error, error.__context__))


def mended(source: Any) -> Any:
    """A source with all its texts as they can travel; halves of one character become one."""
    logger.warning("a text cannot be spelled in UTF-8; what is wrong in it is replaced")
    return _mended(source)


def _mended(source: Any) -> Any:
    if isinstance(source, str):
        return _mended_text(source)
    if source is None or isinstance(source, _PLAIN):
        return source
    if isinstance(source, Mapping):
        return {_mended(key): _mended(value) for key, value in source.items()}
    if type(source) in (list, tuple):
        return type(source)(map(_mended, source))
    return _Mended(source)


class _Mended:
    """An object whose attributes, and whose items, are mended as they are read."""

    # No field can have a name like this.
    __slots__ = ("__source__",)

    def __init__(self, source: Any) -> None:
        self.__source__ = source

    def __getattr__(self, name: str) -> Any:
        return _mended(getattr(self.__source__, name))

    def __iter__(self) -> Iterator[Any]:
        return map(_mended, self.__source__)

    def __str__(self) -> str:
        return _mended_text(str(self.__source__))

    def __repr__(self) -> str:
        # The text of a list or dict is made of it.
        return _mended_text(repr(self.__source__))


def _mended_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
