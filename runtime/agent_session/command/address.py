"""Parsing of the address argument: HOST:PORT, HOST or PORT."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 24024

_IPV6: Final = re.compile(r"[0-9a-fA-F.]*:[0-9a-fA-F:.]*")
_NAME: Final = re.compile(r"[^\s\[\]/:@]*")


class Address(NamedTuple):
    """An address to listen on. `str()` returns the form that `parse_address` parses."""

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_address(text: str) -> Address:
    """Parses HOST:PORT, HOST, PORT or :PORT. An IPv6 address must be in brackets.

    Raises:
        ValueError: the text is not an address.
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
            f"{text!r}: an IPv6 address must be in brackets, as in [::1]:{DEFAULT_PORT}"
        )
    elif not _NAME.fullmatch(host):
        raise ValueError(f"{text!r} is not HOST:PORT, as in {Address()}")
    if not (port.isascii() and port.isdecimal() and len(port) < 6 and int(port) < 65536):
        raise ValueError(f"{text!r} is not HOST:PORT: a port is a number below 65536")
    return Address(host or DEFAULT_HOST, int(port))
