// Encodes objects with the generated encoders: `node encode.js`.
import type { AgentSession as pb } from '@livekit/protocol';
import * as protocol from '../generated/index.js';
import { serve } from './commands.js';

type Encode = (source: unknown) => pb.FunctionCall;

await serve({
  encode: ({ name, sources }) => {
    const encode = protocol[name as 'encodeFunctionCall'] as Encode;
    return (sources as unknown[]).map((source) =>
      Buffer.from(encode(source).toBinary()).toString('hex'),
    );
  },
});
