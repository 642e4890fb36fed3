// The hand-written files of this repository. Derived directories (installed packages, bundles, generated wire code) are
// excluded here and nowhere else; the tidy tests have no list of exceptions.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

export interface Source {
  /** Path from the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

const DERIVED_FOLDERS = new Set(["node_modules", "dist", "gen", ".git", "coverage", ".cache", ".lattice"]);
const CODE = /\.(ts|mjs|js|tsx)$/;
const FOREIGN = /\.(py|c|h)$/;
const PROSE = /\.(md|proto|yaml|yml|json|sh)$/;

export const allFiles: readonly string[] = walk(root)
  .map((path) => relative(root, path).split("\\").join("/"))
  .filter((path) => path !== "package-lock.json")
  .sort((a, b) => (a < b ? -1 : 1));

export const code: readonly Source[] = allFiles.filter((path) => CODE.test(path)).map(read);
export const prose: readonly Source[] = allFiles.filter((path) => PROSE.test(path)).map(read);
/** Code in other languages. */
export const foreign: readonly Source[] = allFiles.filter((path) => FOREIGN.test(path)).map(read);
export const markdown: readonly Source[] = prose.filter(({ path }) => path.endsWith(".md"));

export const inPackages = code.filter(({ path }) => /^packages\/[^/]+\/src\//.test(path));
/** Packages without clock, randomness, input and output. */
export const pure = inPackages.filter(({ path }) => /^packages\/(core|scheduler)\//.test(path));

/** The generated half of the SDK, which imports from the hand-written one. */
export const generatedSdk: readonly Source[] = readdirSync(join(root, "packages/sdk/gen"))
  .filter((name) => CODE.test(name))
  .map((name) => read(`packages/sdk/gen/${name}`));

export const packageOf = (path: string): string | null => /^packages\/([^/]+)\//.exec(path)?.[1] ?? null;

export function read(path: string): Source {
  return { path, text: readFileSync(join(root, path), "utf8") };
}

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return DERIVED_FOLDERS.has(entry.name) ? [] : walk(path);
    return entry.isFile() ? [path] : [];
  });
}
