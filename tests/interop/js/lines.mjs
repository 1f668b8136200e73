// How a peer program talks with the harness: a line of JSON each way, as in interop_lines.py.
import { createInterface } from 'node:readline';

// The SDK logs to stdout, which belongs to the harness here.
const toHarness = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);

/** Tell the harness something. */
export function say(facts) {
  toHarness(JSON.stringify(facts) + '\n');
}

/** Carry out commands until stdin ends. */
export async function serve(commands) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, do: verb, ...given } = JSON.parse(line);
    Promise.resolve()
      .then(() => commands[verb](given))
      .then(
        (result) => say({ id, result: result ?? null }),
        (error) => say({ id, error: { type: error.name, message: error.message } }),
      );
  }
}
