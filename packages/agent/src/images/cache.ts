// The image cache of a node. Attempts pin the images that they use; other images are evicted when space is needed. An
// image enters only with the right digest and when it can be mounted; an image from before the last boot is verified
// before it is used again.

import { readdir, rename, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { makeOwnFolder, removeOwn } from "../files/own-tree.ts";
import { type CacheIndexEntry, imageFile, readIndex, stampOf, writeIndex } from "./cache-index.ts";
import { type CacheMarks, planEviction } from "./evict.ts";
import { digestOf, pullTo } from "./pull.ts";
import { readMeta } from "./read-meta.ts";
import { findByName, type RegistryImage } from "./registry.ts";
import { sharedWork } from "./shared-work.ts";
import type { ImageMeta } from "./views.ts";

export interface CacheOptions {
  readonly folder: string;
  readonly bootId: string;
  readonly marks: CacheMarks;
  /** Always left free, independent of the marks. */
  readonly minFreeBytes: number;
  readonly log: Logger;
  /** Removes a container image from the engine's store. */
  readonly removeContainer: (id: string) => Promise<void>;
}

/** An image in the cache, ready to be mounted. */
export interface MountableImage {
  readonly path: string;
  readonly meta: ImageMeta;
  readonly digest: string;
  readonly name: string;
}

export class CacheFullError extends Error {}

export interface ImageCache {
  /** Pins the image for the holder, and pulls it first if needed. */
  acquire(image: RegistryImage, holder: string, signal: AbortSignal): Promise<MountableImage>;
  /** Returns what the cache knows by that name, for when the registry is unreachable. */
  known(name: string): CacheIndexEntry | null;
  /** Returns the container image that was fetched last under exactly that name. */
  container(name: string): string | null;
  /**
   * Registers a container image in the engine's store; rejects when there is no room, and removes it with
   * `dropContainer`.
   */
  noteContainer(image: Pick<CacheIndexEntry, "digest" | "names" | "sizeBytes">, holder: string): Promise<void>;
  /** Removes a container image that does not fit from the engine's store, unless a holder pins it. */
  dropContainer(digest: string): Promise<void>;
  /** Restores the pins of an attempt from an earlier run of the agent. */
  pin(holder: string, digests: readonly string[]): void;
  release(holder: string): void;
  held(holder: string): readonly string[];
  stick(digest: string, sticky: boolean): Promise<void>;
  /** Throws when the image is missing or in use. */
  evict(name: string): Promise<void>;
  status(): CacheStatus;
  /** Resolves when the index on disk is current. */
  saved(): Promise<void>;
}

export interface CacheStatus {
  readonly sizeBytes: number;
  readonly usedBytes: number;
  readonly images: readonly (CacheIndexEntry & { readonly pins: number })[];
}

export async function openCache(options: CacheOptions): Promise<ImageCache> {
  const { folder, bootId } = options;
  const incoming = join(folder, "incoming");
  await makeOwnFolder(join(folder, "uenv"), 0o755);
  // Left by an interrupted pull of an earlier run.
  await removeOwn(incoming);
  await makeOwnFolder(incoming, 0o755);
  return new NodeCache(options, incoming, await readIndex(folder, bootId));
}

class NodeCache implements ImageCache {
  readonly #options: CacheOptions;
  readonly #incoming: string;
  readonly #images: Map<string, CacheIndexEntry>;
  readonly #metas = new Map<string, ImageMeta>();
  /** Digests by the holder that pins them. */
  readonly #pins = new Map<string, Set<string>>();
  readonly #work = sharedWork<MountableImage>();
  #pulls = 0;
  #saving = Promise.resolve();

  constructor(options: CacheOptions, incoming: string, images: Map<string, CacheIndexEntry>) {
    this.#options = options;
    this.#incoming = incoming;
    this.#images = images;
  }

  async acquire(image: RegistryImage, holder: string, signal: AbortSignal): Promise<MountableImage> {
    this.pin(holder, [image.digest]);
    const held = await this.#work.join(image.digest, (abort) => this.#fetch(image, abort), signal);
    this.#touch(image.digest, image.name);
    return { ...held, name: image.name };
  }

  known(name: string): CacheIndexEntry | null {
    const all = [...this.#images.values()].flatMap((image) =>
      image.names.map((known) => ({ ...infoOf(image), name: known })),
    );
    const found = findByName(all, name);
    return found === null ? null : (this.#images.get(found.digest) ?? null);
  }

  container(name: string): string | null {
    const named = [...this.#images.values()].filter(({ kind, names }) => kind === "oci" && names.includes(name));
    return named.toSorted((a, b) => b.lastUsedMs - a.lastUsedMs)[0]?.digest ?? null;
  }

  async noteContainer(
    { digest, names, sizeBytes }: Pick<CacheIndexEntry, "digest" | "names" | "sizeBytes">,
    holder: string,
  ): Promise<void> {
    if (!this.#images.has(digest)) await this.#makeRoom(sizeBytes, names.at(-1) ?? digest, sizeBytes);
    this.pin(holder, [digest]);
    const before = this.#images.get(digest);
    const sticky = before?.sticky ?? false;
    const others = (before?.names ?? []).filter((name) => !names.includes(name));
    const entry = { digest, kind: "oci", names: [...others, ...names], sizeBytes, sticky } as const;
    this.#images.set(digest, { ...entry, verified: true, signature: null, stamp: "", lastUsedMs: Date.now() });
    void this.#save();
  }

  async dropContainer(digest: string): Promise<void> {
    if (!this.#images.has(digest) && this.#pinsOf(digest) === 0) await this.#options.removeContainer(digest);
  }

  pin(holder: string, digests: readonly string[]): void {
    const held = this.#pins.get(holder) ?? new Set();
    for (const digest of digests) held.add(digest);
    this.#pins.set(holder, held);
  }

  release(holder: string): void {
    this.#pins.delete(holder);
  }

  held(holder: string): readonly string[] {
    return [...(this.#pins.get(holder) ?? [])];
  }

  async stick(digest: string, sticky: boolean): Promise<void> {
    const image = this.#images.get(digest);
    if (image !== undefined) this.#images.set(digest, { ...image, sticky });
    await this.#save();
  }

  async evict(name: string): Promise<void> {
    const found = [...this.#images.values()].find((image) => image.digest === name || image.names.includes(name));
    if (found === undefined) throw new Error(`${name} is not in the cache`);
    const using = this.#pinsOf(found.digest);
    if (using > 0) throw new Error(`${name} is in use by ${using} ${using === 1 ? "attempt" : "attempts"}`);
    await this.#remove(found);
    await this.#save();
  }

  status(): CacheStatus {
    const all = [...this.#images.values()].map((image) => ({ ...image, pins: this.#pinsOf(image.digest) }));
    const usedBytes = all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    return { sizeBytes: this.#options.marks.sizeBytes, usedBytes, images: all };
  }

  saved(): Promise<void> {
    return this.#saving;
  }

  #pinsOf(digest: string): number {
    return [...this.#pins.values()].filter((held) => held.has(digest)).length;
  }

  /** Writes the index after any write under way, with the state at that moment. */
  #save(): Promise<void> {
    const { folder, bootId, log } = this.#options;
    this.#saving = this.#saving.then(() =>
      writeIndex(folder, bootId, this.#images.values()).catch((error: Error) =>
        log.warn({ error: error.message }, "image cache: the index cannot be written"),
      ),
    );
    return this.#saving;
  }

  async #pathOf(digest: string): Promise<string> {
    const { folder } = this.#options;
    const ending = `@${digest.slice("sha256:".length)}.squashfs`;
    const file = (await readdir(join(folder, "uenv"))).find((name) => name.endsWith(ending));
    if (file === undefined) throw new Error(`${digest} is not in the cache any more`);
    return join(folder, "uenv", file);
  }

  async #remove(image: CacheIndexEntry): Promise<void> {
    if (image.kind === "oci") await this.#options.removeContainer(image.digest);
    else await this.#pathOf(image.digest).then(removeOwn, () => undefined);
    this.#images.delete(image.digest);
    this.#metas.delete(image.digest);
  }

  /** Evicts images until this one fits. `presentBytes`: the part of it that is already on disk. */
  async #makeRoom(bytes: number, name: string, presentBytes = 0): Promise<void> {
    const { folder, marks, minFreeBytes, log } = this.#options;
    const { bavail, bsize } = await statfs(folder);
    const entries = [...this.#images.values()].map((image) => ({ ...image, pins: this.#pinsOf(image.digest) }));
    const plan = planEviction(entries, bytes, marks, bavail * bsize + presentBytes - minFreeBytes);
    if (plan.kind === "too_large") {
      throw new Error(`${name} has ${bytes} bytes, more than the cache of ${marks.sizeBytes} can hold`);
    }
    if (plan.kind === "full") {
      throw new CacheFullError(`the cache has no room for the ${bytes} bytes of ${name}: the rest is in use or sticky`);
    }
    for (const digest of plan.evict) {
      const image = this.#images.get(digest);
      if (image === undefined) continue;
      log.info({ image: image.names.at(-1), bytes: image.sizeBytes }, "image cache: evicting an image to make room");
      await this.#remove(image);
    }
  }

  /** Returns null when the image is not here, or its content has changed. */
  async #present(digest: string, signal: AbortSignal): Promise<MountableImage | null> {
    const image = this.#images.get(digest);
    if (image === undefined || image.kind !== "uenv") return null;
    try {
      const path = await this.#pathOf(digest);
      const stamp = await stampOf(path);
      if (!image.verified || image.stamp !== stamp) {
        if ((await digestOf(path, signal)) !== digest) throw new Error("its content does not match its digest");
        this.#images.set(digest, { ...image, verified: true, stamp });
      }
      const meta = this.#metas.get(digest) ?? (await readMeta(path));
      this.#metas.set(digest, meta);
      return { path, meta, digest, name: image.names.at(-1) ?? digest };
    } catch (error) {
      signal.throwIfAborted();
      this.#options.log.warn({ digest, error: (error as Error).message }, "image cache: evicting a damaged image");
      await this.#remove(image);
      return null;
    }
  }

  async #fetch(image: RegistryImage, signal: AbortSignal): Promise<MountableImage> {
    const present = await this.#present(image.digest, signal);
    if (present !== null) return present;
    const { folder, log } = this.#options;
    await this.#makeRoom(image.sizeBytes, image.name);
    this.#pulls += 1;
    const part = join(this.#incoming, `${this.#pulls}`);
    const sizeBytes = await pullTo(image, part, signal);
    const meta = await readMeta(part).catch(async (error: Error) => {
      await removeOwn(part);
      throw error;
    });
    const path = imageFile(folder, image.digest, image.name);
    await rename(part, path);
    const { digest, name, signature } = image;
    const stamp = await stampOf(path);
    const entry = { digest, kind: "uenv", names: [name], sizeBytes, sticky: false, verified: true, signature } as const;
    this.#images.set(digest, { ...entry, lastUsedMs: Date.now(), stamp });
    this.#metas.set(digest, meta);
    log.info({ image: name, bytes: sizeBytes }, "image cache: image pulled");
    return { path, meta, digest, name };
  }

  #touch(digest: string, name: string): void {
    const image = this.#images.get(digest);
    if (image === undefined) return;
    const names = [...image.names.filter((other) => other !== name), name];
    this.#images.set(digest, { ...image, names, lastUsedMs: Date.now() });
    // Not awaited: an outdated index only affects the order of eviction.
    void this.#save();
  }
}

const infoOf = ({ digest, sizeBytes, signature }: CacheIndexEntry) => ({
  digest,
  sizeBytes,
  signature,
  mount: "",
  views: [],
  description: "",
});
