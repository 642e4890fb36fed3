// The images of a node: the registry resolves a name, the trust settings decide whether it may be used, the cache
// holds it. A full cache is retried for a while. When the registry is unreachable, the cached image of that name is
// used.

import type { Logger } from "pino";
import { CacheFullError, type ImageCache, type MountableImage } from "./cache.ts";
import { checkContainerName } from "./container-name.ts";
import type { ImageInfo, ImageRegistry, RegistryImage } from "./registry.ts";
import { signatureProblem, type Trust } from "./signature.ts";

interface ImagesOptions {
  readonly registry: ImageRegistry | null;
  readonly cache: ImageCache;
  readonly trust: Trust;
  /** Pauses between tries of a full cache. */
  readonly fullPausesMs: readonly number[];
  readonly log: Logger;
  /** Registries, or repositories of them, of container images; empty: any. */
  readonly allowedRegistries: readonly string[];
  /** Brings a container image into the engine's own store. `known`: the image that was fetched under that name before. */
  readonly pullContainer: (name: string, signal: AbortSignal, known: string | null) => Promise<ContainerImage>;
}

export interface ContainerImage {
  readonly id: string;
  readonly sizeBytes: number;
  /** Variables that the image sets. */
  readonly variables: Readonly<Record<string, string>>;
  /** Working directory that the image sets; empty for none. */
  readonly workdir: string;
}

/** The pulled image does not fit. */
export class ImageStoreFullError extends Error {}

export interface Images {
  readonly cache: ImageCache;
  /** The site's policy: an image without a valid signature is refused. */
  readonly signedOnly: boolean;
  acquire(
    name: string,
    how: { readonly holder: string; readonly signRequired: boolean },
    signal: AbortSignal,
  ): Promise<MountableImage>;
  /** Throws unless the name is a container image of a registry that the site allows. */
  checkContainer(name: string): void;
  /** Pins a container image for the holder. Throws ImageStoreFullError without room for it, and leaves nothing behind. */
  container(name: string, holder: string, signal: AbortSignal): Promise<ContainerImage>;
  list(signal: AbortSignal): Promise<readonly ImageInfo[]>;
  find(name: string, signal: AbortSignal): Promise<ImageInfo | null>;
}

/** Five minutes in total, since the cache of a busy node changes. */
export const FULL_PAUSES_MS = [20_000, 80_000, 200_000];

export function createImages(options: ImagesOptions): Images {
  const { registry, cache, trust, fullPausesMs, log, pullContainer } = options;
  const checkContainer = (name: string) => checkContainerName(name, options.allowedRegistries);

  async function resolve(name: string, signal: AbortSignal): Promise<RegistryImage> {
    if (registry === null) {
      const here = fromCache(cache, name);
      if (here !== null) return here;
      throw new Error("no registry is configured on this node (--registry)");
    }
    const found = await registry.find(name, signal).catch((error: Error) => {
      signal.throwIfAborted();
      const here = error.message.startsWith("wrong digest") ? null : fromCache(cache, name);
      if (here === null) throw new Error(`registry ${registry.where}: ${error.message}`);
      log.warn({ image: name, error: error.message }, "image registry unreachable; using the cached image");
      return here;
    });
    if (found === null) throw new Error(`image not found in the registry ${registry.where}`);
    return found;
  }

  /** Attempts that pin images may end meanwhile. */
  async function whenThereIsRoom<T>(name: string, take: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (const pauseMs of fullPausesMs) {
      try {
        return await take();
      } catch (error) {
        if (!(error instanceof CacheFullError)) throw error;
      }
      log.warn({ image: name, pause_ms: pauseMs }, "image cache full; waiting");
      await pause(pauseMs, signal);
    }
    return take();
  }

  return {
    cache,
    signedOnly: trust.required,
    checkContainer,
    async acquire(name, { holder, signRequired }, signal) {
      const image = await resolve(name, signal);
      const problem = signatureProblem(image, trust, signRequired);
      if (problem !== null) throw new Error(problem);
      return whenThereIsRoom(name, () => cache.acquire(image, holder, signal), signal);
    },
    async container(name, holder, signal) {
      checkContainer(name);
      const image = await pullContainer(name, signal, cache.container(name));
      const { id: digest, sizeBytes } = image;
      const note = () => cache.noteContainer({ digest, names: [name], sizeBytes }, holder);
      await whenThereIsRoom(name, note, signal).catch(async (error: Error) => {
        await cache.dropContainer(digest);
        signal.throwIfAborted();
        throw new ImageStoreFullError(error.message);
      });
      return image;
    },
    list: async (signal) => {
      if (registry === null) throw new Error("no registry is configured on this node (--registry)");
      return registry.list(signal);
    },
    async find(name, signal) {
      const image = await resolve(name, signal);
      const held = cache.status().images.find(({ digest }) => digest === image.digest);
      // Only a cached image can list its views when the index does not.
      if (held === undefined || image.views.length > 0) return image;
      const holder = `inspect ${name}`;
      try {
        const { meta } = await cache.acquire(image, holder, signal);
        return { ...image, mount: image.mount || meta.mount, views: [...meta.views.keys()] };
      } finally {
        cache.release(holder);
      }
    },
  };
}

function fromCache(cache: ImageCache, name: string): RegistryImage | null {
  const here = cache.known(name);
  if (here === null) return null;
  const { digest, sizeBytes, signature, names } = here;
  const read = async (): Promise<never> => {
    throw new Error("the image was evicted, and the registry cannot be asked");
  };
  return { name: names.at(-1) ?? name, digest, sizeBytes, signature, mount: "", views: [], description: "", read };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
