"""The host: a simulated robot arm that listens for drivers.

Run it in this folder, then run driver.py with the port that it prints.
"""

from __future__ import annotations

import asyncio
import math
import sys

from agent_session.transport import MessageFormat, Transport, listen_tcp

from robot_protocol import robot_pb2 as pb
from robot_protocol.dispatch import RobotRequestMoveHandlers, dispatch_robot_request_move
from robot_protocol.errors import RequestError, UnknownArmError
from robot_protocol.events import RobotEventSink
from robot_protocol.peer import HostPeer
from robot_protocol.requests import RobotRequestHandler

PRESETS = {"home": pb.Position(z=300), "tray": pb.Position(x=250, y=100, z=20)}
REACH = 600.0  # millimetres
SPEED = 1000.0  # millimetres per second


class Arm(RobotRequestHandler):
    """Answers the requests. A type checker reports a request that has no method here."""

    events: RobotEventSink

    def __init__(self) -> None:
        self.position = PRESETS["home"]
        self.closed = False

    async def move(self, request: pb.RobotRequest.Move) -> pb.RobotResponse.Moved:
        target = self._target(request)
        if math.hypot(target.x, target.y, target.z) > REACH:
            self.events.faulted(fault=pb.FAULT_OUT_OF_REACH, detail=f"the reach is {REACH:g} mm")
            raise RequestError("out of reach")
        seconds = _distance(self.position, target) / SPEED
        self.events.started(seconds=seconds)
        await asyncio.sleep(seconds)
        self.position = target
        return pb.RobotResponse.Moved(position=target)

    async def grip(self, request: pb.RobotRequest.Grip) -> pb.RobotResponse.Gripped:
        self.closed = request.closed
        return pb.RobotResponse.Gripped(width=0 if request.closed else 80)

    async def get_status(self, request: pb.RobotRequest.GetStatus) -> pb.RobotResponse.Status:
        return pb.RobotResponse.Status(position=self.position, closed=self.closed)

    def _target(self, request: pb.RobotRequest.Move) -> pb.Position:
        # The table of handlers is complete: a type checker reports a target that is missing.
        handlers = RobotRequestMoveHandlers(
            position=lambda position: position, joints=_forward, preset=_preset
        )
        try:
            return dispatch_robot_request_move(request, handlers)
        except UnknownArmError as error:
            raise RequestError("no target that this arm knows") from error


def _preset(name: str) -> pb.Position:
    if name not in PRESETS:
        raise RequestError(f"no preset {name}")
    return PRESETS[name]


def _forward(joints: pb.Joints) -> pb.Position:
    """Returns where the angles of the joints put the hand of this arm."""
    base, shoulder, elbow = map(math.radians, (joints.base, joints.shoulder, joints.elbow))
    out = 300 * math.cos(shoulder) + 300 * math.cos(shoulder + elbow)
    up = 300 * math.sin(shoulder) + 300 * math.sin(shoulder + elbow)
    return pb.Position(x=out * math.cos(base), y=out * math.sin(base), z=up)


def _distance(start: pb.Position, end: pb.Position) -> float:
    return math.dist((start.x, start.y, start.z), (end.x, end.y, end.z))


async def serve(transport: Transport[pb.RobotMessage]) -> None:
    """Serves one driver until it disconnects."""
    arm = Arm()
    async with HostPeer(transport, arm) as peer:
        arm.events = peer.events
        await peer.wait_ended()
    print(f"the driver left: {peer.reason or 'it closed the connection'}", flush=True)


async def main(port: int) -> None:
    listener = await listen_tcp(MessageFormat(pb.RobotMessage), port=port)
    print(f"listening on port {listener.port}", flush=True)
    async for transport in listener:
        await serve(transport)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
