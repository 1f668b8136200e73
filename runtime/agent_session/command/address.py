"""Parsing of the addresses that the command takes: HOST:PORT, or one of the two."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 24024

_IPV6: Final = re.compile(r"[0-9a-fA-F.]*:[0-9a-fA-F:.]*")
_NAME: Final = re.compile(r"[^\s\[\]/:@]*")


class Address(NamedTuple):
    """Where to listen. As text it is what one can type."""

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_address(text: str) -> Address:
    """Read HOST:PORT, HOST, PORT or :PORT; an IPv6 address stands in brackets.

    Raises:
        ValueError: it is none of these.
    """
    host, colon, port = text.rpartition(":")
    if not colon and text.isdecimal():
        host, port = "", text
    elif not colon or text.endswith("]"):
        host, port = text, str(DEFAULT_PORT)
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif _IPV6.fullmatch(host):
        raise ValueError(
            f"{text!r}: an IPv6 address stands in brackets, as in [::1]:{DEFAULT_PORT}"
        )
    elif not _NAME.fullmatch(host):
        raise ValueError(f"{text!r} is no HOST:PORT, as in {Address()}")
    if not (port.isascii() and port.isdecimal() and len(port) < 6 and int(port) < 65536):
        raise ValueError(f"{text!r} is no HOST:PORT: a port is a number below 65536")
    return Address(host or DEFAULT_HOST, int(port))
