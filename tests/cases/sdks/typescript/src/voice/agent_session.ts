import { EventEmitter } from 'node:events';
import type { TypedEventEmitter as TypedEmitter } from '@livekit/typed-emitter';
import { ChatMessage, type ChatItem, type FunctionCall } from '../llm/chat_context.js';
import {
  AgentSessionEventTypes,
  CloseReason,
  type AgentState,
  type AgentStateChangedEvent,
  type CloseEvent,
  type ConversationItemAddedEvent,
  type EotPredictionEvent,
  type FunctionToolsExecutedEvent,
  type UserInputTranscribedEvent,
  type UserState,
  type UserStateChangedEvent,
} from './events.js';

export type AgentSessionCallbacks = {
  [AgentSessionEventTypes.AgentStateChanged]: (ev: AgentStateChangedEvent) => void;
  [AgentSessionEventTypes.UserStateChanged]: (ev: UserStateChangedEvent) => void;
  [AgentSessionEventTypes.UserInputTranscribed]: (ev: UserInputTranscribedEvent) => void;
  [AgentSessionEventTypes.ConversationItemAdded]: (ev: ConversationItemAddedEvent) => void;
  [AgentSessionEventTypes.FunctionToolsExecuted]: (ev: FunctionToolsExecutedEvent) => void;
  [AgentSessionEventTypes.EotPrediction]: (ev: EotPredictionEvent) => void;
  [AgentSessionEventTypes.Close]: (ev: CloseEvent) => void;
};

export class AgentSession extends (EventEmitter as new () => TypedEmitter<AgentSessionCallbacks>) {
  private _agentState: AgentState = 'idle';
  private _userState: UserState = 'listening';

  get agentState(): AgentState {
    return this._agentState;
  }

  private updateAgentState(state: AgentState): void {
    const oldState = this._agentState;
    this._agentState = state;
    this.emit(AgentSessionEventTypes.AgentStateChanged, {
      type: 'agent_state_changed',
      oldState,
      newState: state,
      createdAt: Date.now(),
    });
  }

  listen(): void {
    this.updateAgentState('listening');
  }

  speak(): void {
    this.updateAgentState('speaking');
  }

  private updateUserState(away: boolean): void {
    const oldState = this._userState;
    this._userState = away ? 'away' : 'listening';
    this.emit(AgentSessionEventTypes.UserStateChanged, {
      type: 'user_state_changed',
      oldState,
      newState: this._userState,
      createdAt: Date.now(),
    });
  }

  private transcribed(transcript: string, isFinal: boolean): void {
    this.emit(AgentSessionEventTypes.UserInputTranscribed, {
      type: 'user_input_transcribed',
      transcript,
      isFinal,
      createdAt: Date.now(),
    });
    this.added(new ChatMessage('a', 'user', [transcript]));
  }

  private said(text: string): void {
    this.added(new ChatMessage('b', 'assistant', [text]));
  }

  private added(item: ChatItem): void {
    this.emit(AgentSessionEventTypes.ConversationItemAdded, {
      type: 'conversation_item_added',
      item,
      createdAt: Date.now(),
    });
  }

  private executed(functionCalls: FunctionCall[]): void {
    this.emit(AgentSessionEventTypes.FunctionToolsExecuted, {
      type: 'function_tools_executed',
      functionCalls,
      createdAt: Date.now(),
    });
  }

  private predicted(probability: number, delayMs: number): void {
    this.emit(AgentSessionEventTypes.EotPrediction, {
      type: 'eot_prediction',
      probability,
      delayMs,
      createdAt: Date.now(),
    });
  }

  shutdown(): void {
    this.close(CloseReason.USER_INITIATED);
  }

  private fail(error: Error): void {
    this.close(CloseReason.ERROR, error.message);
  }

  private close(reason: CloseReason, message?: string): void {
    this.emit(AgentSessionEventTypes.Close, {
      type: 'close',
      reason,
      message,
      createdAt: Date.now(),
    });
  }
}
