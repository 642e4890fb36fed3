// What the cache remembers of its images: `metadata.json`, written whole, and rebuilt from the names of
// the files when it is lost. A file carries its digest in its name, so that nothing has to be guessed;
// whether its content still has that digest is found out before it is used again.

import { readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface CachedImage {
  readonly digest: string;
  readonly kind: "uenv" | "oci";
  /** Names it was asked for by; the newest last. */
  readonly names: readonly string[];
  readonly sizeBytes: number;
  readonly lastUsedMs: number;
  readonly sticky: boolean;
  /** Its content has been compared with its digest, in this life of the machine. */
  readonly verified: boolean;
  readonly signature: string | null;
  /** Changes with the file; empty for containers. */
  readonly stamp: string;
}

interface Stored {
  readonly bootId: string;
  readonly images: readonly CachedImage[];
}

const FILE = "metadata.json";
const SUFFIX = ".squashfs";

export const imageFile = (folder: string, digest: string, name: string): string =>
  join(folder, "uenv", `${name.replace(/[^\w.-]/g, "_")}@${digest.slice("sha256:".length)}${SUFFIX}`);

export const stampOf = async (path: string): Promise<string> => {
  const { size, mtimeMs, ino } = await stat(path);
  return `${size} ${mtimeMs} ${ino}`;
};

export async function readIndex(folder: string, bootId: string): Promise<Map<string, CachedImage>> {
  const stored = await readStored(join(folder, FILE));
  const known = new Map((stored?.images ?? []).map((image) => [image.digest, image]));
  const images = new Map<string, CachedImage>();
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

export async function writeIndex(folder: string, bootId: string, images: Iterable<CachedImage>): Promise<void> {
  const stored: Stored = { bootId, images: [...images] };
  const path = join(folder, FILE);
  await writeFile(`${path}.tmp`, JSON.stringify(stored, null, 1));
  await rename(`${path}.tmp`, path);
}

function digestIn(file: string): string | null {
  const match = /@([0-9a-f]{64})\.squashfs$/.exec(file);
  return match === null ? null : `sha256:${match[1]}`;
}

/** Null: it is not there, or not readable; then the files alone tell. */
async function readStored(path: string): Promise<Stored | null> {
  try {
    const stored = JSON.parse(await readFile(path, "utf8")) as Stored;
    return Array.isArray(stored.images) ? stored : null;
  } catch {
    return null;
  }
}
