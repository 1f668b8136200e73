// The driver of examples/agents-js: `node example_driver.js`.
import { initializeLogger, voice } from '@livekit/agents';
import { AgentSession as pb } from '@livekit/protocol';
import { RemoteSession } from '../example/remote_session.js';
import {
  AGENT_SESSION_EVENT_ARMS,
  type AgentSessionEventCallbacks,
  EVENT_NAMES,
} from '../example/session_protocol/index.js';
import { accepted } from './accepted.js';
import { serve, write } from './commands.js';

initializeLogger({ pretty: false, level: 'warn' });
const session = new RemoteSession(await accepted());

/** Listens as an emitter whose listeners are given the event beside its payload. */
type Listen = <N extends keyof AgentSessionEventCallbacks>(
  name: N,
  listener: AgentSessionEventCallbacks[N],
) => unknown;

const plain = (message: object) =>
  (message as pb.DebugMessage).toJson({ useProtoFieldName: true }) as Record<string, unknown>;

for (const [arm, { name }] of Object.entries(AGENT_SESSION_EVENT_ARMS)) {
  (session.on as Listen).call(
    session,
    EVENT_NAMES[arm as keyof typeof EVENT_NAMES],
    (payload: object, event: pb.AgentSessionEvent) =>
      write({ event: name, payload: plain(payload), created_at: event.createdAt?.toJson() }),
  );
}

interface Fields {
  readonly text?: string;
  readonly provisional_success?: boolean;
  readonly provisional_reason?: string;
}

const methods: Record<string, (fields: Fields) => Promise<object>> = {
  get_chat_history: () => session.fetchChatHistory(),
  run_input: ({ text }) => session.sendMessage(text ?? ''),
  get_agent_info: () => session.fetchAgentInfo(),
  get_session_state: () => session.fetchSessionState(),
  get_rtc_stats: () => session.fetchRtcStats(),
  get_session_usage: () => session.fetchSessionUsage(),
  get_framework_info: () => session.fetchFrameworkInfo(),
  finalize_simulation: (fields) =>
    session.finalizeSimulation({
      provisionalSuccess: fields.provisional_success ?? false,
      provisionalReason: fields.provisional_reason,
    }),
  // The SDK's driver has no method for these.
  ping: () => session.requests.ping(),
  update_io: (fields) =>
    session.requests.updateIo(pb.SessionRequest_UpdateIO.fromJson({ ...fields })),
};

async function request({ name, fields }: Record<string, unknown>) {
  try {
    return plain(await (methods[name as string] as (typeof methods)[string])(fields as Fields));
  } catch (error) {
    if (error instanceof voice.FinalizeSimulationError && error.userVerdict) {
      error.message += ` | ${JSON.stringify(plain(error.userVerdict))}`;
    }
    throw error;
  }
}

async function unknown({ content, timeout_s }: Record<string, unknown>) {
  const bytes = Buffer.from(content as string, 'hex');
  const timeout = (timeout_s as number) * 1000;
  const { error } = await session.send(pb.SessionRequest.fromBinary(bytes), { timeout });
  if (error !== undefined) throw new Error(error);
}

await session.start();
write({
  note: 'connected',
  requests: Object.keys(methods),
  events: Object.values(AGENT_SESSION_EVENT_ARMS).map(({ name }) => name),
});
await serve({ request, unknown, close: () => session.close() });
await session.close();
process.exit(0);
