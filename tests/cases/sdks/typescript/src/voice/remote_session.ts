import { AgentSession as pb } from '@livekit/protocol';
import type { TypedEventEmitter } from '@livekit/typed-emitter';
import EventEmitter from 'events';
import { TOPIC_SESSION_MESSAGES } from '../constants.js';
import type { ChatItem, FunctionCall as FCItem } from '../llm/chat_context.js';
import { encodeChatItem, msToDuration, msToTimestamp } from '../proto.js';
import { shortuuid } from '../utils.js';
import type { AgentSession } from './agent_session.js';
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

export type RemoteSessionCallbacks = {
  agent_state_changed: (ev: pb.AgentSessionEvent) => void;
  user_state_changed: (ev: pb.AgentSessionEvent) => void;
  user_input_transcribed: (ev: pb.AgentSessionEvent) => void;
  conversation_item_added: (ev: pb.AgentSessionEvent) => void;
  function_tools_executed: (ev: pb.AgentSessionEvent) => void;
  eot_prediction: (ev: pb.AgentSessionEvent) => void;
  session_closed: (ev: pb.AgentSessionEvent) => void;
};

const TCP_MAX_MESSAGE_SIZE = 1 << 20;

const AGENT_STATE_MAP: Record<AgentState, pb.AgentState> = {
  idle: pb.AgentState.AS_IDLE,
  listening: pb.AgentState.AS_LISTENING,
  speaking: pb.AgentState.AS_SPEAKING,
};

const USER_STATE_MAP: Record<UserState, pb.UserState> = {
  listening: pb.UserState.US_LISTENING,
  away: pb.UserState.US_AWAY,
};

const CLOSE_REASON_MAP: Record<CloseReason, pb.CloseReason> = {
  [CloseReason.ERROR]: pb.CloseReason.CR_ERROR,
  [CloseReason.USER_INITIATED]: pb.CloseReason.CR_USER_INITIATED,
};

function chatItemsToProto(items: ChatItem[]): pb.ChatContext_ChatItem[] {
  return items.map(encodeChatItem);
}

function protoSerializeOptions(opts: {
  maxToolSteps?: number;
  userAwayTimeout?: number;
}): Record<string, string> {
  return {
    max_tool_steps: String(opts.maxToolSteps ?? 0),
    user_away_timeout: String(opts.userAwayTimeout ?? ''),
  };
}

export class SessionHost {
  private session: AgentSession | undefined;

  constructor(private readonly transport: SessionTransport) {}

  registerSession(session: AgentSession): void {
    this.session = session;
    session.on(AgentSessionEventTypes.AgentStateChanged, this.onAgentStateChanged);
    session.on(AgentSessionEventTypes.UserStateChanged, this.onUserStateChanged);
    session.on(AgentSessionEventTypes.UserInputTranscribed, this.onUserInputTranscribed);
    session.on(AgentSessionEventTypes.ConversationItemAdded, this.onConversationItemAdded);
    session.on(AgentSessionEventTypes.FunctionToolsExecuted, this.onFunctionToolsExecuted);
    session.on(AgentSessionEventTypes.EotPrediction, this.onEotPrediction);
    session.on(AgentSessionEventTypes.Close, this.onClose);
  }

  private async recvLoop(): Promise<void> {
    for await (const msg of this.transport) {
      switch (msg.message.case) {
        case 'request':
          await this.handleRequestSafe(msg.message.value);
          break;
      }
    }
  }

  private emitEvent<Event extends pb.AgentSessionEvent['event']>(
    event: Event,
    createdAt: number,
  ): void {
    const value = new pb.AgentSessionEvent({ createdAt: msToTimestamp(createdAt), event });
    this.transport.sendMessage(
      new pb.AgentSessionMessage({ message: { case: 'event', value } }),
    );
  }

  private onAgentStateChanged = (event: AgentStateChangedEvent): void => {
    this.emitEvent(
      {
        case: 'agentStateChanged',
        value: new pb.AgentSessionEvent_AgentStateChanged({
          oldState: AGENT_STATE_MAP[event.oldState],
          newState: AGENT_STATE_MAP[event.newState],
        }),
      },
      event.createdAt,
    );
  };

