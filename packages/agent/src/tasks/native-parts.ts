// Compiled parts of the agent: built with it where there was a compiler, and its sources otherwise. What ranks load or run is
// kept in the data folder under a name of its content: a new agent never replaces what runs.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { copyFile, mkdir, rename } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Beside the bundled agent; from sources it is what the last build made. Null: none was made. */
export function builtBeside(name: string): string | null {
  const here = dirname(fileURLToPath(import.meta.url));
  return [join(here, name), join(here, "..", "..", "dist", name)].find((path) => existsSync(path)) ?? null;
}

/** Beside the bundle as in the sources. */
export function nativeSource(folder: string, name: string): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const beside = join(here, "..", "native", folder, name);
  return existsSync(beside) ? beside : join(here, "..", "..", "native", folder, name);
}

/** Seen in containers as well. */
export const librariesFolder = (dataDir: string): string => join(dataDir, "libraries");

export async function keptIn(dataDir: string, built: string): Promise<string> {
  const digest = createHash("sha256").update(readFileSync(built)).digest("hex").slice(0, 8);
  const folder = librariesFolder(dataDir);
  const ending = extname(built);
  const kept = join(folder, `${basename(built, ending)}-${digest}${ending}`);
  if (existsSync(kept)) return kept;
  await mkdir(folder, { recursive: true, mode: 0o755 });
  await copyFile(built, `${kept}.${process.pid}`);
  await rename(`${kept}.${process.pid}`, kept);
  return kept;
}
