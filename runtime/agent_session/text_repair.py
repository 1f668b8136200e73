"""Repair of texts that UTF-8 cannot encode, such as half an emoji from a streaming model.

Protobuf refuses such texts. A repaired text has U+FFFD in place of each lone surrogate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from numbers import Number
from typing import Any, TypeVar

from agent_session_protocol.values import well_formed
from google.protobuf.message import Message

from .transport.base import logger

_S = TypeVar("_S")
_M = TypeVar("_M")

# Values of these types contain no text that is sent. The texts of exceptions are repaired by the
# encoders, which convert them to strings.
_WITHOUT_TEXT = (Number, bytes, datetime, timedelta, Message, BaseException)


def encode_repaired(encode: Callable[[_S], _M], source: _S) -> _M:
    """Encodes a source; if it contains a text that UTF-8 cannot encode, with its texts repaired.

    Sources are encoded as they are first, so that only those with such a text pay for the repair.
    Other errors of `encode` are raised.
    """
    try:
        return encode(source)
    except ValueError as error:
        if not _is_unicode_error(error):
            raise
    logger.warning("a text cannot be encoded in UTF-8; its lone surrogates are replaced")
    return encode(_repaired(source))


def _is_unicode_error(error: ValueError) -> bool:
    """Reports whether an encoder failed on a text that UTF-8 cannot encode.

    The pure Python implementation of protobuf raises another error while it handles Python's own.
    """
    return any(isinstance(each, UnicodeEncodeError) for each in (error, error.__context__))


def _repaired(source: Any) -> Any:
    """Returns the source with all its texts repaired, at any depth."""
    if isinstance(source, str):
        # A member of an enum whose values are texts stays what it is: its str() is another text.
        repaired = well_formed(str.__str__(source))
        return source if repaired == source else repaired
    if source is None or isinstance(source, _WITHOUT_TEXT):
        return source
    if isinstance(source, Mapping):
        return {_repaired(key): _repaired(value) for key, value in source.items()}
    if type(source) in (list, tuple):
        return type(source)(map(_repaired, source))
    return _RepairedView(source)


class _RepairedView:
    """A view of an object that repairs its attributes and items when they are read."""

    # No field of a protocol can have a name like this.
    __slots__ = ("__source__",)

    def __init__(self, source: Any) -> None:
        self.__source__ = source

    def __getattr__(self, name: str) -> Any:
        return _repaired(getattr(self.__source__, name))

    def __iter__(self) -> Iterator[Any]:
        return map(_repaired, self.__source__)

    def __str__(self) -> str:
        return well_formed(str(self.__source__))

    def __repr__(self) -> str:
        # The text of a list or dict consists of the repr of its items.
        return well_formed(repr(self.__source__))
