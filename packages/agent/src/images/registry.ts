// The interface of image registries: a directory, an index over HTTP, or an OCI registry. All list their images and
// resolve names. A name resolves to a digest; from then on only the digest counts.

export interface ImageInfo {
  /** "prgenv-gnu/24.11:v1" */
  readonly name: string;
  /** "sha256:..." */
  readonly digest: string;
  readonly sizeBytes: number;
  /** Empty when the image itself, or the default, decides. */
  readonly mount: string;
  readonly views: readonly string[];
  readonly description: string;
  /** Detached, base64, over the text of the digest; `null` when the image is not signed. */
  readonly signature: string | null;
}

export interface RegistryImage extends ImageInfo {
  read(signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

export interface ImageRegistry {
  /** For messages. */
  readonly where: string;
  list(signal: AbortSignal): Promise<readonly RegistryImage[]>;
  /** Returns null when there is no such image. Throws when the registry is unreachable. */
  find(name: string, signal: AbortSignal): Promise<RegistryImage | null>;
}

/** Returns the image of that name; without a tag, the only match. Throws when several match. */
export function findByName<T extends ImageInfo>(images: readonly T[], asked: string): T | null {
  const [name = "", digest] = asked.split("@");
  const named = images.filter((image) => image.name === name || image.name.startsWith(`${name}:`));
  const exact = named.filter((image) => image.name === name);
  const candidates = exact.length > 0 ? exact : named;
  if (digest !== undefined) {
    const found = candidates.find((image) => image.digest === digest);
    if (found === undefined && candidates.length > 0) {
      throw new Error(`wrong digest: ${name} is ${candidates[0]?.digest}, not ${digest}`);
    }
    return found ?? null;
  }
  if (candidates.length > 1) {
    throw new Error(`${asked} could be ${candidates.map((image) => image.name).join(" or ")}: name the tag`);
  }
  return candidates[0] ?? null;
}
