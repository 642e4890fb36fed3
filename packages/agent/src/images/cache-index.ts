// The index of the image cache: `metadata.json`, written whole, and rebuilt from the file names when it is lost. A
// file has its digest in its name; the content is verified before it is used again.

import { readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface CacheIndexEntry {
  readonly digest: string;
  readonly kind: "uenv" | "oci";
  /** Names it was requested by; the newest last. */
  readonly names: readonly string[];
  readonly sizeBytes: number;
  readonly lastUsedMs: number;
  readonly sticky: boolean;
  /** Its content was verified since boot. */
  readonly verified: boolean;
  readonly signature: string | null;
  /** Changes with the file; empty for containers. */
  readonly stamp: string;
}

interface Stored {
  readonly bootId: string;
  readonly images: readonly CacheIndexEntry[];
}

const FILE = "metadata.json";
const SUFFIX = ".squashfs";

export const imageFile = (folder: string, digest: string, name: string): string =>
  join(folder, "uenv", `${name.replace(/[^\w.-]/g, "_")}@${digest.slice("sha256:".length)}${SUFFIX}`);

export const stampOf = async (path: string): Promise<string> => {
  const { size, mtimeMs, ino } = await stat(path);
  return `${size} ${mtimeMs} ${ino}`;
};

export async function readIndex(folder: string, bootId: string): Promise<Map<string, CacheIndexEntry>> {
  const stored = await readStored(join(folder, FILE));
  const known = new Map((stored?.images ?? []).map((image) => [image.digest, image]));
  const images = new Map<string, CacheIndexEntry>();
  for (const name of await readdir(join(folder, "uenv")).catch(() => [])) {
    const digest = digestIn(name);
    if (digest === null) continue;
    const path = join(folder, "uenv", name);
    const [{ size, mtimeMs }, stamp] = await Promise.all([stat(path), stampOf(path)]);
    const before = known.get(digest);
    const same = before !== undefined && before.stamp === stamp && stored?.bootId === bootId;
    images.set(digest, {
      digest,
      kind: "uenv",
      names: before?.names ?? [],
      sizeBytes: size,
      lastUsedMs: before?.lastUsedMs ?? mtimeMs,
      sticky: before?.sticky ?? false,
      verified: same && before.verified,
      signature: before?.signature ?? null,
      stamp,
    });
  }
  for (const image of known.values()) if (image.kind === "oci") images.set(image.digest, image);
  return images;
}

export async function writeIndex(folder: string, bootId: string, images: Iterable<CacheIndexEntry>): Promise<void> {
  const stored: Stored = { bootId, images: [...images] };
  const path = join(folder, FILE);
  await writeFile(`${path}.tmp`, JSON.stringify(stored, null, 1), { mode: 0o600 });
  await rename(`${path}.tmp`, path);
}

function digestIn(file: string): string | null {
  const match = /@([0-9a-f]{64})\.squashfs$/.exec(file);
  return match === null ? null : `sha256:${match[1]}`;
}

/** Returns null when the file is missing or unreadable; then the image files alone form the index. */
async function readStored(path: string): Promise<Stored | null> {
  try {
    const stored = JSON.parse(await readFile(path, "utf8")) as Stored;
    return Array.isArray(stored.images) ? stored : null;
  } catch {
    return null;
  }
}
