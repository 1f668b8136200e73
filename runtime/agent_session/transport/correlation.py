"""The fields that match the responses of a protocol with its requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message


@dataclass(frozen=True)
class Correlation:
    """The fields by which responses are matched with requests.

    Attributes:
        request: the envelope's field that holds a request.
        response: the envelope's field that holds a response.
        request_id: the string field of both that is equal in a request and its response.
        error: the string field of a response that holds the error; None if there is none.
    """

    request: str
    response: str
    request_id: str
    error: str | None = None

    def request_in(self, envelope: Message) -> Any:
        """Returns the request in an envelope, or None."""
        return getattr(envelope, self.request) if envelope.HasField(self.request) else None

    def response_in(self, envelope: Message) -> Any:
        """Returns the response in an envelope, or None."""
        return getattr(envelope, self.response) if envelope.HasField(self.response) else None
