// The host of @livekit/agents: `node host.mjs [VERDICT]`. It is set up as by the SDK's console
// command, or started in a room as by an agent, so that the session creates the SDK's host.
import { initializeLogger, runWithJobContextAsync, voice } from '@livekit/agents';
import { Room } from '@livekit/rtc-node';
import { serve, write } from './commands.mjs';
import { clerk, factsOf, job, scriptedSession } from './agent.mjs';
import { emitEvent } from './sdk_events.mjs';

initializeLogger({ pretty: false, level: 'warn' });

async function start(session, port) {
  const agentsConsole = voice.AgentsConsole.getInstance();
  agentsConsole.enabled = true;
  agentsConsole.transport = new voice.TcpSessionTransport('127.0.0.1', port);
  await session.start({ agent: clerk(), record: false });
}

const room = new Room();

async function startInRoom(session, url, token) {
  await room.connect(url, token);
  await session.start({
    agent: clerk(),
    room,
    record: false,
    inputOptions: { audioEnabled: false, closeOnDisconnect: false },
    outputOptions: { audioEnabled: false },
  });
}

await runWithJobContextAsync(job(process.argv[2]), async () => {
  const session = scriptedSession();
  session.on('close', ({ reason }) => write({ note: 'closed', reason }));
  write({ note: 'ready' });
  await serve({
    start: ({ port }) => start(session, port),
    start_in_room: ({ url, token }) => startInRoom(session, url, token),
    facts: () => factsOf(session),
    emit: ({ arm }) => emitEvent(session, arm),
    close: () => session.close(),
  });
  await session.close();
  await room.disconnect();
});
process.exit(0);
