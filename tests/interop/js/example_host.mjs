// The host of examples/agents-js in place of the SDK's: `node example_host.mjs [VERDICT]`. It is
// compiled with the programs of ../typescript, and runs beside them.
import { voice } from '@livekit/agents';
import { clerk } from './agent.mjs';
import { serveHost } from './serve_host.mjs';
import { attach } from '../example/session_host.js';

async function start(session, { port }) {
  attach(session, new voice.TcpSessionTransport('127.0.0.1', port));
  await session.start({ agent: clerk(), record: false });
}

await serveHost({ start });
process.exit(0);
