"""A client and a handler of a generated package, between which requests go as bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from types import ModuleType
from typing import Any, get_args

import filled_messages
from generated_packages import Package
from google.protobuf.message import Message


class Modules:
    """The modules of a generated package."""

    def __init__(self, package: Package) -> None:
        self.package = package

    def __getattr__(self, name: str) -> ModuleType:
        if name == "pb":
            [path] = self.package.folder.glob("*_pb2.py")
            name = path.stem
        return self.package.module(name)


def run(awaited: Coroutine[Any, Any, Any]) -> Any:
    async def limited() -> Any:
        return await asyncio.wait_for(awaited, 20)

    return asyncio.run(limited())


class Exchange:
    """A handler and a client of a package, and the requests that went between them."""

    def __init__(self, made: Modules, methods: dict[str, Callable[[Any], Awaitable[Any]]]) -> None:
        self.made = made
        self.sent: list[Any] = []
        self.answers: list[Any] = []
        (name,) = [item for item in vars(made.requests) if item.startswith("Partial")]
        base = getattr(made.requests, name)
        bound = {
            key: (lambda method: lambda _, request: method(request))(method)
            for key, method in methods.items()
        }
        self.handler = type("Handler", (base,), bound)()

    def client(self) -> Any:
        (name,) = [item for item in vars(self.made.client) if item.endswith("Client")]
        base = getattr(self.made.client, name)

        async def send(_: Any, request: Any, timeout: float | None = None) -> Any:
            return await self._carry(request)

        async def send_oneway(_: Any, request: Any) -> None:
            assert await self._carry(request) is None

        return type("Client", (base,), {"send": send, "send_oneway": send_oneway})()

    async def _carry(self, request: Any) -> Any:
        self.sent.append(type(request).FromString(request.SerializeToString()))
        answer = await self.made.requests.answer(self.handler, self.sent[-1])
        self.answers.append(answer)
        return answer and type(answer).FromString(answer.SerializeToString())


def returning(value: Any) -> Callable[[Any], Awaitable[Any]]:
    async def method(_: Any) -> Any:
        return value

    return method


def raising(error: Exception) -> Callable[[Any], Awaitable[Any]]:
    async def method(_: Any) -> Any:
        raise error

    return method


def payload_of(type_: Any) -> Any:
    """Returns a value of the type of a payload, or of the first one of a union of types."""
    type_ = next(iter(get_args(type_)), type_)
    if type_ is type(None):
        return None
    if issubclass(type_, Message):
        payload = type_()
        filled_messages.fill(payload, filled_messages.DEPTH)
        return payload
    return type_(1)
