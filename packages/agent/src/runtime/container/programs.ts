// The programs of Lattice inside containers, so that `srun` and `lattice` work with any image: Node, the built
// programs, and their loader and libraries, since an image may have others or none. Libraries and start scripts are
// assembled once, for the first container; the rest is bind-mounted.

import { existsSync, realpathSync } from "node:fs";
import { copyFile, realpath, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { HELPER_PATH } from "../../base/executable.ts";
import { execFile } from "../../base/programs.ts";
import { makeOwnFolder, removeOwn } from "../../files/own-tree.ts";

interface Bound {
  readonly from: string;
  readonly to: string;
}

/** Their path inside the container. */
export const PROGRAMS = "/opt/lattice";
export const PROGRAMS_PATH = `${PROGRAMS}/bin`;

interface ProgramSources {
  /** Directory of the assembled files. */
  readonly folder: string;
  /** Folder of `lattice`; "" when it is not installed. */
  readonly installed: string;
  readonly node: string;
}

/** Returns no binds when the programs are unavailable; containers then run without them. */
export function containerPrograms(sources: ProgramSources): () => Promise<readonly Bound[]> {
  let made: Promise<readonly Bound[]> | null = null;
  return () => {
    made ??= putTogether(sources).catch(() => {
      // Retried for the next container.
      made = null;
      return [];
    });
    return made;
  };
}

async function putTogether({ folder, installed, node }: ProgramSources): Promise<readonly Bound[]> {
  if (installed === "" || !existsSync(join(installed, "lattice"))) return [];
  const dist = join(dirname(realpathSync(join(installed, "lattice"))), "..", "dist");
  const small = join(dist, "lattice-launch");
  const hasSmall = existsSync(small);
  const program = await realpath(node);
  const libraries = await librariesOf([program, ...(hasSmall ? [small] : [])]);
  const loader = libraries.find((path) => basename(path).startsWith("ld-"));
  if (loader === undefined) return [];
  const partial = `${folder}.${process.pid}`;
  await removeOwn(partial);
  for (const name of ["bin", "lib", "cli"]) await makeOwnFolder(join(partial, name), 0o755);
  for (const path of libraries) await copyFile(path, join(partial, "lib", basename(path)));
  // The target of a bind mount.
  await writeFile(join(partial, "node"), "");
  for (const [name, text] of Object.entries(scripts(basename(loader), hasSmall)))
    await writeFile(join(partial, "bin", name), text, { mode: 0o755 });
  await removeOwn(folder);
  await rename(partial, folder);
  return [
    { from: folder, to: PROGRAMS },
    { from: program, to: `${PROGRAMS}/node` },
    { from: dist, to: `${PROGRAMS}/cli` },
  ];
}

/** TLS libraries are loaded by name at run time, so no program lists them. */
const TLS = ["libssl.so.3", "libcrypto.so.3"];

async function librariesOf(programs: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const program of programs) {
    const listing = await run("/usr/bin/ldd", [program]);
    for (const [, path = ""] of listing.matchAll(/(\/\S+) \(0x/g)) found.add(path);
  }
  const [first] = [...found].filter((path) => basename(path) === "libc.so.6");
  for (const name of TLS)
    if (first !== undefined && existsSync(join(dirname(first), name))) found.add(join(dirname(first), name));
  return [...found];
}

function scripts(loader: string, hasSmall: boolean): Record<string, string> {
  const start = `exec ${PROGRAMS}/lib/${loader} --library-path ${PROGRAMS}/lib`;
  const node = `${start} ${PROGRAMS}/node`;
  const whole = (file: string, word = ""): string => `${node} ${PROGRAMS}/cli/${file} ${word}"$@"`;
  const small = (file: string, word = ""): string => {
    if (!hasSmall) return whole(file, word);
    const called = `${start} ${PROGRAMS}/cli/lattice-launch ${PROGRAMS}/cli/${file} ${word}"$@"`;
    return `export LATTICE_LAUNCH_NODE=${PROGRAMS_PATH}/lattice-node\n${called}`;
  };
  const script = (...lines: readonly string[]): string => ["#!/bin/sh", ...lines, ""].join("\n");
  return {
    "lattice-node": script(`${node} "$@"`),
    lattice: script(`if [ "$1" = launch ]; then\n${small("lattice.js")}\nfi`, whole("lattice.js")),
    srun: script(small("lattice-slurm.js", "srun ")),
    "lattice-mpi-launcher": script(whole("lattice-mpi-launcher.js")),
  };
}

const DEADLINE_MS = 20_000;

function run(program: string, words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, [...words], { timeout: DEADLINE_MS, env: { PATH: HELPER_PATH } }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
  });
}
