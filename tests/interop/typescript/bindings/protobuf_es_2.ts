// Messages that protoc-gen-es 2 made of the contract, and the transport of examples/typescript.
import { create, createRegistry, fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import type { Message } from '@bufbuild/protobuf';
import { voice } from '@livekit/agents';
import * as pb from '../agent_session_pb.js';
import * as transport from '../transport.js';
import { write } from './commands.js';

export * as pb from '../agent_session_pb.js';
export { connected } from '../transport.js';

const registry = createRegistry(pb.file_agent_session);

function schema(message: object) {
  const { $typeName } = message as Message;
  const found = registry.getMessage($typeName);
  if (!found) throw new Error(`no schema of ${$typeName}`);
  return found;
}

export const envelope = (message: pb.AgentSessionMessage['message']) =>
  create(pb.AgentSessionMessageSchema, { message });
export const json = (message: object) =>
  toJson(schema(message), message as Message, { useProtoFieldName: true, registry }) as object;
export const binary = (message: object) => toBinary(schema(message), message as Message);
export const request = (bytes: Uint8Array) => fromBinary(pb.SessionRequestSchema, bytes);
export const updateIo = (fields: object) =>
  fromJson(pb.SessionRequest_UpdateIOSchema, { ...fields });
export const finalizeSimulation = (fields: object) =>
  fromJson(pb.SessionRequest_FinalizeSimulationSchema, { ...fields });
export const accepted = () => transport.accepted(0, (port) => write({ note: 'listening', port }));

/** The events that the published messages do not have yet. */
export const ownEvents = {
  sessionClosed: { reason: voice.CloseReason.ERROR, error: { label: 'the model' } },
};
