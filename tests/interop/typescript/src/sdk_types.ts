// The SDK's own types fit the generated ones, and what is left out is a type error. This module is
// compiled and never run.
import type { llm, metrics, voice } from '@livekit/agents';
import type { AgentSession as pb } from '@livekit/protocol';
import * as protocol from '../generated/index.js';

type Same<A, B> = [A, B] extends [B, A] ? true : false;

export const sameLiterals: [
  Same<voice.AgentState, protocol.AgentStateLiteral>,
  Same<voice.UserState, protocol.UserStateLiteral>,
  Same<llm.ChatRole, protocol.ChatRoleLiteral>,
  Same<`${voice.AMDCategory}`, protocol.AmdCategoryLiteral>,
] = [true, true, true, true];

/** The objects that the SDK gives for each event fit the encoder of the event. */
export interface SdkEvents extends protocol.AgentSessionEventSources {
  readonly agentStateChanged: voice.AgentStateChangedEvent;
  readonly userStateChanged: voice.UserStateChangedEvent;
  readonly conversationItemAdded: voice.ConversationItemAddedEvent;
  readonly userInputTranscribed: voice.UserInputTranscribedEvent;
  readonly functionToolsExecuted: voice.FunctionToolsExecutedEvent;
  readonly error: voice.ErrorEvent;
  readonly sessionUsageUpdated: voice.SessionUsageUpdatedEvent;
  readonly amdPrediction: voice.AMDPredictionEvent;
  readonly eotPrediction: voice.EotPredictionEvent;
  readonly agentFalseInterruption: voice.AgentFalseInterruptionEvent;
}

export const encoders = {
  items: (items: llm.ChatItem[]) => items.map(protocol.encodeChatContextChatItem),
  usage: (usage: metrics.ModelUsage) => protocol.encodeModelUsage(usage),
  session: (session: voice.AgentSession) => protocol.encodeAgentSessionUsage(session.usage),
  subscribe: (session: voice.AgentSession, forwarders: protocol.AgentSessionEventForwarders) =>
    protocol.subscribe(session, forwarders),
};

/** The generated callbacks are those of the SDK's driver. */
export type SdkCallbacks = {
  [E in voice.RemoteSessionEventTypes]: Same<
    Parameters<voice.RemoteSessionCallbacks[E]>[0],
    Parameters<protocol.AgentSessionEventCallbacks[E]>[0]
  >;
};
export const callbacks: SdkCallbacks extends Record<voice.RemoteSessionEventTypes, true>
  ? true
  : never = true;

// @ts-expect-error a request has no method
export class Lacking implements protocol.SessionRequestHandler {
  ping() {
    return {};
  }
}

// @ts-expect-error most events are not decided about
export const forwarders: protocol.AgentSessionEventForwarders = { agentStateChanged: null };

// @ts-expect-error the SDK has no such state
protocol.agentStateToProto('dancing');

// @ts-expect-error the text is left out
void new protocol.SessionRequestClient(() => Promise.reject()).sendMessage({});

protocol.encodeFunctionCallOutput({
  type: 'function_call_output',
  id: '',
  callId: '',
  name: '',
  output: '',
  isError: false,
  // @ts-expect-error a time is a number of milliseconds
  createdAt: new Date(),
});

// @ts-expect-error the field isError is left out
export const output: protocol.FunctionCallOutputSource = {
  type: 'function_call_output',
  id: '',
  callId: '',
  name: '',
  output: '',
  createdAt: 0,
};

// @ts-expect-error the message's field createdAt is left out
export const complete: protocol.Complete<pb.AgentHandoff> = {
  id: '',
  oldAgentId: '',
  newAgentId: '',
};
