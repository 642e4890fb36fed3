// Opens the registry that a setting names.

import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { MAX_INDEX_BYTES, parseIndex } from "./index-file.ts";
import { findByName, type ImageRegistry, type RegistryImage } from "./registry.ts";
import { httpRegistry } from "./registry-http.ts";
import { ociRegistry } from "./registry-oci.ts";

/** `tokenFile`: for a registry that requires authentication; empty for anonymous access. */
export function openRegistry(where: string, tokenFile = ""): ImageRegistry {
  if (/^oci(\+http)?:\/\//.test(where)) return ociRegistry(where, () => tokenIn(tokenFile));
  if (/^https?:\/\//.test(where)) return httpRegistry(where);
  return directoryRegistry(where.replace(/^file:\/\//, ""));
}

/** Rejects when the file cannot be read: a registry that requires authentication must not be read anonymously. */
async function tokenIn(file: string): Promise<string | null> {
  if (file === "") return null;
  const token = (await readFile(file, "utf8")).trim();
  if (token === "" || /[\r\n]/.test(token)) throw new Error(`the token file ${file} is not one line with a token`);
  return token;
}

function directoryRegistry(folder: string): ImageRegistry {
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
