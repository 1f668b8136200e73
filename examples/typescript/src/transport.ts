import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { once } from 'node:events';
import { type Socket, connect, createServer } from 'node:net';
import { type AgentSessionMessage, AgentSessionMessageSchema } from './agent_session_pb.js';

const HEADER_SIZE = 4;
const MAX_SIZE = 1 << 20;

/** Messages over TCP. Before each is its size, in four bytes with the highest first. */
export class TcpTransport {
  readonly #socket: Socket;
  #closed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Returns once the message is written, or the connection has ended. */
  async sendMessage(message: AgentSessionMessage): Promise<void> {
    const data = toBinary(AgentSessionMessageSchema, message);
    const header = Buffer.alloc(HEADER_SIZE);
    header.writeUInt32BE(data.length);
    await new Promise<void>((resolve) => {
      this.#socket.write(Buffer.concat([header, data]), () => resolve());
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#socket.destroy();
  }

  async *[Symbol.asyncIterator](): AsyncIterableIterator<AgentSessionMessage> {
    try {
      yield* this.#messages();
    } catch (error) {
      if (!this.#closed) throw error;
    }
  }

  async *#messages(): AsyncIterableIterator<AgentSessionMessage> {
    let received = Buffer.alloc(0);
    for await (const chunk of this.#socket as AsyncIterable<Buffer>) {
      received = Buffer.concat([received, chunk]);
      while (received.length >= HEADER_SIZE) {
        const end = HEADER_SIZE + received.readUInt32BE(0);
        if (end > MAX_SIZE) throw new RangeError('the message is too large');
        if (received.length < end) break;
        const message = received.subarray(HEADER_SIZE, end);
        received = received.subarray(end);
        yield fromBinary(AgentSessionMessageSchema, message);
      }
    }
  }
}

/** Connects to a driver on this machine. */
export async function connected(port: number): Promise<TcpTransport> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  await once(socket, 'connect');
  return new TcpTransport(socket);
}

/** Listens on a port, and returns the first connection. Port 0 is a free one. */
export async function accepted(
  port: number,
  listening: (port: number) => void,
): Promise<TcpTransport> {
  const server = createServer({ pauseOnConnect: true, noDelay: true }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  listening(typeof address === 'object' && address ? address.port : port);
  const [socket] = (await once(server, 'connection')) as [Socket];
  server.close();
  return new TcpTransport(socket);
}
