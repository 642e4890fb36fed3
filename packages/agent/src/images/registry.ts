// Where images come from. A registry is a folder, an index over HTTP, or an OCI registry; all three
// answer the same two questions: what is there, and what does this name mean now. A name resolves to a
// digest, and from then on only the digest counts.

export interface ImageInfo {
  /** "prgenv-gnu/24.11:v1" */
  readonly name: string;
  /** "sha256:..." */
  readonly digest: string;
  readonly sizeBytes: number;
  /** Empty: the image itself says, or the default. */
  readonly mount: string;
  readonly views: readonly string[];
  readonly description: string;
  /** Detached, base64, over the text of the digest. Null: not signed. */
  readonly signature: string | null;
}

export interface RegistryImage extends ImageInfo {
  read(signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

export interface Registry {
  /** For messages. */
  readonly where: string;
  list(signal: AbortSignal): Promise<readonly RegistryImage[]>;
  /** Null: there is no such image. Throws when the registry cannot be asked. */
  find(name: string, signal: AbortSignal): Promise<RegistryImage | null>;
}

/** The image of that name; without a tag the only one there is. Throws when several could be meant. */
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
