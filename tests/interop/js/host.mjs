// The host of @livekit/agents: `node host.mjs [VERDICT]`. It is set up as by the SDK's console
// command, or started in a room as by an agent, so that the session creates the SDK's host.
import { voice } from '@livekit/agents';
import { Room } from '@livekit/rtc-node';
import { clerk } from './agent.mjs';
import { serveHost } from './serve_host.mjs';

async function start(session, { port }) {
  const agentsConsole = voice.AgentsConsole.getInstance();
  agentsConsole.enabled = true;
  agentsConsole.transport = new voice.TcpSessionTransport('127.0.0.1', port);
  await session.start({ agent: clerk(), record: false });
}

const room = new Room();

async function startInRoom(session, { url, token }) {
  await room.connect(url, token);
  await session.start({
    agent: clerk(),
    room,
    record: false,
    inputOptions: { audioEnabled: false, closeOnDisconnect: false },
    outputOptions: { audioEnabled: false },
  });
}

await serveHost({ start, start_in_room: startInRoom });
await room.disconnect();
process.exit(0);
