// What the hosts have in common: the agent, its job, and the commands.
import { initializeLogger, runWithJobContextAsync } from '@livekit/agents';
import { serve, write } from './commands.mjs';
import { factsOf, job, scriptedSession } from './agent.mjs';
import { emitEvent } from './sdk_events.mjs';

/** Serves a session until standard input ends. `commands` start it; each is given the session. */
export async function serveHost(commands) {
  initializeLogger({ pretty: false, level: 'warn' });
  await runWithJobContextAsync(job(process.argv[2]), async () => {
    const session = scriptedSession();
    session.on('close', ({ reason }) => write({ note: 'closed', reason }));
    write({ note: 'ready' });
    const starts = Object.entries(commands).map(([name, start]) => [
      name,
      (fields) => start(session, fields),
    ]);
    await serve({
      ...Object.fromEntries(starts),
      facts: () => factsOf(session),
      emit: ({ arm }) => emitEvent(session, arm),
      close: () => session.close(),
    });
    await session.close();
  });
}
