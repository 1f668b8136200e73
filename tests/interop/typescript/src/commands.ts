// The command interface of the peer programs: a line of JSON each way, as in interop_commands.py.
import { createInterface } from 'node:readline';

type Json = Record<string, unknown>;
export type Commands = Record<string, (fields: Json) => unknown>;

// The SDK logs to standard output, which is reserved for the command interface.
const toStandardOutput = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);

/** Writes an entry. */
export function write(entry: Json): void {
  toStandardOutput(`${JSON.stringify(entry)}\n`);
}

/** Runs commands until standard input ends. */
export async function serve(commands: Commands): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, command, ...fields } = JSON.parse(line) as Json;
    void Promise.resolve()
      .then(() => commands[command as string]?.(fields))
      .then((result) => write({ id, result: result ?? null }))
      .catch((error: Error) => write({ id, error: { type: error.name, message: error.message } }));
  }
}
