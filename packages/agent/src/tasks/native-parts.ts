// Compiled parts of the agent: built with it where there was a compiler, else compiled from source. Files that ranks
// load or run are kept in the data folder under a name made from their content: a new agent never replaces a file in
// use.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { copyFile, rename } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeOwnFolder, setOwnMode } from "../files/own-tree.ts";

/** Found at the same relative path from the bundle and from the sources. */
export function nativeSource(folder: string, name: string): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const beside = join(here, "..", "native", folder, name);
  return existsSync(beside) ? beside : join(here, "..", "..", "native", folder, name);
}

/** Seen in containers as well. */
export const librariesFolder = (dataDir: string): string => join(dataDir, "libraries");

/** The users of jobs run and load what is there, however private the agent's own files are. */
export async function openFolder(dataDir: string): Promise<string> {
  const folder = librariesFolder(dataDir);
  await makeOwnFolder(folder, 0o755);
  // A folder created by another user keeps its mode.
  await setOwnMode(folder, FOR_ALL).catch(() => undefined);
  return folder;
}

/** Moves a complete file to its final name. */
export async function settle(made: string, name: string): Promise<string> {
  await setOwnMode(made, FOR_ALL);
  await rename(made, name);
  return name;
}

const FOR_ALL = 0o755;

export async function keptIn(dataDir: string, built: string): Promise<string> {
  const digest = createHash("sha256").update(readFileSync(built)).digest("hex").slice(0, 8);
  const folder = await openFolder(dataDir);
  const ending = extname(built);
  const kept = join(folder, `${basename(built, ending)}-${digest}${ending}`);
  if (existsSync(kept)) return kept;
  const made = `${kept}.${process.pid}`;
  await copyFile(built, made);
  return settle(made, kept);
}
