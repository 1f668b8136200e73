// The driver of @livekit/agents: `node driver.mjs`, or in a room `node driver.mjs URL TOKEN`. The TCP
// transport of the SDK can only connect, as agents do. This program therefore listens, and passes the
// accepted connection to the transport.
import { createServer } from 'node:net';
import { once } from 'node:events';
import { initializeLogger, voice } from '@livekit/agents';
import { Room } from '@livekit/rtc-node';
import { AgentSession as pb } from '@livekit/protocol';
import { serve, write } from './commands.mjs';

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
  finalize_simulation: (session, fields) =>
    session.finalizeSimulation({
      provisionalSuccess: fields.provisional_success,
      provisionalReason: fields.provisional_reason,
    }),
};

// The names of the SDK's events. The SDK does not pass the time of an event to its listeners.
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

async function acceptedTransport() {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  write({ note: 'listening', port: server.address().port });
  const [socket] = await once(server, 'connection');
  server.close();
  return new AcceptedTransport(socket);
}

const room = new Room();

async function roomTransport(url, token) {
  await room.connect(url, token);
  return new voice.RoomSessionTransport(room, { linkedParticipant: { identity: 'agent' } });
}

const [url, token] = process.argv.slice(2);
const session = new voice.RemoteSession(
  await (url ? roomTransport(url, token) : acceptedTransport()),
);
for (const [arm, name] of Object.entries(EVENTS)) {
  session.on(name, (payload) => write({ event: arm, payload: plain(payload) }));
}
await session.start();
write({ note: 'connected', requests: Object.keys(METHODS), events: Object.keys(EVENTS) });
session.recvTask.result.then(() => write({ note: 'ended' }));

async function request({ name, fields }) {
  try {
    return plain(await METHODS[name](session, fields));
  } catch (error) {
    if (error.userVerdict) error.message += ` | ${JSON.stringify(plain(error.userVerdict))}`;
    throw error;
  }
}

async function unknown({ content, timeout_s }) {
  const bytes = Buffer.from(content, 'hex');
  await session.sendRequest(() => pb.SessionRequest.fromBinary(bytes), timeout_s * 1000);
}

await serve({ request, unknown, close: () => session.close() });
await session.close();
await room.disconnect();
process.exit(0);
