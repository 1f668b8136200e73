// The SDK's TCP transport can only connect, so the drivers listen, and hand the accepted connection
// to the transport.
import { voice } from '@livekit/agents';
import { once } from 'node:events';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { write } from './commands.js';

class AcceptedTransport extends voice.TcpSessionTransport {
  constructor(socket: Socket) {
    super('', 0);
    Object.assign(this, { socket });
  }

  override async start(): Promise<void> {}
}

/** Listens on a free port, which is written, and returns the transport of the first connection. */
export async function accepted(): Promise<voice.SessionTransport> {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  write({ note: 'listening', port: (server.address() as AddressInfo).port });
  const [socket] = (await once(server, 'connection')) as [Socket];
  server.close();
  return new AcceptedTransport(socket);
}
