"""A host and a driver in one process, with the generated code alone."""

import asyncio

from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.client import SessionRequestClient
from agent_session_protocol.errors import RequestError
from agent_session_protocol.requests import PartialSessionRequestHandler, answer


class Host(PartialSessionRequestHandler):
    async def ping(self, request: pb.SessionRequest.Ping) -> pb.SessionResponse.Pong:
        return pb.SessionResponse.Pong()


class Driver(SessionRequestClient):
    async def send(
        self, request: pb.SessionRequest, timeout: float | None = None
    ) -> pb.SessionResponse:
        return await answer(Host(), request)  # a transport goes here


async def main() -> None:
    driver = Driver()
    await driver.ping()
    print("pong")
    try:
        await driver.run_input(text="hello")
    except RequestError as error:
        print(error)


asyncio.run(main())