  private onUserStateChanged = (event: UserStateChangedEvent): void => {
    this.emitEvent(
      {
        case: 'userStateChanged',
        value: new pb.AgentSessionEvent_UserStateChanged({
          oldState: USER_STATE_MAP[event.oldState],
          newState: USER_STATE_MAP[event.newState],
        }),
      },
      event.createdAt,
    );
  };

  private onUserInputTranscribed = (event: UserInputTranscribedEvent): void => {
    this.emitEvent(
      {
        case: 'userInputTranscribed',
        value: new pb.AgentSessionEvent_UserInputTranscribed({
          transcript: event.transcript,
          isFinal: event.isFinal,
          language: event.language,
        }),
      },
      event.createdAt,
    );
  };

  private onConversationItemAdded = (event: ConversationItemAddedEvent): void => {
    this.emitEvent(
      {
        case: 'conversationItemAdded',
        value: new pb.AgentSessionEvent_ConversationItemAdded({
          item: encodeChatItem(event.item),
        }),
      },
      event.createdAt,
    );
  };

  private onFunctionToolsExecuted = (event: FunctionToolsExecutedEvent): void => {
    const functionCalls = event.functionCalls.map(
      (fc: FCItem) => new pb.FunctionCall({ name: fc.name, arguments: fc.args, callId: fc.callId }),
    );
    this.emitEvent(
      {
        case: 'functionToolsExecuted',
        value: new pb.AgentSessionEvent_FunctionToolsExecuted({ functionCalls }),
      },
      event.createdAt,
    );
  };

  private onEotPrediction = (event: EotPredictionEvent): void => {
    this.emitEvent(
      {
        case: 'eotPrediction',
        value: new pb.AgentSessionEvent_EotPrediction({
          probability: event.probability,
          delay: msToDuration(event.delayMs),
        }),
      },
      event.createdAt,
    );
  };

  private onClose = (event: CloseEvent): void => {
    this.emitEvent(
      {
        case: 'sessionClosed',
        value: new pb.AgentSessionEvent_SessionClosed({
          reason: CLOSE_REASON_MAP[event.reason] ?? pb.CloseReason.CR_UNKNOWN,
          message: event.message,
        }),
      },
      event.createdAt,
    );
  };

  private async handleRequestSafe(req: pb.SessionRequest): Promise<void> {
    try {
      await this.handleRequest(req);
    } catch (e) {
      await this.sendError(req.requestId, 'internal error');
    }
  }

  private async sendError(requestId: string, error: string): Promise<void> {
    const value = new pb.SessionResponse({ requestId, error });
    await this.transport.sendMessage(
      new pb.AgentSessionMessage({ message: { case: 'response', value } }),
    );
  }

  private async handleRequest(req: pb.SessionRequest): Promise<void> {
    switch (req.request.case) {
      case 'ping':
        return this.sendResponse(req.requestId, {
          case: 'pong',
          value: new pb.SessionResponse_Pong(),
        });
      case 'getChatHistory':
        return this.handleGetChatHistory(req.requestId);
      case 'getSessionState':
        return this.handleGetSessionState(req.requestId);
      case 'runInput':
        return this.handleRunInput(req.requestId, req.request.value);
      case 'updateIo':
        return this.handleUpdateIo(req.requestId, req.request.value);
      default:
        return this.sendError(req.requestId, 'unknown request');
    }
  }

  private async handleGetChatHistory(requestId: string): Promise<void> {
    const items = chatItemsToProto(this.session!.history.items);
    return this.sendResponse(requestId, {
      case: 'getChatHistory',
      value: new pb.SessionResponse_GetChatHistoryResponse({ items }),
    });
  }

  private async handleGetSessionState(requestId: string): Promise<void> {
    return this.sendResponse(requestId, {
      case: 'getSessionState',
      value: new pb.SessionResponse_GetSessionStateResponse({
        agentState: AGENT_STATE_MAP[this.session!.agentState],
        agentId: this.session!.currentAgent.id,
        options: protoSerializeOptions(this.session!.options),
      }),
    });
  }

