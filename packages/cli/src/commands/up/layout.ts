// The paths of a local cluster: its programs and its data directory.

import { chmodSync, existsSync, mkdtempSync, realpathSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ProblemError } from "@lattice/wire";
import { makeDirectories } from "./make-directories.ts";

export interface DataDirLayout {
  /** Without symbolic links, so that a directory has exactly one name. */
  readonly dataDir: string;
  /** Removed when the cluster stops. */
  readonly temporary: boolean;
  readonly serverDir: string;
  readonly logsDir: string;
  /** Output and checkpoints of allocations, shared by all nodes. */
  readonly outputDir: string;
  readonly clusterFile: string;
  /** Defaults of the next `up`. */
  readonly settingsFile: string;
  nodeDir(node: string): string;
}

export function prepareLayout(given: string | undefined): DataDirLayout {
  const temporary = given === undefined;
  const dataDir = createDataDir(temporary ? mkdtempSync(join(tmpdir(), "lattice-")) : resolve(given));
  return {
    dataDir,
    temporary,
    serverDir: join(dataDir, "server"),
    logsDir: join(dataDir, "logs"),
    outputDir: join(dataDir, "output"),
    clusterFile: clusterFileIn(dataDir),
    settingsFile: join(dataDir, "settings.json"),
    nodeDir: (node) => join(dataDir, "nodes", node),
  };
}

/** Jobs of other users reach their folders below `nodes`, and no other file of a cluster of root. */
function openToUsers(dataDir: string): void {
  for (const name of ["server", "logs"]) chmodSync(join(dataDir, name), 0o700);
  for (const path of [dataDir, join(dataDir, "nodes")]) chmodSync(path, (statSync(path).mode & 0o7777) | 0o011);
}

export const clusterFileIn = (dataDir: string): string => join(dataDir, "cluster.json");

function createDataDir(dataDir: string): string {
  try {
    for (const name of ["server", "logs", "nodes"]) makeDirectories(join(dataDir, name));
    if (process.getuid?.() === 0) openToUsers(dataDir);
    return realpathSync(dataDir);
  } catch (error) {
    throw new ProblemError("invalid_argument", {
      detail: `the data directory ${dataDir} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      hint: "Choose a directory that you may write to with --data-dir.",
    });
  }
}

/** Finds a built program relative to this bundle: packages/cli/dist/lattice.js, packages/server/dist/... */
export function programPath(name: "lattice-server" | "lattice-agent"): string {
  const folder = name === "lattice-server" ? "server" : "agent";
  const path = fileURLToPath(new URL(`../../${folder}/dist/${name}.js`, import.meta.url));
  if (existsSync(path)) return path;
  throw new ProblemError("internal", {
    detail: `${name} is not built: ${path} is missing`,
    hint: "Run: npm run build",
  });
}

export const nodeNames = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `node-${i + 1}`);

/** Two nodes per group, so that topology is visible in the smallest cluster. */
export const groupOf = (position: number): string => `group-${Math.floor(position / 2)}`;
