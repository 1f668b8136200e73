// The host inside @livekit/agents: `node host.mjs [VERDICT]`. It is set up as the SDK's console
// command does it, so that the session makes its own SessionHost.
import { initializeLogger, runWithJobContextAsync, voice } from '@livekit/agents';
import { say, serve } from './lines.mjs';
import { clerk, factsOf, job, scriptedSession } from './agent.mjs';
import { raiseMoment } from './moments.mjs';

initializeLogger({ pretty: false, level: 'warn' });

async function start(session, port) {
  const agentsConsole = voice.AgentsConsole.getInstance();
  agentsConsole.enabled = true;
  agentsConsole.transport = new voice.TcpSessionTransport('127.0.0.1', port);
  await session.start({ agent: clerk(), record: false });
}

await runWithJobContextAsync(job(process.argv[2]), async () => {
  const session = scriptedSession();
  session.on('close', ({ reason }) => say({ note: 'closed', reason }));
  say({ note: 'ready' });
  await serve({
    start: ({ port }) => start(session, port),
    facts: () => factsOf(session),
    happen: ({ arm }) => raiseMoment(session, arm),
    close: () => session.close(),
  });
  await session.close();
});
process.exit(0);
