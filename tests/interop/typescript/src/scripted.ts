// The objects of the SDK that the host reports and answers with: see interop_typescript.py for
// what they must be on the wire.
import { llm, voice } from '@livekit/agents';
import type { AgentSessionEventSources } from '../generated/index.js';
import { ownEvents, pb } from './binding.js';

// A quarter of a millisecond is exact in binary.
const TIME = 1_700_000_000_123.25;
const type = <T extends string>(name: T) => ({ type: name });

const call = llm.FunctionCall.create({
  id: 'item_2',
  callId: 'call_1',
  name: 'find',
  args: '{"a":1}',
  createdAt: TIME,
});
const output = llm.FunctionCallOutput.create({
  id: 'item_3',
  callId: 'call_1',
  name: 'find',
  output: 'found',
  isError: true,
  createdAt: TIME,
});
const message = llm.ChatMessage.create({
  id: 'item_1',
  role: 'assistant',
  content: ['Good day', new llm.Instructions({ audio: 'be kind' })],
  interrupted: true,
  createdAt: -1.5,
  transcriptConfidence: 0.5,
  metrics: { startedSpeakingAt: 1_700_000_000.5, llmNodeTtft: 0.25, e2eLatency: 0 },
  extra: { n: 1, deep: { a: [1] }, text: 'x' },
});
const handoff = llm.AgentHandoffItem.create({
  id: 'item_4',
  newAgentId: 'manager',
  createdAt: TIME,
});
const update = llm.AgentConfigUpdate.create({
  id: 'item_5',
  instructions: new llm.Instructions({ audio: 'listen', text: 'read' }),
  toolsAdded: ['find'],
  createdAt: TIME,
});

/** A chat item of each kind. */
export const items: llm.ChatItem[] = [message, call, output, handoff, update];

/** The usage of a model of each kind. */
export const usage: voice.AgentSession['usage'] = {
  modelUsage: [
    { type: 'llm_usage', provider: 'p', model: 'm', inputTokens: 1, sessionDurationMs: 1500 },
    { type: 'tts_usage', charactersCount: 3, audioDurationMs: 250 },
    { type: 'stt_usage', inputTokens: 4, audioDurationMs: 500 },
    { type: 'interruption_usage', totalRequests: 5 },
    { type: 'eot_usage', totalRequests: 6 },
  ],
};

/** An SDK event for each arm, or its payload where the SDK has no such event. */
export const events: AgentSessionEventSources = {
  agentStateChanged: voice.createAgentStateChangedEvent('idle', 'speaking', TIME),
  userStateChanged: voice.createUserStateChangedEvent('speaking', 'away', TIME),
  conversationItemAdded: voice.createConversationItemAddedEvent(message, TIME),
  userInputTranscribed: voice.createUserInputTranscribedEvent({
    transcript: 'grüß dich 🙂',
    isFinal: true,
  }),
  functionToolsExecuted: voice.createFunctionToolsExecutedEvent({
    functionCalls: [call],
    functionCallOutputs: [output],
  }),
  error: { error: { label: 'the model' } },
  overlappingSpeech: {
    ...type('overlapping_speech'),
    isInterruption: true,
    overlapStartedAt: TIME,
    detectedAt: TIME,
    detectionDelayInS: 0.75,
  },
  sessionUsageUpdated: voice.createSessionUsageUpdatedEvent({ usage }),
  amdPrediction: {
    ...type('amd_prediction'),
    category: voice.AMDCategory.MACHINE_VM,
    reason: 'llm',
    transcript: 'leave a message',
    speechDurationMs: 1500,
    delayMs: 0.25,
  },
  eotPrediction: {
    ...type('eot_prediction'),
    probability: 0.75,
    threshold: 0.5,
    inferenceDurationMs: 125,
    delayMs: 500,
  },
  functionToolsStarted: { functionCalls: [call] },
  debugMessage: { payload: { step: 3, tags: ['a', null], deep: { ok: true } } },
  toolExecutionUpdated: {
    update: {
      type: 'ended',
      id: 'call_1',
      callId: 'call_1',
      status: pb.ToolCallStatus.TC_DONE,
      message: 'found',
    },
  },
  agentFalseInterruption: { ...type('agent_false_interruption'), resumed: true },
  ...ownEvents,
};
