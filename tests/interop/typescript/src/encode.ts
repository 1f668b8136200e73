// Encodes objects with the generated encoders: `node encode.js`.
import * as protocol from '../generated/index.js';
import { binary } from './binding.js';
import { serve } from './commands.js';

type Encode = (source: unknown) => object;

await serve({
  encode: ({ name, sources }) => {
    const encode = protocol[name as keyof typeof protocol] as Encode;
    return (sources as unknown[]).map((source) =>
      Buffer.from(binary(encode(source))).toString('hex'),
    );
  },
});
