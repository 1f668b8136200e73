// Waits for an agent, says hello and prints what happens: `node out/driver.js 24024`.
import { create } from '@bufbuild/protobuf';
import { randomUUID } from 'node:crypto';
import * as pb from './agent_session_pb.js';
import {
  EVENT_NAMES,
  type RequestOptions,
  SessionRequestClient,
  chatRoleFromProto,
} from './session_protocol/index.js';
import { accepted } from './transport.js';

const port = Number(process.argv[2]);
const transport = await accepted(port, (port) => console.log(`listening on port ${port}`));
const pending = new Map<string, (response: pb.SessionResponse) => void>();

async function send(request: pb.SessionRequest, { timeout = 60_000 }: RequestOptions) {
  const requestId = randomUUID();
  request.requestId = requestId;
  const response = new Promise<pb.SessionResponse>((resolve, reject) => {
    pending.set(requestId, resolve);
    setTimeout(() => reject(new Error('the request timed out')), timeout).unref();
  });
  const message = { case: 'request', value: request } as const;
  await transport.sendMessage(create(pb.AgentSessionMessageSchema, { message }));
  return response.finally(() => pending.delete(requestId));
}

async function receive() {
  for await (const { message } of transport) {
    if (message.case === 'response') pending.get(message.value.requestId)?.(message.value);
    if (message.case === 'event' && message.value.event.case !== undefined) {
      console.log(EVENT_NAMES[message.value.event.case]);
    }
  }
}

void receive();
const client = new SessionRequestClient(send);
const { sdk } = await client.fetchFrameworkInfo();
console.log(`the agent runs on ${sdk}`);
const { items } = await client.sendMessage({ text: 'hello' });
for (const { item } of items) {
  if (item.case !== 'message') continue;
  const text = item.value.content.map(({ payload }) => payload.value).join(' ');
  console.log(`${chatRoleFromProto(item.value.role)}: ${text}`);
}
await transport.close();
