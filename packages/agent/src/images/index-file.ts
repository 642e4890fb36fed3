// The index of a registry in a folder or over HTTP: `index.json`, a list of images with their files. A malformed index
// is refused as a whole: half of it would hide images.

import type { ImageInfo } from "./registry.ts";

interface IndexedImage extends ImageInfo {
  /** Relative to the index. */
  readonly file: string;
}

/** Larger indexes are a mistake, or an attack. */
export const MAX_INDEX_BYTES = 64 * 1024 * 1024;

const DIGEST = /^sha256:[0-9a-f]{64}$/;

export function parseIndex(text: string): readonly IndexedImage[] {
  const value: unknown = JSON.parse(text);
  const images = isObject(value) ? value.images : undefined;
  if (!Array.isArray(images)) throw new Error("the index has no list of images");
  return images.map((entry: unknown, i) => parseEntry(entry, i));
}

function parseEntry(entry: unknown, i: number): IndexedImage {
  if (!isObject(entry)) throw new Error(`images[${i}] of the index is not an object`);
  const name = textOf(entry.name);
  const digest = textOf(entry.digest);
  const file = textOf(entry.file);
  if (name === "" || !DIGEST.test(digest)) throw new Error(`images[${i}] of the index has no name or no digest`);
  if (file === "" || file.startsWith("/") || file.split("/").includes("..")) {
    throw new Error(`images[${i}] of the index has no file inside the registry`);
  }
  const signature = textOf(entry.signature);
  return {
    name,
    digest,
    file,
    sizeBytes: typeof entry.size === "number" ? entry.size : 0,
    mount: textOf(entry.mount),
    views: Array.isArray(entry.views) ? entry.views.filter((view) => typeof view === "string") : [],
    description: textOf(entry.description),
    signature: signature === "" ? null : signature,
  };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
