// A registry with an index over HTTP: `index.json` and the images next to it. The index is requested again after a
// short time, and kept when it has not changed.

import { withDeadline } from "@lattice/wire";
import { MAX_INDEX_BYTES, parseIndex } from "./index-file.ts";
import { findByName, type ImageRegistry, type RegistryImage } from "./registry.ts";

/** A burst of starts makes one request. */
const FRESH_MS = 5_000;
const INDEX_TIMEOUT_MS = 10_000;

export function httpRegistry(where: string): ImageRegistry {
  const base = where.endsWith("/") ? where : `${where}/`;
  let known: { readonly images: readonly RegistryImage[]; readonly etag: string | null; atMs: number } | null = null;

  async function images(signal: AbortSignal): Promise<readonly RegistryImage[]> {
    if (known !== null && Date.now() - known.atMs < FRESH_MS) return known.images;
    const url = new URL("index.json", base);
    const headers: Record<string, string> = known?.etag ? { "if-none-match": known.etag } : {};
    const answer = await fetch(url, {
      headers,
      signal: withDeadline(signal, INDEX_TIMEOUT_MS),
    });
    if (answer.status === 304 && known !== null) {
      known.atMs = Date.now();
      return known.images;
    }
    if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
    if (Number(answer.headers.get("content-length") ?? 0) > MAX_INDEX_BYTES) throw new Error(`${url} is too large`);
    const read = parseIndex(await answer.text()).map(({ file, ...image }) => ({
      ...image,
      read: (abort: AbortSignal) => download(new URL(file, base), {}, abort),
    }));
    known = { images: read, etag: answer.headers.get("etag"), atMs: Date.now() };
    return read;
  }

  return { where, list: images, find: async (name, signal) => findByName(await images(signal), name) };
}

export async function download(
  url: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const answer = await fetch(url, { headers, signal });
  if (!answer.ok || answer.body === null) throw new Error(`${url} answered ${answer.status}`);
  return answer.body as unknown as AsyncIterable<Uint8Array>;
}
