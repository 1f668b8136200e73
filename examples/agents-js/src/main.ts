// An agent that repeats what it is told: `node out/main.js PORT`. It connects to a driver on this
// machine. Ctrl-C ends it.
import { initializeLogger, llm, voice } from '@livekit/agents';
import { attach } from './session_host.js';

class Echo extends llm.LLM {
  override label() {
    return 'echo';
  }

  override chat({ chatCtx, toolCtx, connOptions }: Parameters<llm.LLM['chat']>[0]) {
    return new EchoStream(this, {
      chatCtx,
      toolCtx,
      connOptions: connOptions ?? { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 1000 },
    });
  }
}

class EchoStream extends llm.LLMStream {
  protected override async run() {
    const last = this.chatCtx.items.at(-1);
    const content = (last?.type === 'message' && last.textContent) || '';
    this.queue.put({ id: 'reply', delta: { role: 'assistant', content } });
  }
}

initializeLogger({ pretty: false, level: 'warn' });
const session = new voice.AgentSession({
  llm: new Echo(),
  vad: null,
  turnHandling: { turnDetection: null },
});
attach(session, new voice.TcpSessionTransport('127.0.0.1', Number(process.argv[2])));
await session.start({ agent: new voice.Agent({ instructions: 'Repeat.' }), record: false });
process.once('SIGINT', () => void session.close().then(() => process.exit(0)));
