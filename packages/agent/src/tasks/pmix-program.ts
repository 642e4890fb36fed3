// The program that serves PMIx to the ranks of one launch: C code, built with the agent where libpmix was installed,
// else on the node at first use, with a compiler and the headers of libpmix. The capability is listed only where it
// works.

import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { builtBeside } from "../base/built-beside.ts";
import { HELPER_ENVIRONMENT, spawn, spawnSync } from "../base/programs.ts";
import { removeOwn } from "../files/own-tree.ts";
import { keptIn, nativeSource, openFolder, settle } from "./native-parts.ts";

export interface PmixMeans {
  /** Why PMIx is unavailable here; `null` when it is available. */
  readonly missing: string | null;
  /** Resolves to the path of the program. Rejects with the compiler's message. */
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
/** Its exit code without arguments; without its library it does not start at all. */
const NOTHING_TO_DO = 2;
const TRY_TIMEOUT_MS = 2_000;

const isUsable = (program: string): boolean =>
  spawnSync(program, [], { stdio: "ignore", timeout: TRY_TIMEOUT_MS, env: HELPER_ENVIRONMENT }).status ===
  NOTHING_TO_DO;

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

/** Named after its content: another version never replaces one in use. */
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
    await removeOwn(made);
    throw new Error(problem);
  }
  return settle(made, program);
}

/** Resolves to null on success, else to the error. */
function run(program: string, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "ignore", "pipe"],
      timeout: COMPILE_TIMEOUT_MS,
      env: HELPER_ENVIRONMENT,
    });
    let errorText = "";
    child.stderr?.on("data", (bytes: Buffer) => {
      errorText += bytes.toString();
    });
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code) =>
      resolve(code === 0 ? null : (errorText.split("\n")[0] ?? `the compiler ended with ${code}`)),
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
