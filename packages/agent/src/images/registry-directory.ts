// A registry in a folder, local or shared, with its `index.json`. The index is read again when it has changed.

import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { MAX_INDEX_BYTES, parseIndex } from "./index-file.ts";
import { findByName, type ImageRegistry, type RegistryImage } from "./registry.ts";

export function directoryRegistry(folder: string): ImageRegistry {
  let known: { readonly stamp: string; readonly images: readonly RegistryImage[] } | null = null;

  async function images(): Promise<readonly RegistryImage[]> {
    const path = join(folder, "index.json");
    const { mtimeMs, size, ino } = await stat(path);
    const stamp = `${mtimeMs} ${size} ${ino}`;
    if (known?.stamp === stamp) return known.images;
    if (size > MAX_INDEX_BYTES) throw new Error(`${path} is larger than an index may be`);
    const read = parseIndex(await readFile(path, "utf8")).map(({ file, ...image }) => ({
      ...image,
      read: async (signal: AbortSignal) => createReadStream(join(folder, file), { signal }),
    }));
    known = { stamp, images: read };
    return read;
  }

  return { where: folder, list: images, find: async (name) => findByName(await images(), name) };
}
