// The images of a node from one hand: the registry says what a name means, trust says whether it may be
// used, the cache holds it. A full cache is waited for a little, since what is in the way may end. When
// the registry cannot be asked, what the cache knows under that name serves.

import type { Logger } from "pino";
import { CacheFullError, type Held, type ImageCache } from "./cache.ts";
import type { ImageInfo, Registry, RegistryImage } from "./registry.ts";
import { signatureProblem, type Trust } from "./signature.ts";

export interface ImagesOptions {
  readonly registry: Registry | null;
  readonly cache: ImageCache;
  readonly trust: Trust;
  /** Pauses before a full cache is tried again; then it is full. */
  readonly fullPausesMs: readonly number[];
  readonly log: Logger;
}

export interface Images {
  readonly cache: ImageCache;
  /** The site's policy: what has no good signature is refused, whoever asks. */
  readonly signedOnly: boolean;
  acquire(
    name: string,
    how: { readonly holder: string; readonly signRequired: boolean },
    signal: AbortSignal,
  ): Promise<Held>;
  list(signal: AbortSignal): Promise<readonly ImageInfo[]>;
  find(name: string, signal: AbortSignal): Promise<ImageInfo | null>;
}

/** Five minutes in all, as the cache of a busy node changes. */
export const FULL_PAUSES_MS = [20_000, 80_000, 200_000];

export function createImages({ registry, cache, trust, fullPausesMs, log }: ImagesOptions): Images {
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
      log.warn({ image: name, error: error.message }, "the registry cannot be asked; using the cached image");
      return here;
    });
    if (found === null) throw new Error(`image not found in the registry ${registry.where}`);
    return found;
  }

  return {
    cache,
    signedOnly: trust.required,
    async acquire(name, { holder, signRequired }, signal) {
      const image = await resolve(name, signal);
      const problem = signatureProblem(image, trust, signRequired);
      if (problem !== null) throw new Error(problem);
      for (const pauseMs of fullPausesMs) {
        const held = await cache.acquire(image, holder, signal).catch((error: Error) => {
          if (!(error instanceof CacheFullError)) throw error;
          return null;
        });
        if (held !== null) return held;
        log.warn({ image: name, pause_ms: pauseMs }, "the image cache is full; waiting");
        await pause(pauseMs, signal);
      }
      return cache.acquire(image, holder, signal);
    },
    list: async (signal) => {
      if (registry === null) throw new Error("no registry is configured on this node (--registry)");
      return registry.list(signal);
    },
    async find(name, signal) {
      const image = await resolve(name, signal);
      const held = cache.status().images.find(({ digest }) => digest === image.digest);
      // Only an image that is here can tell about its views, where the index does not.
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
