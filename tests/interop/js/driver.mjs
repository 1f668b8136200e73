// The driver inside @livekit/agents: `node driver.mjs`. Its TCP transport can only connect, and an
// agent connects too. So this program listens, and hands the accepted connection to the transport.
import { createServer } from 'node:net';
import { once } from 'node:events';
import { initializeLogger, voice } from '@livekit/agents';
import { AgentSession as pb } from '@livekit/protocol';
import { say, serve } from './lines.mjs';

initializeLogger({ pretty: false, level: 'warn' });

class AcceptedTransport extends voice.TcpSessionTransport {
  constructor(socket) {
    super('', 0);
    this.socket = socket;
  }

  async start() {}
}

const METHODS = {
  get_chat_history: (session) => session.fetchChatHistory(),
  run_input: (session, { text }) => session.sendMessage(text),
  get_agent_info: (session) => session.fetchAgentInfo(),
  get_session_state: (session) => session.fetchSessionState(),
  get_rtc_stats: (session) => session.fetchRtcStats(),
  get_session_usage: (session) => session.fetchSessionUsage(),
  get_framework_info: (session) => session.fetchFrameworkInfo(),
  finalize_simulation: (session, given) =>
    session.finalizeSimulation({
      provisionalSuccess: given.provisional_success,
      provisionalReason: given.provisional_reason,
    }),
};

// The SDK's own names; it tells no listener when an event was made.
const EVENTS = {
  agent_state_changed: 'agent_state_changed',
  user_state_changed: 'user_state_changed',
  conversation_item_added: 'conversation_item_added',
  user_input_transcribed: 'user_input_transcribed',
  function_tools_executed: 'function_tools_executed',
  error: 'error',
  overlapping_speech: 'overlapping_speech',
  session_usage_updated: 'session_usage',
  amd_prediction: 'amd_prediction',
  eot_prediction: 'eot_prediction',
  debug_message: 'debug_message',
  agent_false_interruption: 'agent_false_interruption',
};

const plain = (message) => message.toJson({ useProtoFieldName: true });

const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
await once(server, 'listening');
say({ note: 'listening', port: server.address().port });
const [socket] = await once(server, 'connection');
server.close();

const session = new voice.RemoteSession(new AcceptedTransport(socket));
for (const [arm, name] of Object.entries(EVENTS)) {
  session.on(name, (payload) => say({ event: arm, payload: plain(payload) }));
}
await session.start();
say({ note: 'connected', requests: Object.keys(METHODS), events: Object.keys(EVENTS) });
session.recvTask.result.then(() => say({ note: 'over' }));

async function request({ name, given }) {
  try {
    return plain(await METHODS[name](session, given));
  } catch (error) {
    if (error.userVerdict) error.message += ` | ${JSON.stringify(plain(error.userVerdict))}`;
    throw error;
  }
}

async function unknown({ content, seconds }) {
  const bytes = Buffer.from(content, 'hex');
  await session.sendRequest(() => pb.SessionRequest.fromBinary(bytes), seconds * 1000);
}

await serve({ request, unknown, close: () => session.close() });
await session.close();
process.exit(0);
