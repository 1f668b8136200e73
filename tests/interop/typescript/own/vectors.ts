// Decodes and encodes the vectors of a folder with the messages that protoc-gen-es 2 made of the
// contract, and prints what came of it as one JSON document: see interop_vectors.py.
import { createRegistry, fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import type { DescMessage, JsonValue } from '@bufbuild/protobuf';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { file_agent_session } from '../agent_session_pb.js';
import * as protocol from '../generated/index.js';

interface File {
  readonly message: string;
  readonly vectors: readonly { name: string; hex: string; json: JsonValue }[];
  readonly values: readonly { enum: string; json: string; sdk: Record<string, string> }[];
}

const folder = process.argv[2] ?? '';
const registry = createRegistry(file_agent_session);
const read = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as File;

function schema(name: string): DescMessage {
  const found = registry.getMessage(name);
  if (!found) throw new Error(`no message ${name}`);
  return found;
}

function messages(file: string) {
  const { message, vectors } = read(file);
  const type = schema(message);
  return vectors.map(({ name, hex, json }) => {
    const decoded = fromBinary(type, Buffer.from(hex, 'hex'));
    const parsed = fromJson(type, json);
    const encoded = [decoded, parsed].map((item) => Buffer.from(toBinary(type, item)));
    const [again, fromText] = encoded.map((bytes) => bytes.toString('hex'));
    return { file, name, hex: again, json: toJson(type, decoded), parsed: fromText };
  });
}

function enums() {
  const names = new Set(read('enums.json').values.map((value) => value.enum));
  const numbers = (name: string) =>
    Object.fromEntries(registry.getEnum(name)?.values.map((v) => [v.name, v.number]) ?? []);
  return Object.fromEntries([...names].map((name) => [name, numbers(name)]));
}

/** Returns the number, JSON name and SDK literal of each close reason, as generated code has them. */
function closeReasons() {
  const values = read('enums.json').values.filter((v) => v.enum === 'agent_session.CloseReason');
  return values.map(({ json }) => {
    const number = protocol.closeReasonFromName(json);
    const literal = protocol.closeReasonFromProto(number);
    const again = literal === undefined ? null : protocol.closeReasonToProto(literal);
    return [number, protocol.closeReasonName(number), literal ?? null, again];
  });
}

const files = readdirSync(folder).filter((name) => /\..*\.json$/.test(name));
const found = {
  messages: files.flatMap(messages),
  enums: enums(),
  closeReasons: closeReasons(),
};
process.stdout.write(JSON.stringify(found));
