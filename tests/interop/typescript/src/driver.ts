// A driver made of generated code: `node driver.js`.
import * as protocol from '../generated/index.js';
import * as binding from './binding.js';
import type { pb } from './binding.js';
import { serve, write } from './commands.js';

const transport = await binding.accepted();

const pending = new Map<string, (response: pb.SessionResponse) => void>();

async function send(
  request: pb.SessionRequest,
  { timeout = 20_000 }: protocol.RequestOptions,
): Promise<pb.SessionResponse> {
  request.requestId = `request-${pending.size}`;
  const response = new Promise<pb.SessionResponse>((resolve, reject) => {
    pending.set(request.requestId, resolve);
    setTimeout(() => reject(new Error('the request timed out')), timeout);
  });
  await transport.sendMessage(binding.envelope({ case: 'request', value: request }));
  return response;
}

const client = new protocol.SessionRequestClient(send);

const names: Record<string, string> = Object.fromEntries(
  Object.entries(protocol.EVENT_NAMES).map(([arm, name]) => [
    name,
    protocol.AGENT_SESSION_EVENT_ARMS[arm as protocol.AgentSessionEventArm].name,
  ]),
);
const emitter: protocol.AgentSessionEventEmitter = {
  emit: (name, payload, event) =>
    write({
      event: names[name],
      payload: binding.json(payload),
      created_at: (binding.json(event) as { created_at?: string }).created_at,
    }),
};

async function receive(): Promise<void> {
  for await (const { message } of transport) {
    if (message.case === 'response') pending.get(message.value.requestId)?.(message.value);
    if (message.case === 'event') {
      const unknown = protocol.emitEvent(emitter, message.value);
      if (unknown !== undefined) write({ event: `unknown ${unknown}`, payload: null });
    }
  }
  write({ note: 'ended' });
}

const methods = {
  ping: () => client.ping(),
  get_chat_history: () => client.fetchChatHistory(),
  run_input: ({ text }: { text?: string }) => client.sendMessage({ text: text ?? '' }),
  get_agent_info: () => client.fetchAgentInfo(),
  get_session_state: () => client.fetchSessionState(),
  get_rtc_stats: () => client.fetchRtcStats(),
  get_session_usage: () => client.fetchSessionUsage(),
  get_framework_info: () => client.fetchFrameworkInfo(),
  update_io: (fields: object) => client.updateIo(binding.updateIo(fields)),
  finalize_simulation: (fields: object) =>
    client.finalizeSimulation(binding.finalizeSimulation(fields)),
};

async function request({ name, fields }: Record<string, unknown>) {
  try {
    const method = methods[name as keyof typeof methods];
    return binding.json(await method(fields as object));
  } catch (error) {
    if (error instanceof protocol.RequestError && error.payload?.case !== undefined) {
      error.message += ` | ${JSON.stringify(binding.json(error.payload.value))}`;
    }
    throw error;
  }
}

async function unknown({ content, timeout_s }: Record<string, unknown>) {
  const bytes = Buffer.from(content as string, 'hex');
  const timeout = (timeout_s as number) * 1000;
  const { error } = await send(binding.request(bytes), { timeout });
  if (error !== undefined) throw new Error(error);
}

void receive();
write({
  note: 'connected',
  requests: Object.keys(methods),
  events: Object.values(protocol.AGENT_SESSION_EVENT_ARMS).map(({ name }) => name),
});
await serve({ request, unknown, close: () => transport.close() });
await transport.close();
process.exit(0);
