// Decides which destinations a caller may name. Through the API a backup may only be written to, or read from, the
// configured destination, the default directory, or a path below one of them: a server must not give access to the
// rest of its disk or of an object store.

import { realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { parseS3 } from "@lattice/wire";
import type { BackupConfig } from "../../base/config/index.ts";
import { BackupError } from "./format/backup-error.ts";
import { timeOfName } from "./format/format.ts";
import type { BackupStore } from "./format/store.ts";
import { directoryStore } from "./stores/directory.ts";
import { formatS3, s3Store } from "./stores/s3.ts";

/** A destination that is not allowed, or an invalid name. */
export class PlaceError extends Error {}

export interface Named {
  readonly store: BackupStore;
  readonly name: string;
}

/** Returns the destination of new backups and of lists; an empty text means the configured one. */
export async function allowedPlace(text: string, config: BackupConfig): Promise<BackupStore> {
  if (text === "" || text === config.destination) return openStore(config.destination, config);
  if (!(await isAllowed(text, config))) throw notAllowed(text, config);
  return openStore(text, config);
}

/** Resolves one backup: a path, an address in the object store, or its name alone. */
export async function allowedBackup(text: string, config: BackupConfig): Promise<Named> {
  const { place, name } = split(text, config);
  return { store: await allowedPlace(place, config), name };
}

/** Resolves any destination: for the command line, where the caller can read the disk anyway. */
export function anyBackup(text: string, config: BackupConfig): { readonly store: BackupStore; readonly name: string } {
  const s3 = parseS3(text);
  if (s3 === null) return { store: directoryStore(dirname(resolve(text))), name: basename(text) };
  const cut = s3.prefix.lastIndexOf("/");
  const prefix = cut < 0 ? "" : s3.prefix.slice(0, cut);
  return { store: openStore(formatS3({ ...s3, prefix }), config), name: s3.prefix.slice(cut + 1) };
}

export function openStore(place: string, config: BackupConfig): BackupStore {
  const s3 = parseS3(place);
  if (s3 === null) return directoryStore(resolve(place));
  if (config.s3 !== null) return s3Store(s3, config.s3, join(config.defaultDir, ".being-written"));
  throw new BackupError("unavailable", `${place} needs credentials: set them under backup.s3 or in the environment`);
}

function split(text: string, config: BackupConfig): { readonly place: string; readonly name: string } {
  const cut = text.lastIndexOf("/");
  const name = text.slice(cut + 1);
  if (timeOfName(name) === null) {
    throw new PlaceError(
      `${JSON.stringify(text.slice(0, 200))} does not end in a name like backup-20260305T120000Z.tar.gz`,
    );
  }
  return { place: cut < 0 ? config.destination : text.slice(0, cut), name };
}

async function isAllowed(text: string, config: BackupConfig): Promise<boolean> {
  const roots = [config.destination, config.defaultDir];
  const requested = parseS3(text);
  if (requested !== null) return roots.some((root) => isBelowS3(formatS3(requested), root));
  if (!isAbsolute(text)) return false;
  const real = await realPathOf(resolve(text));
  const folders = await Promise.all(roots.filter((root) => parseS3(root) === null).map(realPathOf));
  return folders.some((folder) => isBelow(real, folder));
}

const isBelowS3 = (place: string, root: string): boolean => place === root || place.startsWith(`${root}/`);

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (!way.startsWith("..") && !isAbsolute(way));
}

/** Resolves all links of a path; a part that does not exist yet is kept as written. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(await realPathOf(above), basename(path));
  }
}

const notAllowed = (text: string, config: BackupConfig): PlaceError =>
  new PlaceError(
    `${JSON.stringify(text.slice(0, 200))} is not a place for backups here; allowed are ${[
      ...new Set([config.destination, config.defaultDir]),
    ].join(" and ")} and what is below`,
  );
