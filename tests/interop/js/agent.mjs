// The agent of the interop tests: a real AgentSession of @livekit/agents with a scripted model.
// The conversation is scripted in conversation.json, so it needs no API key and no network.
import { readFileSync } from 'node:fs';
import { APIConnectionError, JobContext, JobProcess, llm, voice } from '@livekit/agents';
import { Job, JobType } from '@livekit/protocol';
import { Room } from '@livekit/rtc-node';

export const CONVERSATION = JSON.parse(
  readFileSync(new URL('../conversation.json', import.meta.url), 'utf8'),
);

class ScriptedModel extends llm.LLM {
  label() {
    return 'scripted-model';
  }

  get model() {
    return CONVERSATION.model.name;
  }

  get provider() {
    return CONVERSATION.model.provider;
  }

  chat({ chatCtx, toolCtx, connOptions }) {
    return new ScriptedStream(this, { chatCtx, toolCtx, connOptions });
  }
}

class ScriptedStream extends llm.LLMStream {
  async run() {
    const step = nextStep(this.chatCtx);
    if (step === undefined) return;
    if (step.fail) throw new APIConnectionError({ message: step.fail, options: { retryable: false } });
    if (step.wait) await new Promise(() => {});
    const delta = { role: 'assistant', content: step.say };
    if (step.call) {
      const call = { callId: step.call_id, name: step.call, args: step.arguments };
      delta.toolCalls = [llm.FunctionCall.create(call)];
    }
    this.queue.put({ id: 'chunk', delta });
    this.queue.put({ id: 'chunk', usage: usage() });
  }
}

function usage() {
  const { prompt_tokens, cached_tokens, completion_tokens } = CONVERSATION.usage;
  return {
    promptTokens: prompt_tokens,
    promptCachedTokens: cached_tokens,
    completionTokens: completion_tokens,
    totalTokens: prompt_tokens + completion_tokens,
  };
}

/** Returns the next step of the user's last turn; undefined when the turn has ended. */
function nextStep(chatCtx) {
  let taken = 0;
  for (const item of [...chatCtx.items].reverse()) {
    if (item.type === 'message' && item.role === 'user') {
      return CONVERSATION.turns[item.textContent]?.[taken];
    }
    if (item.type === 'message' && item.role === 'assistant') taken += 1;
    if (item.type === 'function_call' && !item.callId.slice(5).includes('_')) taken += 1;
  }
  return undefined;
}

const NUMBER = {
  type: 'object',
  properties: { number: { type: 'integer' } },
  required: ['number'],
  additionalProperties: false,
};

const findParcel = llm.tool({
  name: 'find_parcel',
  description: 'Say where a parcel is.',
  parameters: NUMBER,
  execute: async ({ number }) => {
    const place = CONVERSATION.tools.find_parcel[number];
    if (place === undefined) throw new llm.ToolError(`no parcel ${number}`);
    return place;
  },
});

const watchParcel = llm.tool({
  name: 'watch_parcel',
  description: 'Report on a parcel until it is there.',
  parameters: NUMBER,
  execute: async (_, { ctx }) => {
    for (const update of CONVERSATION.tools.watch_parcel.updates) await ctx.update(update);
    return CONVERSATION.tools.watch_parcel.result;
  },
});

const callManager = llm.tool({
  name: 'call_manager',
  description: 'Hand over to the manager.',
  execute: async () =>
    llm.handoff({
      agent: new voice.Agent(CONVERSATION.manager),
      returns: CONVERSATION.tools.call_manager,
    }),
});

/** Returns an agent with a tool that can fail, one that reports progress, and one that hands over. */
export function clerk() {
  const { id, instructions } = CONVERSATION.agent;
  return new voice.Agent({ id, instructions, tools: [findParcel, watchParcel, callManager] });
}

/** Returns a session. The second failure of the model closes it. */
export function scriptedSession() {
  return new voice.AgentSession({
    llm: new ScriptedModel(),
    vad: null,
    turnHandling: { turnDetection: null },
    connOptions: { maxUnrecoverableErrors: 1 },
    userAwayTimeout: null,
  });
}

/** Returns a job. With a verdict, it runs in a simulation, which the agent fails with the verdict. */
export function job(verdict) {
  const attributes = {};
  if (verdict !== undefined) {
    const dispatch = { simulationRunId: 'run-1', mode: 'SIMULATION_MODE_TEXT' };
    attributes['lk.simulator.dispatch'] = JSON.stringify(dispatch);
  }
  const info = {
    acceptArguments: { name: '', identity: 'clerk', metadata: '' },
    job: new Job({ id: 'job-1', type: JobType.JT_ROOM, attributes }),
    url: '',
    token: '',
    workerId: 'worker-1',
    fakeJob: true,
  };
  const inference = { doInference: async () => undefined };
  const nothing = () => {};
  const context = new JobContext(new JobProcess(), info, new Room(), nothing, nothing, inference);
  context._simulationEndFnc = (simulation) => judge(simulation, verdict);
  return context;
}

async function judge(simulation, verdict) {
  const { success, reason } = simulation.simulatorVerdict;
  simulation.fail(`${verdict}; received ${success}, ${reason}`);
  if (verdict === 'raise') throw new Error('the judge failed');
}

/** Returns the state of the session, with times in seconds. */
export function factsOf(session) {
  return {
    started_at: session._startedAt / 1000,
    history: session.history.items.map(({ id, type, createdAt }) => ({
      id,
      type,
      created_at: createdAt / 1000,
    })),
    switches: {
      input_audio: session.input.audioEnabled,
      output_audio: session.output.audioEnabled,
      output_transcription: session.output.transcriptionEnabled,
    },
  };
}
