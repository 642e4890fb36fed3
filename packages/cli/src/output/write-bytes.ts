// Copies bytes to standard output or standard error and waits for the reader (backpressure).

import { once } from "node:events";

export async function writeBytes(
  bytes: AsyncIterable<Uint8Array>,
  to: NodeJS.WriteStream = process.stdout,
): Promise<void> {
  for await (const chunk of bytes) {
    if (!to.write(chunk)) await once(to, "drain");
  }
}
