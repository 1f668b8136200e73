// The command interface of the peer programs, as in interop_commands.py.
import { createInterface } from 'node:readline';

// The SDK logs to standard output, which is reserved for the command interface.
const writeOutput = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);

/** Prints a line of output. */
export function write(entry) {
  writeOutput(JSON.stringify(entry) + '\n');
}

/** Runs commands until standard input ends. */
export async function serve(commands) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, command, ...fields } = JSON.parse(line);
    Promise.resolve()
      .then(() => commands[command](fields))
      .then(
        (result) => write({ id, result: result ?? null }),
        (error) => write({ id, error: { type: error.name, message: error.message } }),
      );
  }
}
