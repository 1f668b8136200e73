// A host made of generated code: `node host.js`.
import * as protocol from '../generated/index.js';
import * as binding from './binding.js';
import type { pb } from './binding.js';
import { serve, write } from './commands.js';
import { events, items, usage } from './scripted.js';

class Host implements protocol.SessionRequestHandler {
  switches: pb.SessionRequest_UpdateIO | undefined;

  ping() {
    return {};
  }

  getChatHistory() {
    return protocol.encodeSessionResponseGetChatHistoryResponse({ items });
  }

  runInput({ text }: pb.SessionRequest_RunInput) {
    if (text === '') throw new protocol.RequestError('empty run_input text');
    if (text === 'fail') throw new Error('a secret of the host');
    return Promise.resolve({ items: items.slice(0, 1).map(protocol.encodeChatContextChatItem) });
  }

  getAgentInfo() {
    return protocol.encodeSessionResponseGetAgentInfoResponse({
      id: 'clerk',
      tools: ['find'],
      chatCtx: [],
    });
  }

  getSessionState() {
    return protocol.encodeSessionResponseGetSessionStateResponse({
      agentState: 'listening',
      userState: 'away',
      agentId: 'clerk',
      options: { max_tool_steps: 3 },
      createdAt: -1.5,
    });
  }

  getRtcStats() {
    return protocol.encodeSessionResponseGetRTCStatsResponse({
      publisherStats: [{ id: 'a', bytes: 1 }],
      subscriberStats: [],
    });
  }

  getSessionUsage() {
    return protocol.encodeSessionResponseGetSessionUsageResponse({ usage, createdAt: 0 });
  }

  getFrameworkInfo() {
    return { sdk: 'generated', sdkVersion: '1' };
  }

  updateIo(request: pb.SessionRequest_UpdateIO) {
    this.switches = request;
    return {};
  }

  finalizeSimulation(
    request: pb.SessionRequest_FinalizeSimulation,
  ): pb.SessionResponse_FinalizeSimulationResponse {
    const value = protocol.encodeSessionResponseFinalizeSimulationResponse({
      userVerdict: { success: false, reason: `not ${request.provisionalReason}` },
    });
    throw new protocol.RequestError('the judge failed', { case: 'finalizeSimulation', value });
  }
}

const host = new Host();
type Transport = Awaited<ReturnType<typeof binding.connected>>;
let transport: Transport | undefined;
let errors = '';

async function send(message: pb.AgentSessionMessage['message']): Promise<void> {
  await transport?.sendMessage(binding.envelope(message));
}

async function receive(transport: Transport): Promise<void> {
  for await (const { message } of transport) {
    if (message.case !== 'request') continue;
    const report = (error: unknown, arm: string) => (errors += `${arm}: ${String(error)}\n`);
    const value = await protocol.answer(host, message.value, report);
    await send({ case: 'response', value });
  }
}

write({ note: 'ready' });
await serve({
  start: async ({ port }) => {
    transport = await binding.connected(port as number);
    void receive(transport);
  },
  emit: ({ arm }) => {
    const name = arm as protocol.AgentSessionEventArm;
    const value = protocol.encodeAgentSessionEvent(name, events[name], 1_700_000_000_500);
    return send({ case: 'event', value });
  },
  facts: () => ({ switches: host.switches ? binding.json(host.switches) : null, errors }),
  arms: () =>
    Object.entries(protocol.AGENT_SESSION_EVENT_ARMS).map(([arm, { name }]) => [arm, name]),
});
await transport?.close();
process.exit(0);
