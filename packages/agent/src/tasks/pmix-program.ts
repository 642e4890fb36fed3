// The program that serves PMIx to the ranks of one launch: our own C, built with the agent where libpmix was there, and
// else on the node the first time it is needed, where there is a compiler and libpmix with its headers. What is missing is
// said; nothing is pretended.

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { builtBeside, keptIn, nativeSource, openFolder, settle } from "./native-parts.ts";

export interface PmixMeans {
  /** Why there is no PMIx here; null: it can be had. */
  readonly missing: string | null;
  /** The path of the program. Rejects with what the compiler said. */
  build(): Promise<string>;
}

export function findPmix(
  dataDir: string,
  path: string = process.env.PATH ?? "",
  built: string | null = builtBeside(PROGRAM),
): PmixMeans {
  if (built !== null && isUsable(built)) return { missing: null, build: () => keptIn(dataDir, built) };
  const source = nativeSource("pmix", SOURCE);
  const library = findLibrary();
  const compiler = ["cc", "gcc"].find((name) => path.split(delimiter).some((folder) => mayRun(join(folder, name))));
  const missing = whatIsMissing(source, library, compiler);
  let made: Promise<string> | null = null;
  return {
    missing,
    build() {
      if (missing !== null || library === null || compiler === undefined)
        return Promise.reject(new Error(missing ?? ""));
      made ??= compile({ source, library, compiler, dataDir }).catch((error: Error) => {
        made = null;
        throw error;
      });
      return made;
    },
  };
}

const PROGRAM = "lattice-pmix";
/** What it says to those who give it nothing to do; one whose library is missing does not come so far. */
const NOTHING_TO_DO = 2;
const TRY_TIMEOUT_MS = 2_000;

const isUsable = (program: string): boolean =>
  spawnSync(program, [], { stdio: "ignore", timeout: TRY_TIMEOUT_MS }).status === NOTHING_TO_DO;

function whatIsMissing(source: string, library: Library | null, compiler: string | undefined): string | null {
  if (!existsSync(source)) return "the source of its server was not installed";
  if (library === null) return "libpmix with its headers is not installed (libpmix-dev)";
  return compiler === undefined ? "there is no C compiler" : null;
}

interface Library {
  readonly headers: string;
  readonly folder: string;
}

/** Where distributions and sites put it. */
function findLibrary(): Library | null {
  const triplets = list("/usr/lib").map((name) => join("/usr/lib", name));
  const roots = [...triplets.map((folder) => join(folder, "pmix2")), "/usr", "/usr/local", "/opt/pmix"];
  for (const root of roots) {
    const headers = join(root, "include");
    if (!existsSync(join(headers, "pmix_server.h"))) continue;
    const folders = [join(root, "lib"), join(root, "lib64"), ...triplets];
    const folder = folders.find((each) => existsSync(join(each, "libpmix.so")));
    if (folder !== undefined) return { headers, folder };
  }
  return null;
}

const SOURCE = "lattice-pmix.c";
const SOURCES = [SOURCE, "lattice-pmix-names.c"];
const HEADER = "lattice-pmix.h";
const COMPILE_TIMEOUT_MS = 60_000;

interface Build {
  readonly source: string;
  readonly library: Library;
  readonly compiler: string;
  readonly dataDir: string;
}

/** Named after what it is made of: another version never replaces one that runs. */
async function compile({ source, library, compiler, dataDir }: Build): Promise<string> {
  const native = dirname(source);
  const hash = createHash("sha256").update(library.folder);
  for (const file of [...SOURCES, HEADER]) hash.update(readFileSync(join(native, file)));
  const digest = hash.digest("hex").slice(0, 8);
  const folder = await openFolder(dataDir);
  const program = join(folder, `lattice-pmix-${digest}`);
  if (existsSync(program)) return program;
  const made = `${program}.${process.pid}`;
  const headers = ["-I", library.headers, "-I", join(library.headers, "pmix")];
  const libraries = ["-L", library.folder, `-Wl,-rpath,${library.folder}`, "-lpmix", "-lpthread"];
  const problem = await run(compiler, [
    ...["-O2", "-o", made, ...SOURCES.map((file) => join(native, file))],
    ...[...headers, ...libraries],
  ]);
  if (problem !== null) {
    await rm(made, { force: true });
    throw new Error(problem);
  }
  return settle(made, program);
}

/** Null: all is well. */
function run(program: string, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], timeout: COMPILE_TIMEOUT_MS });
    let said = "";
    child.stderr.on("data", (bytes: Buffer) => {
      said += bytes.toString();
    });
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code) =>
      resolve(code === 0 ? null : (said.split("\n")[0] ?? `the compiler ended with ${code}`)),
    );
  });
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function mayRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
