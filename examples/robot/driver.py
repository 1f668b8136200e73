"""The driver: moves the arm, and prints its answers and events."""

from __future__ import annotations

import asyncio
import sys

from agent_session.transport import MessageFormat, TcpTransport

from robot_protocol import robot_pb2 as pb
from robot_protocol.errors import RequestError
from robot_protocol.peer import ClientPeer, RequestTimedOut


def show(position: pb.Position) -> str:
    return f"({position.x:.0f}, {position.y:.0f}, {position.z:.0f})"


async def drive(robot: ClientPeer) -> None:
    # The events arrive while the requests are in progress.
    robot.listeners.on_started(lambda started, _: print(f"  moving for {started.seconds:.2f} s"))
    robot.listeners.on_faulted(
        lambda faulted, _: print(f"  {pb.Fault.Name(faulted.fault)}: {faulted.detail}")
    )

    status = await robot.requests.get_status()
    print(f"the arm is at {show(status.position)}")

    moved = await robot.requests.move(preset="tray")
    print(f"moved to {show(moved.position)}")

    gripped = await robot.requests.grip(closed=True)
    print(f"the gripper is {gripped.width:.0f} mm wide")

    moved = await robot.requests.move(joints=pb.Joints(base=90, shoulder=90, elbow=-90))
    print(f"moved to {show(moved.position)}")

    try:
        await robot.requests.move(position=pb.Position(x=5000))
    except RequestError as error:
        print(f"refused: {error}")

    try:
        await robot.requests.move(preset="home", timeout=0.05)
    except RequestTimedOut as error:
        print(f"gave up: {error}")


async def main(port: int) -> None:
    transport = TcpTransport(MessageFormat(pb.RobotMessage), "127.0.0.1", port)
    async with transport, ClientPeer(transport, timeout=10) as robot:
        await drive(robot)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
