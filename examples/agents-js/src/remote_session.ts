import { log, shortuuid, voice } from '@livekit/agents';
import { AgentSession as pb } from '@livekit/protocol';
import {
  type AgentSessionEventEmitter,
  RequestError,
  type RequestOptions,
  SessionRequestClient,
  emitEvent,
} from './session_protocol/index.js';

const TIMEOUT_MS = 60_000;

interface Pending {
  readonly resolve: (response: pb.SessionResponse) => void;
  readonly reject: (error: Error) => void;
}

/** The SDK's driver on generated code: its requests, and the events by name, are generated. */
export class RemoteSession extends voice.RemoteSession {
  readonly #transport: voice.SessionTransport;
  readonly #pending = new Map<string, Pending>();
  #started = false;

  /** All requests of the protocol, also those that the SDK's driver has no method for. */
  readonly requests = new SessionRequestClient((request, options) => this.send(request, options));

  constructor(transport: voice.SessionTransport) {
    super(transport);
    this.#transport = transport;
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
    for (const { reject } of this.#pending.values()) reject(new Error('RemoteSession closed'));
    this.#pending.clear();
    await this.#transport.close();
  }

  /** Sends a request and returns its response, also if that reports an error. */
  async send(
    request: pb.SessionRequest,
    { timeout = TIMEOUT_MS }: RequestOptions,
  ): Promise<pb.SessionResponse> {
    const requestId = shortuuid('req_');
    request.requestId = requestId;
    const message = new pb.AgentSessionMessage({ message: { case: 'request', value: request } });
    const response = new Promise<pb.SessionResponse>((resolve, reject) => {
      this.#pending.set(requestId, { resolve, reject });
    });
    const timedOut = () =>
      this.#pending.get(requestId)?.reject(new Error('RemoteSession request timed out'));
    const timer = setTimeout(timedOut, timeout);
    try {
      const [value] = await Promise.all([response, this.#transport.sendMessage(message)]);
      return value;
    } finally {
      clearTimeout(timer);
      this.#pending.delete(requestId);
    }
  }

  async #receive(): Promise<void> {
    try {
      for await (const { message } of this.#transport) {
        switch (message.case) {
          case 'event':
            this.#emit(message.value);
            break;
          case 'response':
            this.#resolve(message.value);
            break;
        }
      }
    } catch (error) {
      if (this.#started) log().warn({ error }, 'error in RemoteSession recv loop');
    }
  }

  #emit(event: pb.AgentSessionEvent): void {
    const unknown = emitEvent(this as AgentSessionEventEmitter, event);
    if (unknown !== undefined) log().debug({ field: unknown }, 'unknown session event');
  }

  #resolve(response: pb.SessionResponse): void {
    this.#pending.get(response.requestId)?.resolve(response);
  }

  override fetchSessionState(): Promise<pb.SessionResponse_GetSessionStateResponse> {
    return this.requests.fetchSessionState();
  }

  override fetchChatHistory(): Promise<pb.SessionResponse_GetChatHistoryResponse> {
    return this.requests.fetchChatHistory();
  }

  override fetchAgentInfo(): Promise<pb.SessionResponse_GetAgentInfoResponse> {
    return this.requests.fetchAgentInfo();
  }

  override fetchFrameworkInfo(): Promise<pb.SessionResponse_GetFrameworkInfoResponse> {
    return this.requests.fetchFrameworkInfo();
  }

  override sendMessage(
    text: string,
    responseTimeout = TIMEOUT_MS,
  ): Promise<pb.SessionResponse_RunInputResponse> {
    return this.requests.sendMessage({ text }, { timeout: responseTimeout });
  }

  override fetchRtcStats(): Promise<pb.SessionResponse_GetRTCStatsResponse> {
    return this.requests.fetchRtcStats();
  }

  override fetchSessionUsage(): Promise<pb.SessionResponse_GetSessionUsageResponse> {
    return this.requests.fetchSessionUsage();
  }

  override async finalizeSimulation({
    provisionalSuccess,
    provisionalReason = '',
    timeout = TIMEOUT_MS,
  }: Parameters<
    voice.RemoteSession['finalizeSimulation']
  >[0]): Promise<pb.SessionResponse_FinalizeSimulationResponse> {
    const verdict = { provisionalSuccess, provisionalReason };
    try {
      return await this.requests.finalizeSimulation(verdict, { timeout });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const { message, payload } = error;
      const known = payload?.case === 'finalizeSimulation' ? payload.value.userVerdict : undefined;
      throw new voice.FinalizeSimulationError(message, known);
    }
  }
}
