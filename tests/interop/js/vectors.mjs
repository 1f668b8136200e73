// Decodes and encodes the vectors of a folder with the published messages, and prints what came
// of it as one JSON document: see interop_vectors.py.
import { proto3 } from '@bufbuild/protobuf';
import { voice } from '@livekit/agents';
import { AgentSession as pb } from '@livekit/protocol';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
const read = (file) => JSON.parse(readFileSync(join(folder, file), 'utf8'));
const hex = (message) => Buffer.from(message.toBinary()).toString('hex');
// Messages and enums are exported under their names without the package, joined by underscores.
const exported = (fullName) => pb[fullName.split('.').slice(1).join('_')];

function messages(file) {
  const { message, vectors } = read(file);
  const Message = exported(message);
  return vectors.map((vector) => {
    const decoded = Message.fromBinary(Buffer.from(vector.hex, 'hex'));
    const parsed = Message.fromJson(vector.json, { ignoreUnknownFields: true });
    const json = decoded.toJson();
    return { file, name: vector.name, hex: hex(decoded), json, parsed: hex(parsed) };
  });
}

function enums(values) {
  const numbers = (name) => {
    const known = exported(name);
    return known && Object.fromEntries(proto3.getEnumType(known).values.map((v) => [v.name, v.no]));
  };
  const names = new Set(values.map((value) => value.enum));
  return Object.fromEntries([...names].map((name) => [name, numbers(name) ?? null]));
}

const files = readdirSync(folder).filter((name) => /\..*\.json$/.test(name));
const found = {
  messages: files.flatMap(messages),
  enums: enums(read('enums.json').values),
  closeReasons: Object.values(voice.CloseReason),
};
// The SDK keeps the process alive; a pipe takes more than one write.
process.stdout.write(JSON.stringify(found), () => process.exit(0));
