// Downloads an image into a file and accepts it only with the size and digest that the registry stated. The file gets
// its name when it is complete; a partial one is removed.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { removeOwn } from "../files/own-tree.ts";
import type { RegistryImage } from "./registry.ts";

export async function pullTo(image: RegistryImage, path: string, signal: AbortSignal): Promise<number> {
  const file = await open(path, "w", 0o600);
  try {
    const hash = createHash("sha256");
    let size = 0;
    for await (const chunk of await image.read(signal)) {
      signal.throwIfAborted();
      size += chunk.length;
      // More than promised may be more than there is room for.
      if (image.sizeBytes > 0 && size > image.sizeBytes) throw new Error(`it is larger than ${image.sizeBytes} bytes`);
      hash.update(chunk);
      await file.write(chunk);
    }
    const digest = `sha256:${hash.digest("hex")}`;
    if (digest !== image.digest) throw new Error(`hash mismatch: it is ${digest}, not ${image.digest}`);
    return size;
  } catch (error) {
    await removeOwn(path);
    throw error;
  } finally {
    await file.close();
  }
}

export async function digestOf(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { signal })) hash.update(chunk as Uint8Array);
  return `sha256:${hash.digest("hex")}`;
}
