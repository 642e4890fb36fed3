// The images a node keeps. Those in use are pinned by the attempts that use them; others go when room is
// needed. An image enters only when its digest is right and it can be mounted, and one left by an earlier
// life of the machine is compared with its digest before it is used again.

import { mkdir, readdir, rename, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { type CachedImage, imageFile, readIndex, stampOf, writeIndex } from "./cache-index.ts";
import { type CacheMarks, makeRoom } from "./evict.ts";
import { digestOf, pullTo } from "./pull.ts";
import { readMeta } from "./read-meta.ts";
import { findByName, type RegistryImage } from "./registry.ts";
import { sharedWork } from "./shared-work.ts";
import type { ImageMeta } from "./views.ts";

export interface CacheOptions {
  readonly folder: string;
  readonly bootId: string;
  readonly marks: CacheMarks;
  /** Never used, whatever the marks say. */
  readonly minFreeBytes: number;
  readonly log: Logger;
  /** Takes a container image out of its own store. */
  readonly removeContainer: (id: string) => Promise<void>;
}

export interface Held {
  readonly path: string;
  readonly meta: ImageMeta;
  readonly digest: string;
  readonly name: string;
}

export class CacheFullError extends Error {}

export interface ImageCache {
  /** Pins it for the holder; brings it here first when need be. */
  acquire(image: RegistryImage, holder: string, signal: AbortSignal): Promise<Held>;
  /** What the cache itself knows under that name, for when the registry cannot be asked. */
  known(name: string): CachedImage | null;
  /** A container image that another store holds; rejects when it has no place here, and the store is rid of it by `dropContainer`. */
  noteContainer(image: Pick<CachedImage, "digest" | "names" | "sizeBytes">, holder: string): Promise<void>;
  /** Takes a container image that has no place out of its own store, unless somebody holds it. */
  dropContainer(digest: string): Promise<void>;
  /** An attempt of an earlier life of the agent still uses these. */
  pin(holder: string, digests: readonly string[]): void;
  release(holder: string): void;
  held(holder: string): readonly string[];
  stick(digest: string, sticky: boolean): Promise<void>;
  /** Throws when there is none, or when it is in use. */
  evict(name: string): Promise<void>;
  status(): CacheStatus;
}

export interface CacheStatus {
  readonly sizeBytes: number;
  readonly usedBytes: number;
  readonly images: readonly (CachedImage & { readonly pins: number })[];
}

export async function openCache(options: CacheOptions): Promise<ImageCache> {
  const { folder, bootId, marks, log } = options;
  const incoming = join(folder, "incoming");
  await mkdir(join(folder, "uenv"), { recursive: true });
  // Whatever was under way in an earlier life was cut short.
  await rm(incoming, { recursive: true, force: true });
  await mkdir(incoming, { recursive: true });
  const images = await readIndex(folder, bootId);
  const metas = new Map<string, ImageMeta>();
  const pins = new Map<string, Set<string>>();
  const work = sharedWork<Held>();
  let pulls = 0;

  const pinsOf = (digest: string): number => [...pins.values()].filter((held) => held.has(digest)).length;
  let saving = Promise.resolve();
  /** One after the other, each with what is true when its turn comes. */
  const save = (): Promise<void> => {
    saving = saving.then(() => writeIndex(folder, bootId, images.values()).catch(unsaved));
    return saving;
  };
  const unsaved = (error: Error): void => log.warn({ error: error.message }, "the cache's index could not be written");
  const pathOf = async (digest: string): Promise<string> => {
    const ending = `@${digest.slice("sha256:".length)}.squashfs`;
    const file = (await readdir(join(folder, "uenv"))).find((name) => name.endsWith(ending));
    if (file === undefined) throw new Error(`${digest} is not in the cache any more`);
    return join(folder, "uenv", file);
  };

  async function remove(image: CachedImage): Promise<void> {
    if (image.kind === "oci") await options.removeContainer(image.digest);
    else
      await pathOf(image.digest).then(
        (path) => rm(path, { force: true }),
        () => undefined,
      );
    images.delete(image.digest);
    metas.delete(image.digest);
  }

  /** `here`: what of it is on the disk already. */
  async function roomFor(bytes: number, name: string, here = 0): Promise<void> {
    const { bavail, bsize } = await statfs(folder);
    const entries = [...images.values()].map((image) => ({ ...image, pins: pinsOf(image.digest) }));
    const room = makeRoom(entries, bytes, marks, bavail * bsize + here - options.minFreeBytes);
    if (room.kind === "too_large") {
      throw new Error(`${name} has ${bytes} bytes, more than the cache of ${marks.sizeBytes} can hold`);
    }
    if (room.kind === "full") {
      throw new CacheFullError(`the cache has no room for the ${bytes} bytes of ${name}: the rest is in use or sticky`);
    }
    for (const digest of room.evict) {
      const image = images.get(digest);
      if (image === undefined) continue;
      log.info({ image: image.names.at(-1), bytes: image.sizeBytes }, "evicting an image to make room");
      await remove(image);
    }
  }

  /** Null: it is not here, or no longer what it was. */
  async function present(digest: string, signal: AbortSignal): Promise<Held | null> {
    const image = images.get(digest);
    if (image === undefined || image.kind !== "uenv") return null;
    try {
      const path = await pathOf(digest);
      const stamp = await stampOf(path);
      if (!image.verified || image.stamp !== stamp) {
        if ((await digestOf(path, signal)) !== digest) throw new Error("it is not what it was");
        images.set(digest, { ...image, verified: true, stamp });
      }
      const meta = metas.get(digest) ?? (await readMeta(path, incoming));
      metas.set(digest, meta);
      return { path, meta, digest, name: image.names.at(-1) ?? digest };
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ digest, error: (error as Error).message }, "a cached image is evicted");
      await remove(image);
      return null;
    }
  }

  async function fetchImage(image: RegistryImage, signal: AbortSignal): Promise<Held> {
    const here = await present(image.digest, signal);
    if (here !== null) return here;
    await roomFor(image.sizeBytes, image.name);
    pulls += 1;
    const part = join(incoming, `${pulls}`);
    const sizeBytes = await pullTo(image, part, signal);
    const meta = await readMeta(part, folder).catch(async (error: Error) => {
      await rm(part, { force: true });
      throw error;
    });
    const path = imageFile(folder, image.digest, image.name);
    await rename(part, path);
    const { digest, name, signature } = image;
    const stamp = await stampOf(path);
    const entry = { digest, kind: "uenv", names: [name], sizeBytes, sticky: false, verified: true, signature } as const;
    images.set(digest, { ...entry, lastUsedMs: Date.now(), stamp });
    metas.set(digest, meta);
    log.info({ image: name, bytes: sizeBytes }, "image pulled");
    return { path, meta, digest, name };
  }

  function pin(holder: string, digests: readonly string[]): void {
    const held = pins.get(holder) ?? new Set();
    for (const digest of digests) held.add(digest);
    pins.set(holder, held);
  }

  function used(digest: string, name: string): void {
    const image = images.get(digest);
    if (image === undefined) return;
    const names = [...image.names.filter((other) => other !== name), name];
    images.set(digest, { ...image, names, lastUsedMs: Date.now() });
    // Behind the start: an index that is a little old only changes the order of eviction.
    void save();
  }

  return {
    async acquire(image, holder, signal) {
      pin(holder, [image.digest]);
      const held = await work.join(image.digest, (abort) => fetchImage(image, abort), signal);
      used(image.digest, image.name);
      return { ...held, name: image.name };
    },
    known: (name) => {
      const all = [...images.values()].flatMap((image) =>
        image.names.map((known) => ({ ...infoOf(image), name: known })),
      );
      const found = findByName(all, name);
      return found === null ? null : (images.get(found.digest) ?? null);
    },
    async noteContainer({ digest, names, sizeBytes }, holder) {
      if (!images.has(digest)) await roomFor(sizeBytes, names.at(-1) ?? digest, sizeBytes);
      pin(holder, [digest]);
      const before = images.get(digest);
      const sticky = before?.sticky ?? false;
      const others = (before?.names ?? []).filter((name) => !names.includes(name));
      const entry = { digest, kind: "oci", names: [...others, ...names], sizeBytes, sticky } as const;
      images.set(digest, { ...entry, verified: true, signature: null, stamp: "", lastUsedMs: Date.now() });
      void save();
    },
    async dropContainer(digest) {
      if (!images.has(digest) && pinsOf(digest) === 0) await options.removeContainer(digest);
    },
    pin,
    release: (holder) => void pins.delete(holder),
    held: (holder) => [...(pins.get(holder) ?? [])],
    async stick(digest, sticky) {
      const image = images.get(digest);
      if (image !== undefined) images.set(digest, { ...image, sticky });
      await save();
    },
    async evict(name) {
      const found = [...images.values()].find((image) => image.digest === name || image.names.includes(name));
      if (found === undefined) throw new Error(`${name} is not in the cache`);
      const using = pinsOf(found.digest);
      if (using > 0) throw new Error(`${name} is in use by ${using} ${using === 1 ? "attempt" : "attempts"}`);
      await remove(found);
      await save();
    },
    status() {
      const all = [...images.values()].map((image) => ({ ...image, pins: pinsOf(image.digest) }));
      const usedBytes = all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      return { sizeBytes: marks.sizeBytes, usedBytes, images: all };
    },
  };
}

const infoOf = ({ digest, sizeBytes, signature }: CachedImage) => ({
  digest,
  sizeBytes,
  signature,
  mount: "",
  views: [],
  description: "",
});
