"""Repair of texts that UTF-8 cannot encode, such as half an emoji from a streaming model.

Protobuf refuses such texts. The repair replaces each lone surrogate with U+FFFD.
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

# Values of these types contain no text to repair. The encoders convert exceptions to strings and
# repair these.
_WITHOUT_TEXT = (Number, bytes, datetime, timedelta, Message, BaseException)


def encode_repaired(encode: Callable[[_S], _M], source: _S) -> _M:
    """Encodes a source. If UTF-8 cannot encode a text in it, encodes it with repaired texts.

    Texts are repaired only after encoding has failed, so that valid sources have no extra cost.
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
        # A valid member of a string enum is returned unchanged, since its `str()` differs.
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
    """A view of an object that repairs attributes and items when they are read."""

    # No field of a protocol can have this name.
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
        # `str()` of a list or dict uses the repr of its items.
        return well_formed(repr(self.__source__))
