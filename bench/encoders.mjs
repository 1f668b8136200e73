// Times the generated encoders and those of agents-js in turn, in one process: `node encoders.mjs`.
// Prints the seconds of each round as JSON. It runs beside the compiled modules of `generated`.
import { initializeLogger, llm, voice } from '@livekit/agents';
import { AgentSession as pb } from '@livekit/protocol';
import * as protocol from './generated/index.js';

// The SDK exports neither of its encoders: one is in a module of its own, the other is called by
// its host.
const { encodeChatItem } = await import(
  new URL('proto.js', import.meta.resolve('@livekit/agents'))
);
initializeLogger({ pretty: false, level: 'silent' });

const ROUNDS = 60;
const TIME = 1_700_000_000_123;
const text = 'This is a sentence of the length that people usually speak.';
const metrics = { llmNodeTtft: 0.25, ttsNodeTtfb: 0.125, e2eLatency: 0.75 };
const message = (role) =>
  llm.ChatMessage.create({
    role,
    content: [text],
    createdAt: TIME,
    metrics: role === 'user' ? {} : metrics,
  });
const call = llm.FunctionCall.create({
  callId: 'call_1',
  name: 'weather',
  args: '{"city": "Oslo"}',
  createdAt: TIME,
});
const roles = ['user', 'assistant'];
const history = Array.from({ length: 50 }, (_, i) => (i % 3 === 1 ? call : message(roles[i % 2])));
const counts = { provider: 'p', model: 'm', inputTokens: 10, outputTokens: 4 };
const usage = {
  modelUsage: [
    { type: 'llm_usage', ...counts, inputCachedTokens: 2, sessionDurationMs: 1500 },
    { type: 'tts_usage', ...counts, charactersCount: 90, audioDurationMs: 1500 },
    { type: 'stt_usage', ...counts, audioDurationMs: 1500 },
  ],
};

const transport = { sendMessage: async () => {} };
const host = new voice.SessionHost(transport);
Object.assign(host, { session: { usage } });

/** Does what the SDK's host does for the request, with the generated encoder. */
async function answerUsage(requestId) {
  const value = new pb.SessionResponse_GetSessionUsageResponse({
    usage: protocol.encodeAgentSessionUsage(usage),
    createdAt: protocol.timestampFromMs(Date.now()),
  });
  const response = new pb.SessionResponse({
    requestId,
    response: { case: 'getSessionUsage', value },
  });
  await transport.sendMessage(
    new pb.AgentSessionMessage({ message: { case: 'response', value: response } }),
  );
}

const assistant = message('assistant');
const SUBJECTS = {
  message: [
    200,
    () => protocol.encodeChatContextChatItem(assistant),
    () => encodeChatItem(assistant),
  ],
  call: [400, () => protocol.encodeChatContextChatItem(call), () => encodeChatItem(call)],
  usage: [100, () => answerUsage('request'), () => host.handleGetSessionUsage('request')],
  history: [
    5,
    () => history.map(protocol.encodeChatContextChatItem),
    () => history.map(encodeChatItem),
  ],
};

async function seconds(count, action) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < count; i += 1) {
    const result = action();
    if (result instanceof Promise) await result;
  }
  return Number(process.hrtime.bigint() - start) / 1e9 / count;
}

const times = {};
for (const [name, [count, ...actions]] of Object.entries(SUBJECTS)) {
  for (const action of actions) await seconds(count * 10, action);
  times[name] = actions.map(() => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, action] of actions.entries()) {
      times[name][index].push(await seconds(count, action));
    }
  }
}
process.stdout.write(JSON.stringify(times), () => process.exit(0));
