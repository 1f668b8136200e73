import type { ChatItem, FunctionCall } from '../llm/chat_context.js';

export enum AgentSessionEventTypes {
  AgentStateChanged = 'agent_state_changed',
  UserStateChanged = 'user_state_changed',
  UserInputTranscribed = 'user_input_transcribed',
  ConversationItemAdded = 'conversation_item_added',
  FunctionToolsExecuted = 'function_tools_executed',
  EotPrediction = 'eot_prediction',
  Close = 'close',
}

export type AgentState = 'idle' | 'listening' | 'speaking';
export type UserState = 'listening' | 'away';

export enum CloseReason {
  ERROR = 'error',
  USER_INITIATED = 'user_initiated',
}

export type AgentStateChangedEvent = {
  type: 'agent_state_changed';
  oldState: AgentState;
  newState: AgentState;
  createdAt: number;
};

export type UserStateChangedEvent = {
  type: 'user_state_changed';
  oldState: UserState;
  newState: UserState;
  createdAt: number;
};

export type UserInputTranscribedEvent = {
  type: 'user_input_transcribed';
  transcript: string;
  isFinal: boolean;
  language?: string;
  createdAt: number;
};

export type ConversationItemAddedEvent = {
  type: 'conversation_item_added';
  item: ChatItem;
  createdAt: number;
};

export type FunctionToolsExecutedEvent = {
  type: 'function_tools_executed';
  functionCalls: FunctionCall[];
  createdAt: number;
};

export type EotPredictionEvent = {
  type: 'eot_prediction';
  probability: number;
  delayMs: number;
  createdAt: number;
};

export type CloseEvent = {
  type: 'close';
  reason: CloseReason;
  message?: string;
  createdAt: number;
};
