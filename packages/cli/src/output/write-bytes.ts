// Copies bytes to standard output at the pace of whoever reads it.

import { once } from "node:events";

export async function writeBytes(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of bytes) {
    if (!process.stdout.write(chunk)) await once(process.stdout, "drain");
  }
}
