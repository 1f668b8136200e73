// The messages of @livekit/protocol and the SDK's own transport.
import { initializeLogger, voice } from '@livekit/agents';
import { AgentSession as pb } from '@livekit/protocol';

export { AgentSession as pb } from '@livekit/protocol';
export { accepted } from './accepted.js';

initializeLogger({ pretty: false, level: 'warn' });

type Message = pb.DebugMessage;
const NAMES = { useProtoFieldName: true };

export const envelope = (message: pb.AgentSessionMessage['message']) =>
  new pb.AgentSessionMessage({ message });
export const json = (message: object) => (message as Message).toJson(NAMES) as object;
export const binary = (message: object) => (message as Message).toBinary();
export const request = (bytes: Uint8Array) => pb.SessionRequest.fromBinary(bytes);
export const updateIo = (fields: object) => pb.SessionRequest_UpdateIO.fromJson({ ...fields });
export const finalizeSimulation = (fields: object) =>
  pb.SessionRequest_FinalizeSimulation.fromJson({ ...fields });

export async function connected(port: number): Promise<voice.SessionTransport> {
  const transport = new voice.TcpSessionTransport('127.0.0.1', port);
  await transport.start();
  return transport;
}

/** The events that these messages do not have yet. */
export const ownEvents = {};
