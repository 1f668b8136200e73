import { log, voice } from '@livekit/agents';
import { AgentSession as pb } from '@livekit/protocol';
import {
  type AgentSessionEventForwarders,
  type AgentSessionEventSources,
  answer,
  encodeAgentSessionEvent,
  subscribe,
} from './session_protocol/index.js';
import { SessionRequests } from './session_requests.js';

/** The SDK's host on generated code. What it inherits beside its type is not used. */
export class SessionHost extends voice.SessionHost {
  readonly #transport: voice.SessionTransport;
  readonly #audioInput: voice.TcpAudioInput | undefined;
  readonly #audioOutput: voice.TcpAudioOutput | undefined;
  readonly #sending = new Set<Promise<void>>();
  #requests: SessionRequests | undefined;
  #unsubscribe = () => {};
  #started = false;

  constructor(
    transport: voice.SessionTransport,
    audioInput?: voice.TcpAudioInput,
    audioOutput?: voice.TcpAudioOutput,
  ) {
    super(transport, audioInput, audioOutput);
    this.#transport = transport;
    this.#audioInput = audioInput;
    this.#audioOutput = audioOutput;
  }

  override registerSession(session: voice.AgentSession): void {
    this.#unsubscribe();
    this.#unsubscribe = subscribe(session, this.#forwarders);
    this.#requests = new SessionRequests(session);
  }

  override async start(): Promise<void> {
    if (this.#started) return;
    this.#started = true;
    await this.#transport.start();
    void this.#receive();
  }

  override async close(): Promise<void> {
    if (!this.#started) return;
    this.#started = false;
    this.#unsubscribe();
    await Promise.allSettled(this.#sending);
    await this.#transport.close();
  }

  override _onAmdPrediction(event: voice.AMDPredictionEvent): void {
    this.#emit('amdPrediction', event);
  }

  override _onEotPrediction(event: voice.EotPredictionEvent): void {
    this.#emit('eotPrediction', event, event.createdAt);
  }

  /** A decision for each event: one that the protocol gains is a type error here. */
  readonly #forwarders: AgentSessionEventForwarders = {
    agentStateChanged: (event) => this.#emit('agentStateChanged', event, event.createdAt),
    userStateChanged: (event) => this.#emit('userStateChanged', event, event.createdAt),
    conversationItemAdded: (event) => this.#emit('conversationItemAdded', event, event.createdAt),
    userInputTranscribed: (event) => this.#emit('userInputTranscribed', event, event.createdAt),
    functionToolsExecuted: (event) => this.#emit('functionToolsExecuted', event, event.createdAt),
    error: (event) => this.#emit('error', event, event.createdAt),
    overlappingSpeech: (event) => this.#emit('overlappingSpeech', event),
    sessionUsageUpdated: (event) => this.#emit('sessionUsageUpdated', event, event.createdAt),
    // The session calls _onAmdPrediction.
    amdPrediction: null,
    eotPrediction: (event) => this._onEotPrediction(event as voice.EotPredictionEvent),
    // No class of the SDK declares the type of this event.
    debugMessage: (event) =>
      this.#emit('debugMessage', { payload: (event as pb.DebugMessage).payload }),
    agentFalseInterruption: (event) => this.#emit('agentFalseInterruption', event, event.createdAt),
    // The session has no such events.
    functionToolsStarted: null,
    toolExecutionUpdated: null,
  };

  #emit<A extends keyof AgentSessionEventSources>(
    arm: A,
    source: AgentSessionEventSources[A],
    createdAt?: number,
  ): void {
    try {
      const value = encodeAgentSessionEvent(arm, source, createdAt);
      this.#send(new pb.AgentSessionMessage({ message: { case: 'event', value } }));
    } catch (error) {
      // The session does not fail for a value that the protocol lacks.
      log().warn({ error, arm }, 'a session event was not sent');
    }
  }

  #send(message: pb.AgentSessionMessage): void {
    const sent = this.#transport
      .sendMessage(message)
      .catch((error: unknown) => log().warn({ error }, 'a session message was not sent'))
      .finally(() => this.#sending.delete(sent));
    this.#sending.add(sent);
  }

  async #receive(): Promise<void> {
    try {
      for await (const message of this.#transport) this.#take(message);
    } catch (error) {
      if (this.#started) log().warn({ error }, 'error processing session message');
    }
  }

  #take({ message }: pb.AgentSessionMessage): void {
    switch (message.case) {
      case 'request':
        void this.#answer(message.value);
        break;
      case 'audioInput':
        this.#audioInput?.pushFrame(message.value);
        break;
      case 'audioPlaybackFinished':
        this.#audioOutput?.notifyPlayoutFinished();
        break;
    }
  }

  async #answer(request: pb.SessionRequest): Promise<void> {
    if (this.#requests === undefined) return;
    const value = await answer(this.#requests, request, (error, arm) =>
      log().warn({ error, arm, requestId: request.requestId }, 'error handling session request'),
    );
    this.#send(new pb.AgentSessionMessage({ message: { case: 'response', value } }));
  }
}

/** Gives a session this host in place of the SDK's. The session starts and closes it. */
export function attach(session: voice.AgentSession, transport: voice.SessionTransport): void {
  const host = new SessionHost(transport);
  host.registerSession(session);
  Reflect.set(session, 'sessionHost', host);
}
