import { asError, getJobContext, llm, log, version, type voice } from '@livekit/agents';
import { SimulationRun, AgentSession as pb } from '@livekit/protocol';
import {
  type Init,
  RequestError,
  type SessionRequestHandler,
  encodeAgentSessionUsage,
  encodeChatContextChatItem,
  encodeSessionResponseFinalizeSimulationResponseSimulationVerdict,
  encodeSessionResponseGetAgentInfoResponse,
  encodeSessionResponseGetSessionStateResponse,
  timestampFromMs,
} from './session_protocol/index.js';

/** What a host does for each request. The responses go into their envelopes in `answer`. */
export class SessionRequests implements SessionRequestHandler {
  readonly #session: voice.AgentSession;

  constructor(session: voice.AgentSession) {
    this.#session = session;
  }

  ping(): Init<pb.SessionResponse_Pong> {
    return {};
  }

  getChatHistory(): Init<pb.SessionResponse_GetChatHistoryResponse> {
    return { items: encodeItems(this.#session.history.items) };
  }

  getAgentInfo(): Init<pb.SessionResponse_GetAgentInfoResponse> {
    const { id, instructions, toolCtx, chatCtx } = this.#session.currentAgent;
    const response = encodeSessionResponseGetAgentInfoResponse({
      id,
      instructions: typeof instructions === 'string' ? instructions : instructions.value,
      tools: llm.sortedToolNames(toolCtx),
      chatCtx: [],
    });
    response.chatCtx = encodeItems(chatCtx.items);
    return response;
  }

  async runInput({
    text,
  }: pb.SessionRequest_RunInput): Promise<Init<pb.SessionResponse_RunInputResponse>> {
    if (text === '') throw new RequestError('empty run_input text');
    // An agent that is not speaking cannot be interrupted.
    await this.#session.interrupt({ force: true }).await.catch(() => undefined);
    const run = this.#session.run({ userInput: text });
    const error = await run.wait().then(() => undefined, asError);
    const items = encodeItems(run.events.map(({ item }) => item));
    if (error === undefined && items.length > 0) return { items };
    const value = new pb.SessionResponse_RunInputResponse({ items });
    const reason = error?.message ?? 'agent produced no response items';
    throw new RequestError(reason, { case: 'runInput', value });
  }

  getSessionState(): Init<pb.SessionResponse_GetSessionStateResponse> {
    const session = this.#session;
    const { turnHandling, ...options } = session.sessionOptions;
    return encodeSessionResponseGetSessionStateResponse({
      agentState: session.agentState,
      userState: session.userState,
      agentId: session.currentAgent.id,
      // The encoder writes objects as JSON.
      options: {
        endpointing: turnHandling.endpointing ?? {},
        interruption: turnHandling.interruption ?? {},
        preemptive_generation: turnHandling.preemptiveGeneration ?? {},
        max_tool_steps: options.maxToolSteps,
        user_away_timeout: options.userAwayTimeout ?? '',
        transcription_timeout: options.transcriptionTimeout ?? '',
        use_tts_aligned_transcript: options.useTtsAlignedTranscript ?? false,
      },
      createdAt: session._startedAt ?? Date.now(),
    });
  }

  getRtcStats(): Init<pb.SessionResponse_GetRTCStatsResponse> {
    return {};
  }

  getSessionUsage(): Init<pb.SessionResponse_GetSessionUsageResponse> {
    const usage = encodeAgentSessionUsage(this.#session.usage);
    return { usage, createdAt: timestampFromMs(Date.now()) };
  }

  getFrameworkInfo(): Init<pb.SessionResponse_GetFrameworkInfoResponse> {
    return { sdk: 'js', sdkVersion: version };
  }

  /** The SDK cannot turn video on or off. */
  updateIo({
    input,
    output,
  }: pb.SessionRequest_UpdateIO): Init<pb.SessionResponse_UpdateIOResponse> {
    const session = this.#session;
    if (input?.audioEnabled !== undefined) session.input.setAudioEnabled(input.audioEnabled);
    if (output?.audioEnabled !== undefined) session.output.setAudioEnabled(output.audioEnabled);
    if (output?.transcriptionEnabled !== undefined) {
      session.output.setTranscriptionEnabled(output.transcriptionEnabled);
    }
    return {};
  }

  /** A failure of the agent's callback is sent beside the verdict that it recorded before. */
  async finalizeSimulation(
    request: pb.SessionRequest_FinalizeSimulation,
  ): Promise<Init<pb.SessionResponse_FinalizeSimulationResponse>> {
    const job = getJobContext(false);
    const simulation = job?.simulationContext();
    const response = () => {
      const verdict = simulation?.userVerdict;
      return {
        userVerdict:
          verdict && encodeSessionResponseFinalizeSimulationResponseSimulationVerdict(verdict),
      };
    };
    try {
      simulation?._beginFinalize({
        simulatorVerdict: {
          success: request.provisionalSuccess,
          reason: request.provisionalReason,
        },
        run: new SimulationRun({ id: simulation._dispatch.simulationRunId }),
      });
      if (simulation) await job?._simulationEndFnc?.(simulation);
    } catch (error) {
      log().error({ error }, 'the callback for the end of the simulation failed');
      const value = new pb.SessionResponse_FinalizeSimulationResponse(response());
      throw new RequestError(asError(error).message, { case: 'finalizeSimulation', value });
    }
    return response();
  }
}

/** Changes of the agent's configuration are left out, as the SDK does. */
function encodeItems(items: readonly llm.ChatItem[]): pb.ChatContext_ChatItem[] {
  return items.filter(({ type }) => type !== 'agent_config_update').map(encodeChatContextChatItem);
}
