"""The handlers of a host, one for each request.

A handler returns the payload of the response, or raises `RequestError` with a text for the driver.

For type checkers, the base class is `SessionRequestHandler`. They therefore report a request without
a handler where `HostRequestHandler` is constructed. At run time, the base class is
`PartialSessionRequestHandler`, which answers such a request with "unimplemented".
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol import encoders, responses
from agent_session_protocol.errors import RequestError
from google.protobuf.message import Message

from .adapter import SessionAdapter
from .nesting import MAX_NESTING, exceeds_nesting
from ..transport.framing import MAX_FRAME_SIZE
from ..text_repair import encode_repaired
from .runs import Runs, RunStopped
from ..transport.base import logger

if TYPE_CHECKING:
    from agent_session_protocol.requests import SessionRequestHandler as Skeleton
else:
    from agent_session_protocol.requests import PartialSessionRequestHandler as Skeleton

# How many chat items are encoded before other tasks may run. It takes about a millisecond.
_CHUNK: Final = 128

# The largest number of characters of an exception's text in a response, so that the response does
# not exceed the size limit.
_MAX_ERROR_TEXT: Final = 4096

# Requests whose handlers never wait.
_IMMEDIATE: Final = frozenset(
    {"ping", "get_session_state", "get_session_usage", "get_framework_info", "update_io"}
)

_M = TypeVar("_M", bound=Message)
_Response = pb.SessionResponse


class HostRequestHandler(Skeleton):
    """Handles the requests of a driver to a session.

    Args:
        session: the session.
        runs: handles run_input.
        redact_errors: whether to hide the texts of the session's exceptions from the driver.
        max_message_size: the size limit of a response in bytes.
    """

    def __init__(
        self,
        session: SessionAdapter,
        runs: Runs,
        *,
        redact_errors: bool,
        max_message_size: int = MAX_FRAME_SIZE,
    ) -> None:
        self._session = session
        self._runs = runs
        self._redact_errors = redact_errors
        self._max_message_size = max_message_size
        # An envelope's response that the next get_chat_history fills, which saves a copy of it. Its
        # handler must not wait.
        self.response: _Response | None = None

    def is_immediate(self, arm: str) -> bool:
        """Reports whether the handler of a request returns without waiting, and needs no task."""
        if arm == "get_chat_history":
            try:
                return len(self._session.chat_items()) <= _CHUNK
            except Exception:
                return False  # the handler fails in the same way, and its error is logged
        return arm in _IMMEDIATE

    async def ping(self, request: pb.SessionRequest.Ping) -> _Response.Pong:
        return encoders.encode_pong(responses.Pong())

    async def get_chat_history(
        self, request: pb.SessionRequest.GetChatHistory
    ) -> _Response.GetChatHistoryResponse:
        source = responses.GetChatHistoryResponse(items=self._session.chat_items())
        if self.response is not None:
            return encode_repaired(partial(_fill_history, self.response), source)
        encode = encoders.encode_get_chat_history_response
        return await _encode_in_chunks(encode, source, "items", self._max_message_size)

    async def run_input(self, request: pb.SessionRequest.RunInput) -> _Response.RunInputResponse:
        if not request.text:
            raise _run_failed("the text of run_input is empty")
        try:
            items = await self._runs.run(request.text)
        except (RunStopped, RequestError) as refusal:
            raise _run_failed(str(refusal)) from None
        except Exception as error:
            logger.exception("a run failed")
            raise _run_failed(self._error_text(error)) from error
        response = responses.RunInputResponse(items=items)
        return encode_repaired(encoders.encode_run_input_response, response)

    async def get_agent_info(
        self, request: pb.SessionRequest.GetAgentInfo
    ) -> _Response.GetAgentInfoResponse:
        source = self._session.agent_info()
        encode = encoders.encode_get_agent_info_response
        return await _encode_in_chunks(encode, source, "chat_ctx", self._max_message_size)

    async def get_session_state(
        self, request: pb.SessionRequest.GetSessionState
    ) -> _Response.GetSessionStateResponse:
        return encode_repaired(
            encoders.encode_get_session_state_response, self._session.session_state()
        )

    async def get_rtc_stats(
        self, request: pb.SessionRequest.GetRTCStats
    ) -> _Response.GetRTCStatsResponse:
        source = (await self._session.rtc_stats()).copy()
        source["publisher_stats"] = publisher = list(source["publisher_stats"] or ())
        source["subscriber_stats"] = subscriber = list(source["subscriber_stats"] or ())
        if any(map(exceeds_nesting, publisher + subscriber)):
            raise RequestError(f"the statistics nest deeper than {MAX_NESTING} levels")
        return encode_repaired(encoders.encode_get_rtc_stats_response, source)

    async def get_session_usage(
        self, request: pb.SessionRequest.GetSessionUsage
    ) -> _Response.GetSessionUsageResponse:
        source = responses.GetSessionUsageResponse(
            usage=self._session.usage(), created_at=time.time()
        )
        return encode_repaired(encoders.encode_get_session_usage_response, source)

    async def get_framework_info(
        self, request: pb.SessionRequest.GetFrameworkInfo
    ) -> _Response.GetFrameworkInfoResponse:
        return encoders.encode_get_framework_info_response(self._session.framework_info())

    async def update_io(self, request: pb.SessionRequest.UpdateIO) -> _Response.UpdateIOResponse:
        for side, switches in request.ListFields():
            for switch, on in switches.ListFields():
                self._session.switch(side.name, switch.name, on)
        return encoders.encode_update_io_response(responses.UpdateIOResponse())

    async def finalize_simulation(
        self, request: pb.SessionRequest.FinalizeSimulation
    ) -> _Response.FinalizeSimulationResponse:
        failure: BaseException | None = None
        try:
            await self._session.finalize(request.provisional_success, request.provisional_reason)
        except (Exception, asyncio.CancelledError) as error:
            # A cancellation, by the callback or by a close, is also answered, with the verdict that
            # the callback has recorded.
            logger.exception("the callback for the end of a simulation failed")
            failure = error
        response = encode_repaired(
            encoders.encode_finalize_simulation_response,
            responses.FinalizeSimulationResponse(user_verdict=self._session.user_verdict()),
        )
        if failure is not None:
            raise RequestError(self._error_text(failure), response)
        return response

    def _error_text(self, error: BaseException) -> str:
        if self._redact_errors:
            return "internal error"
        return str(error)[:_MAX_ERROR_TEXT] or type(error).__name__


def _fill_history(
    response: _Response, source: responses.GetChatHistoryResponse
) -> _Response.GetChatHistoryResponse:
    """Fills the history of a response. If that fails, leaves the response without it."""
    to = response.get_chat_history
    try:
        encoders.fill_get_chat_history_response(source, to)
    except BaseException:
        response.ClearField("get_chat_history")
        raise
    return to


def _run_failed(text: str) -> RequestError:
    nothing = responses.RunInputResponse(items=())
    return RequestError(text, encoders.encode_run_input_response(nothing))


async def _encode_in_chunks(
    encode: Callable[[Any], _M], source: Mapping[str, Any], items: str, limit: int
) -> _M:
    """Encodes a response with chat items, in chunks, so that other tasks can run in between.

    Args:
        encode: the encoder of the response.
        source: the contents of the response.
        items: the key of the chat items in it.
        limit: the size limit of the response in bytes.

    Raises:
        RequestError: the response exceeds the size limit of a message.
    """
    all_items = list(source[items] or ())
    if len(all_items) <= _CHUNK:
        return encode_repaired(encode, source)
    response = encode_repaired(encode, {**source, items: all_items[:_CHUNK]})
    size = response.ByteSize()
    empty_source = dict.fromkeys(source)
    for start in range(_CHUNK, len(all_items), _CHUNK):
        await asyncio.sleep(0)
        chunk = encode_repaired(encode, {**empty_source, items: all_items[start : start + _CHUNK]})
        size += chunk.ByteSize()
        if size > limit:
            raise RequestError(too_large(size, limit))
        response.MergeFrom(chunk)
    return response


def too_large(size: int, limit: int) -> str:
    """Returns the error text for a response that exceeds the size limit of a message."""
    return f"the response takes at least {size} bytes, the limit is {limit} bytes"