  private async handleRunInput(
    requestId: string,
    input: pb.SessionRequest_RunInput,
  ): Promise<void> {
    const text = input.text;
    let items: pb.ChatContext_ChatItem[] = [];
    let error: string | undefined;
    if (!text) {
      error = 'empty run_input text';
    } else {
      const result = await this.session!.run({ userInput: text });
      items = chatItemsToProto(result.events.map((ev) => ev.item));
    }
    return this.sendResponse(
      requestId,
      { case: 'runInput', value: new pb.SessionResponse_RunInputResponse({ items }) },
      error,
    );
  }

  private async handleUpdateIo(
    requestId: string,
    update: pb.SessionRequest_UpdateIO,
  ): Promise<void> {
    if (update.input?.audioEnabled !== undefined) {
      this.session!.input.setAudioEnabled(update.input.audioEnabled);
    }
    return this.sendResponse(requestId, {
      case: 'updateIo',
      value: new pb.SessionResponse_UpdateIOResponse(),
    });
  }

  private async sendResponse(
    requestId: string,
    response: pb.SessionResponse['response'],
    error?: string,
  ): Promise<void> {
    const value = new pb.SessionResponse({ requestId, response, error });
    await this.transport.sendMessage(
      new pb.AgentSessionMessage({ message: { case: 'response', value } }),
    );
  }
}

export class RemoteSession extends (EventEmitter as new () => TypedEventEmitter<RemoteSessionCallbacks>) {
  constructor(private readonly transport: SessionTransport) {
    super();
  }

  private async recvLoop(): Promise<void> {
    for await (const msg of this.transport) {
      switch (msg.message.case) {
        case 'event':
          this.dispatchEvent(msg.message.value);
          break;
        case 'response':
          this.dispatchResponse(msg.message.value);
          break;
      }
    }
  }

  private dispatchEvent(event: pb.AgentSessionEvent): void {
    const ev = event.event;
    switch (ev.case) {
      case 'agentStateChanged':
        this.emit('agent_state_changed', event);
        break;
      case 'userStateChanged':
        this.emit('user_state_changed', event);
        break;
      case 'userInputTranscribed':
        this.emit('user_input_transcribed', event);
        break;
      case 'conversationItemAdded':
        this.emit('conversation_item_added', event);
        break;
      case 'functionToolsExecuted':
        this.emit('function_tools_executed', event);
        break;
      case 'eotPrediction':
        this.emit('eot_prediction', event);
        break;
      case 'sessionClosed':
        this.emit('session_closed', event);
        break;
    }
  }

  private async sendRequest(
    request: pb.SessionRequest['request'],
    timeout = 60000,
  ): Promise<pb.SessionResponse> {
    const value = new pb.SessionRequest({ requestId: shortuuid('req_'), request });
    await this.transport.sendMessage(
      new pb.AgentSessionMessage({ message: { case: 'request', value } }),
    );
    return await this.answer(value.requestId, timeout);
  }

  async ping(): Promise<void> {
    await this.sendRequest({ case: 'ping', value: new pb.SessionRequest_Ping() });
  }

  async fetchChatHistory(): Promise<pb.SessionResponse> {
    return this.sendRequest({
      case: 'getChatHistory',
      value: new pb.SessionRequest_GetChatHistory(),
    });
  }

  async fetchSessionState(): Promise<pb.SessionResponse> {
    return this.sendRequest({
      case: 'getSessionState',
      value: new pb.SessionRequest_GetSessionState(),
    });
  }

  async sendMessage(text: string): Promise<pb.SessionResponse> {
    return this.sendRequest({
      case: 'runInput',
      value: new pb.SessionRequest_RunInput({ text }),
    });
  }

  async updateIo(audioEnabled: boolean): Promise<void> {
    const input = new pb.SessionRequest_UpdateIO_Input({ audioEnabled });
    await this.sendRequest({
      case: 'updateIo',
      value: new pb.SessionRequest_UpdateIO({ input }),
    });
  }
}
