// Where the programs of a local cluster are, and where its files go.

import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ProblemError } from "@lattice/wire";

export interface Layout {
  readonly dataDir: string;
  /** Removed when the cluster stops. */
  readonly temporary: boolean;
  readonly serverDir: string;
  readonly logsDir: string;
  readonly clusterFile: string;
  nodeDir(node: string): string;
}

export function prepareLayout(given: string | undefined): Layout {
  const temporary = given === undefined;
  const dataDir = temporary ? mkdtempSync(join(tmpdir(), "lattice-")) : resolve(given);
  const layout: Layout = {
    dataDir,
    temporary,
    serverDir: join(dataDir, "server"),
    logsDir: join(dataDir, "logs"),
    clusterFile: join(dataDir, "cluster.json"),
    nodeDir: (node) => join(dataDir, "nodes", node),
  };
  try {
    for (const dir of [layout.serverDir, layout.logsDir]) mkdirSync(dir, { recursive: true });
  } catch (error) {
    throw new ProblemError("invalid_argument", {
      detail: `the data directory ${dataDir} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      hint: "Choose a directory that you may write to with --data-dir.",
    });
  }
  return layout;
}

/** The built programs lie beside ours: packages/cli/dist/lattice.js, packages/server/dist/... */
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
